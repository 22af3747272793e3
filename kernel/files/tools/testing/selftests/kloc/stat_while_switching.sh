#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Policies can be switched while records of pages are read and files are used, without a use after
# free.

. ./_kloc.sh

kloc_begin 3

mark="kloc selftest $$"

# Test whether the kernel has logged no error since this test began.
no_error() {
	! dmesg | sed "1,/$mark/d" | grep -E 'BUG: |Oops: |KASAN: |WARNING: '
}

tiering_clean() {
	kill $readers 2>/dev/null
}

echo "<7>$mark" >/dev/kmsg
echo "<7>KASAN: control of $mark" >/dev/kmsg
tiering_control "an error is found" no_error

mark="$mark, in earnest"
echo "<7>$mark" >/dev/kmsg
head -c 4096 /dev/zero >"$dir/used"
read_loop $tiering/page_bytes & readers="$readers $!"
read_loop $contexts & readers="$readers $!"
read_loop "$dir/used" & readers="$readers $!"
switches=0
while [ $switches -lt 40 ]; do
	tiering_select none
	tiering_select kloc
	switches=$((switches + 1))
done
tiering_check "the readers go on" kill -0 $readers
tiering_check "no error after $switches switches" no_error
tiering_end

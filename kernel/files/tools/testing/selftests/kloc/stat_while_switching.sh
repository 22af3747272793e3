#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Policies can be switched while records of pages are read and files are used, without a use after
# free.

. ./_kloc.sh

kloc_begin 3

tiering_clean() {
	kill $readers 2>/dev/null
}

tiering_log_begin "kloc selftest $$"
echo "<7>KASAN: control of $mark" >/dev/kmsg
tiering_control "an error is found" tiering_log_is_clean

tiering_log_begin "$mark, in earnest"
head -c 4096 /dev/zero >"$dir/used"
read_loop 4096 $tiering/page_bytes & readers="$readers $!"
read_loop 4096 $contexts & readers="$readers $!"
read_loop 4096 "$dir/used" & readers="$readers $!"
switches=0
while [ $switches -lt 40 ]; do
	tiering_select none
	tiering_select kloc
	switches=$((switches + 1))
done
tiering_check "the readers go on" kill -0 $readers
tiering_check "no error after $switches switches" tiering_log_is_clean
tiering_end

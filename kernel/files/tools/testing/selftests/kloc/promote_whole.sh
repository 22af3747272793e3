#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A context that is used again comes back as a whole, though one of its pages cannot be moved.

. ./_kloc.sh

kloc_begin 3

tiering_clean() {
	kill $holder 2>/dev/null
}

has_come() {
	[ "$(kloc_context "$dir/file" fast)" -ge 2000 ]
}

# It is used in several scans, in fast memory still.
head -c 8388608 /dev/zero >"$dir/file"
echo 0 >$tiering/rate_mbps
echo 100000 >$tiering/scan_us
for i in 1 2 3 4 5; do
	kloc_use "$dir/file"
	sleep 0.15
done

# The daemon sleeps for some seconds, so that the page is mlocked before anything comes.
sync
echo 60000000 >$tiering/scan_us
echo 1 >/proc/sys/vm/drop_caches
on_node "$slow" cat "$dir/file" >/dev/null
hold_page "$dir/file" >"$dir/holds" & holder=$!
tiering_wait 5 [ -s "$dir/holds" ]
tiering_control "it comes while the daemon sleeps" has_come
echo 100000 >$tiering/scan_us
tiering_check "all that can be moved comes at once" tiering_wait 5 has_come
tiering_note "$(kloc_context "$dir/file" fast) pages in fast memory"
tiering_control "the page that is mlocked comes" \
	[ "$(kloc_context "$dir/file" slow)" = 0 ]
tiering_end

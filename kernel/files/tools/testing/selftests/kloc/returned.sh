#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A promoted page is counted as moved back when it has moved, not when its move was tried.

. ./_kloc.sh

kloc_begin 5
tiering_group kloc-returned memory
limit=$groups/kloc-returned/memory.kloc.max

# As many as the buffer of a pipe can hold.
pages=256

tiering_clean() {
	[ -z "$holder" ] || kill "$holder"
	rm -f "$dir/file"
	tiering_wait 10 rmdir "$groups/kloc-returned"
}

returned() {
	tiering_stat file promoted_active_returned promoted_used_returned
}

have_come() { # are all pages in fast memory, after one more use?
	cat "$dir/file" >/dev/null
	[ "$(kloc_context "$dir/file" fast)" -ge $((pages - 8)) ]
}

have_failed() { # have moves of that many pages failed?
	[ $(($(tiering_stat file not_moved_failed) - tried)) -ge $((pages - 8)) ]
}

have_left() {
	[ "$(kloc_context "$dir/file" fast)" -le 8 ]
}

# A page that is used in four scans after its promotion does not count. The last scans are so long
# that the test ends before.
head -c $((pages * 4096)) /dev/zero >"$dir/file"
sync
echo 1 >/proc/sys/vm/drop_caches
tiering_in_group kloc-returned on_node "$slow" cat "$dir/file" >/dev/null
echo 1000000 >$tiering/scan_us
tiering_check "used pages are promoted" tiering_wait 20 have_come
echo 16000000 >$tiering/scan_us

# A limit has the daemon demote these pages and no others.
hold_refs "$dir/file" 0 $pages >"$dir/said" &
holder=$!
tiering_wait 10 grep -q held "$dir/said"
tried=$(tiering_stat file not_moved_failed)
returned=$(returned)
echo 0 >"$limit"
tiering_check "moves of held pages fail" tiering_wait 20 have_failed
tiering_control "held pages leave" have_left
new=$(($(returned) - returned))
tiering_check "pages that stay are not counted as moved back ($new pages)" [ $new -lt 32 ]

kill $holder
holder=
tiering_wait 20 have_left
new=$(($(returned) - returned))
tiering_check "pages that have moved back are ($new pages)" [ $new -ge $((pages - 32)) ]
tiering_end

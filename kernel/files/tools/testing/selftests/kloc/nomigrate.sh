#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Contexts age under the policy kloc-nomigrate as under kloc, though nothing moves.

. ./_kloc.sh

kloc_begin 3
tiering_select kloc-nomigrate || tiering_skip "needs CONFIG_TIERING_CONTROLS"
max=$tiering/node$fast/max_kb

tiering_clean() {
	echo max >"$max"
}

is_inactive() {
	! kloc_is_active "$dir/file"
}

have_moved() {
	[ "$(tiering_moved)" -gt "$moved" ]
}

head -c 1048576 /dev/zero >"$dir/file"
sync
moved=$(tiering_moved)
echo 100000 >$tiering/scan_us
echo 255 >$tiering/kloc/inactive_age
exec 3<"$dir/file"
tiering_control "a context that may be old becomes inactive" tiering_wait 2 is_inactive
echo 3 >$tiering/kloc/inactive_age
tiering_check "one that was not used for three scans does" tiering_wait 10 is_inactive
echo 4 >"$max"
tiering_control "pages move, because of a limit at least" tiering_wait 2 have_moved
tiering_end

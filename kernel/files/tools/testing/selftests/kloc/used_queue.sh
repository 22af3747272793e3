#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Nothing holds pages of slow memory that were used: right after heavy use all that are clean can be
# dropped.

. ./_kloc.sh

kloc_begin 3

cached() { # FILE: print how many of its pages are in memory
	kloc_context "$1" fast slow
}

head -c 8388608 /dev/zero >"$dir/file"
kloc_read_slow "$dir/file"
# An open file keeps its context.
exec 3<"$dir/file"
# The daemon does not check by itself, and more folios are queued than its budget allows.
echo 8000000 >$tiering/scan_us
echo 1 >$tiering/rate_mbps
sleep 1
pages=$(read_all "$dir/file" 2 1)
tiering_check "the file is in memory, and $pages of its pages were read" \
	[ "$(cached "$dir/file")" = 2048 ]
# A page that is just being moved cannot be dropped: try twice.
echo 1 >/proc/sys/vm/drop_caches
tiering_note "$(cached "$dir/file") pages are left"
sleep 0.2
echo 1 >/proc/sys/vm/drop_caches
left=$(cached "$dir/file")
tiering_check "all of it can be dropped ($left pages are left)" [ "$left" = 0 ]

head -c 8388608 /dev/zero >"$dir/dirty"
exec 4<"$dir/dirty"
echo 1 >/proc/sys/vm/drop_caches
left=$(cached "$dir/dirty")
tiering_control "pages that are dirty can be dropped ($left are left)" [ "$left" = 0 ]
tiering_end

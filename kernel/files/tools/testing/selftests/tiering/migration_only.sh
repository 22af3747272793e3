#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# migration-only demotes cold pages until fast memory has room, and keeps their contents.

. ./_tiering.sh

tiering_begin 5
tiering_save /proc/sys/vm/watermark_scale_factor

demoted() {
	tiering_stat file demoted_old
}

has_demoted() { # PAGES
	[ "$(demoted)" -ge "$1" ]
}

keep_free() { # SCALE: how much kswapd keeps free
	echo "$1" >/proc/sys/vm/watermark_scale_factor
}

# Fill fast memory with clean page cache.
fill() {
	tiering_drop_caches
	sum=$(md5sum <"$dir/cold")
}

tiering_drop_caches
head -c $(($(tiering_free "$fast") * 1024)) /dev/urandom >"$dir/cold"
echo 100000 >$tiering/scan_us

# Raise the watermark. Under naive, kswapd may evict pages.
keep_free 10
fill
before=$(tiering_moved)
tiering_select naive
keep_free 1000
sleep 1
tiering_control "naive moves nothing" [ "$(tiering_moved)" -gt "$before" ]

keep_free 10
fill
before=$(demoted)
files=$(tiering_files "$fast")
promoted=$(tiering_stat file promoted_active promoted_used)
tiering_select migration-only
keep_free 1000
tiering_check "cold pages are demoted" tiering_wait 20 has_demoted $((before + 2048))
left=$((files - $(tiering_files "$fast")))
tiering_check "there is less page cache in fast memory ($left KiB)" [ $left -ge 4096 ]
tiering_check "nothing is promoted" \
	[ "$(tiering_stat file promoted_active promoted_used)" = "$promoted" ]
tiering_check "the contents are as before" [ "$(md5sum <"$dir/cold")" = "$sum" ]
tiering_end

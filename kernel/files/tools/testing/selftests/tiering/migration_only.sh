#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# migration-only demotes what is cold until there is room in fast memory, and no byte of it
# changes.

. ./_tiering.sh

tiering_begin 5
tiering_save /proc/sys/vm/watermark_scale_factor

demoted() {
	tiering_stat file demoted_old
}

has_demoted() { # PAGES
	[ "$(demoted)" -ge "$1" ]
}

# Fill fast memory with page cache that is not dirty.
tiering_drop_caches
size=$(($(tiering_free "$fast") * 1024))
head -c $size /dev/urandom >"$dir/cold"
tiering_drop_caches
sum=$(md5sum <"$dir/cold")
echo 100000 >$tiering/scan_us

# More has to be free from now on.
before=$(tiering_moved)
tiering_select naive
echo 1000 >/proc/sys/vm/watermark_scale_factor
sleep 1
tiering_control "naive moves nothing" [ "$(tiering_moved)" -gt "$before" ]

before=$(demoted)
files=$(tiering_files "$fast")
promoted=$(tiering_stat file promoted_active promoted_used)
tiering_select migration-only
tiering_check "what is cold is demoted" tiering_wait 20 has_demoted $((before + 2048))
left=$((files - $(tiering_files "$fast")))
tiering_check "there is less page cache in fast memory ($left KiB)" [ $left -ge 4096 ]
tiering_check "nothing is promoted" \
	[ "$(tiering_stat file promoted_active promoted_used)" = "$promoted" ]
tiering_check "the contents are as before" [ "$(md5sum <"$dir/cold")" = "$sum" ]
tiering_end

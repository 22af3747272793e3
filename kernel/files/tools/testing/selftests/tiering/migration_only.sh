#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# migration-only demotes what is cold until there is room in fast memory, and no byte of it
# changes.

. ./_tiering.sh

tiering_begin 5

demoted() {
	tiering_stat file demoted_old
}

is_demoting() { # BEFORE
	[ "$(demoted)" -gt "$1" ]
}

# Fill fast memory with page cache that is not dirty.
tiering_drop_caches
size=$(($(tiering_free "$fast") * 1024))
head -c $size /dev/urandom >"$dir/cold"
tiering_drop_caches
sum=$(md5sum <"$dir/cold")
echo 100000 >$tiering/scan_us

tiering_select naive
before=$(tiering_moved)
tiering_control "naive moves nothing" tiering_wait 1 [ "$(tiering_moved)" -gt "$before" ]

before=$(demoted)
full=$(tiering_free "$fast")
tiering_select migration-only
tiering_check "what is cold is demoted" tiering_wait 10 is_demoting "$before"
sleep 1
tiering_check "there is room afterwards" [ "$(tiering_free "$fast")" -gt "$full" ]
tiering_note "free: $full KiB before, $(tiering_free "$fast") KiB after"
tiering_check "nothing is promoted" \
	[ "$(tiering_stat file promoted_active promoted_used)" = 0 ]
tiering_check "the contents are as before" [ "$(md5sum <"$dir/cold")" = "$sum" ]
tiering_end

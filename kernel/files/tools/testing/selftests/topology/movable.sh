#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Pages are demoted to ZONE_MOVABLE, and leave it again when its memory goes offline.

. ./_topology.sh

topology_begin 4 movable

movable_free() {
	topology_pages "$slow" Movable free
}

# The kernel tries for ever if a page is in use, and stops at a signal.
set_state() { # BLOCK STATE
	timeout 20 sh -c 'echo "$0" >"$1"' "$2" "$1/state" ||
		timeout 20 sh -c 'echo "$0" >"$1"' "$2" "$1/state" ||
		timeout 20 sh -c 'echo "$0" >"$1"' "$2" "$1/state"
}

# Take each block of ZONE_MOVABLE offline and online, one after another.
move_blocks() {
	local block state moved=0

	for block in $nodes/node"$slow"/memory[0-9]*; do
		grep -q Movable "$block/valid_zones" || continue
		set_state "$block" offline && set_state "$block" online_movable || return 1
		moved=$((moved + 1))
	done
	tiering_note "$moved blocks went offline and came back"
	[ $moved -gt 0 ]
}

topology_make_cold
sum=$(md5sum <"$dir/cold")
topology_cold naive
free=$(movable_free)
sleep 1
tiering_control "under naive, ZONE_MOVABLE gets pages" [ $((free - $(movable_free))) -ge 2048 ]
topology_cold migration-only
free=$(movable_free)
tiering_wait 20 topology_have_left 4096
tiering_check "pages are demoted to ZONE_MOVABLE" [ $((free - $(movable_free))) -ge 2048 ]
echo 10 >$scale
tiering_check "its memory goes offline and comes back" move_blocks
tiering_check "the contents are as before" [ "$(md5sum <"$dir/cold")" = "$sum" ]
tiering_end

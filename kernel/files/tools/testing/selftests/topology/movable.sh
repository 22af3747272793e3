#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Pages are demoted to ZONE_MOVABLE, and leave it again when its memory goes offline.

. ./_topology.sh

topology_begin 4 movable

movable_free() {
	topology_pages "$slow" Movable free
}

# Take each block of ZONE_MOVABLE offline and online, one after another.
move_blocks() {
	local block try moved=0

	for block in $nodes/node"$slow"/memory[0-9]*; do
		grep -q Movable "$block/valid_zones" || continue
		for try in 1 2 3; do
			tiering_set_block "$block" offline && break
		done
		# This fails if it is still online.
		tiering_set_block "$block" online_movable || return 1
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
# The kernel logs the pages that stayed.
tiering_note "$(dmesg | grep -A 4 'migrating pfn' | tail -n 5 | tr '\n' ';')"
tiering_check "the contents are as before" [ "$(md5sum <"$dir/cold")" = "$sum" ]
tiering_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Knodes are charged to the cgroup of the task that creates them.

. ./_kloc.sh

kloc_begin 2
tiering_group kloc-charged memory

tiering_clean() {
	rmdir "$groups/kloc-charged"
}

# memory.stat is up to date after two seconds.
slab() {
	sleep 2.5
	awk '$1 == "slab" { print $2 }' "$groups/kloc-charged/memory.stat"
}

# How much slab the cgroup has after it opened all files, which are in memory.
charged() {
	local before after

	before=$(slab)
	tiering_in_group kloc-charged sh -c 'for file in "$0"/*; do read -r _ <"$file"; done' \
		"$dir/files"
	after=$(slab)
	echo $((after - before))
}

# 3000 knodes of 64 bytes are 192,000 bytes.
mkdir "$dir/files"
(cd "$dir/files" && touch $(seq 3000))
charged >/dev/null
bytes=$(charged)
tiering_control "nothing is charged for knodes that exist ($bytes bytes)" [ "$bytes" -gt 100000 ]
tiering_select none
tiering_select kloc
bytes=$(charged)
tiering_check "3000 knodes are charged ($bytes bytes)" [ "$bytes" -gt 150000 ]
tiering_end

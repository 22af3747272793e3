#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# autotiering-cpm moves hot pages to free fast memory, that of another node if the nearest is full,
# and leaves pages where they are if all fast memory is full or a memory policy binds them.

. ./_tiering.sh

tiering_begin 5
tiering_scan_often

nodes=$(tiering_tier_of "$fast" | wc -w)

# run OPTION COLD: print how many of 2048 hot pages of slow memory stay there, with COLD MiB of cold
# memory in the fast node
run() {
	text=$(hints $1 "$fast" "$2" "$slow" 8 5)
	tiering_note "$text" >&2
	tiering_of hot_stay "$text"
}

come() { # OPTION COLD: do the hot pages come?
	[ "$(run "$1" "$2")" -lt 512 ]
}

stay() { # OPTION COLD: do the hot pages stay?
	[ "$(run "$1" "$2")" -gt 1536 ]
}

# More cold memory than is free in the node.
full() {
	tiering_drop_caches
	echo $(($(tiering_free "$fast") / 1024 + 8))
}

tiering_drop_caches
tiering_select autotiering-cpm
tiering_check "hot pages come to free fast memory" come "" 1
tiering_control "pages with a memory policy come, too" come bind 1
if [ "$nodes" -gt 1 ]; then
	tiering_check "they come to fast memory of another node" come "" "$(full)"
else
	tiering_check "they stay if fast memory is full" stay "" "$(full)"
fi
tiering_select naive
echo 0 >/proc/sys/kernel/numa_balancing
tiering_control "naive moves pages" come "" 1
tiering_select autotiering-cpm
tiering_control "they come without NUMA balancing" come "" 1
tiering_end

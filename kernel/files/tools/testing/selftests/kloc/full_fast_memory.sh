#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Files get contexts though fast memory is full: their knodes are elsewhere then.

. ./_kloc.sh

min=/proc/sys/vm/min_free_kbytes

kloc_begin 4
tiering_save $min

tiering_clean() {
	kloc_trace_end
	umount "$dir/tmpfs" 2>/dev/null
}

managed_kb() { # NODE, or nothing for all: memory that the kernel manages, KiB
	awk -v node="$1," '/^Node/ { this = $2 }
		$1 == "managed" && (node == "," || this == node) { sum += $2 * 4 }
		END { print sum }' /proc/zoneinfo
}

placed() {
	tiering_stat file placed_fast
}

make_files() { # PREFIX: make 300 files
	local i

	for i in $(seq 300); do
		echo "$i" >"$dir/files/$1$i"
	done
}

# Nothing can be demoted: the pages that fill fast memory are neither moved nor reclaimed.
tiering_select kloc-nomigrate
mkdir "$dir/files" "$dir/tmpfs"
mount -t tmpfs -o mpol=bind:"$fast",size=100% tmpfs "$dir/tmpfs" || tiering_skip "needs tmpfs"
tiering_drop_caches
head -c $((($(tiering_free "$fast") - 32768) * 1024)) /dev/zero >"$dir/tmpfs/filling"

placed=$(placed)
make_files room
tiering_note "with room, $(($(placed) - placed)) pages went to fast memory"

# The free memory is between the watermarks min and high. Page cache of an excluded kind is placed
# as without a policy: in slow memory now.
kinds=$(cat $kloc/kinds)
before=$(cat $scale)
echo "blockdev slab" >$kloc/kinds
scaled=$((13 * $(tiering_free "$fast") * 1000 / $(managed_kb "$fast")))
echo $((scaled > 3000 ? 3000 : scaled)) >$scale
tiering_control "a kind that takes no part fills fast memory" \
	tiering_grows "$fast" 4 dd if=/dev/zero of="$dir/excluded" bs=65536 count=128 2>/dev/null
rm "$dir/excluded"
echo "$before" >$scale
echo "$kinds" >$kloc/kinds

# From now on fast memory is below its watermark.
all=$(($(managed_kb) / 1024))
echo $((2 * $(tiering_free "$fast") * all / ($(managed_kb "$fast") / 1024))) >$min
placed=$(placed)
# Counted as they are made: kswapd may take them, with their inodes.
kloc_trace add_to_kmap
make_files full
made=$(kloc_traced 'add_to_kmap <-')
placed=$(($(placed) - placed))
tiering_control "pages go to fast memory ($placed of 300)" [ $placed -gt 20 ]
tiering_check "all 300 files get contexts ($made)" [ "$made" -ge 300 ]

# Accesses do not have kswapd look for room that there is none.
kloc_trace wakeup_kswapd
kloc_use "$dir"/files/full*
woken=$(kloc_traced 'wakeup_kswapd <-')
tiering_check "kswapd is not woken for contexts ($woken times)" [ "$woken" -lt 50 ]
tiering_end

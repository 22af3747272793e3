#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The map of contexts does not grow for good: a context that is left when others have gone does
# not keep a part of it for itself.

. ./_kloc.sh

slab=/sys/kernel/slab/radix_tree_node/objects

kloc_begin 3
[ -e $slab ] || tiering_skip "needs $slab"

tiering_clean() {
	umount "$dir/tmpfs" 2>/dev/null
}

nodes() {
	awk '{ print $1 }' $slab
}

# Make empty files, which have contexts and no other xarray; keep one in 64.
live() { # NAME
	mkdir "$dir/tmpfs/$1"
	(cd "$dir/tmpfs/$1" && touch $(seq 6400) && rm $(seq 6400 | awk 'NR % 64'))
}

mkdir "$dir/tmpfs"
mount -t tmpfs none "$dir/tmpfs" || tiering_skip "needs tmpfs"
live first
knodes=$(cat $kloc/knodes)
before=$(nodes)
for name in second third fourth fifth; do
	live $name
done
survivors=$(($(cat $kloc/knodes) - knodes))
grown=$(($(nodes) - before))
tiering_check "400 contexts are left ($survivors)" [ $survivors -ge 400 ]
tiering_check "the map grows by less than 200 nodes ($grown)" [ $grown -lt 200 ]

# For comparison, one xarray node each: files of two pages.
before=$(nodes)
for i in $(seq 300); do
	printf '%5000s' x >"$dir/tmpfs/first/large$i"
done
grown=$(($(nodes) - before))
tiering_control "a node for each goes unnoticed ($grown)" [ $grown -lt 200 ]
tiering_end

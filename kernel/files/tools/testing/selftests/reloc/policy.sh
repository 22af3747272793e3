#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Under the policy kloc, unused inodes, dentries and xarray nodes are demoted when fast memory is
# short, and promoted when they are used.

. ../kloc/_kloc.sh

reloc=/sys/kernel/debug/reloc

[ -e $reloc/pages ] || tiering_skip "needs CONFIG_RELOC_SLAB and debugfs"
grep -q '^ext4_inode_cache ' $reloc/pages ||
	tiering_skip "needs the kernel parameter reloc.caches=dentry,ext4_inode_cache"

inodes() { # NODE: print how many pages of inodes are there
	awk -v node="$1" '$1 == "ext4_inode_cache" && $2 == node { print $3 }' $reloc/pages
}

demoted_of() { # CACHE: print how many of its pages were ever demoted
	awk -v cache="$1" '$1 == cache { print $7 }' $reloc/caches
}

have_left() { # CACHE PAGES: have so many of its pages left?
	[ "$(demoted_of "$1")" -ge "$2" ]
}

make_files() {
	local i

	for i in $(seq 40); do
		# Two pages each: a file with one has no tree.
		kloc_files "tree/$i" 100 8
	done
	sync
}

list_files() {
	ls -lR "$dir/tree"
}

use_files() {
	list_files >/dev/null
	[ "$(tiering_stat slab promoted_used promoted_active)" -ge "$1" ]
}

are_inodes_slow() { # PAGES: are more than so many pages of inodes in slow memory?
	[ "$(inodes "$slow")" -gt "$1" ]
}

demoted() { # PAGES
	[ "$(tiering_stat slab demoted_unused demoted_inactive)" -ge "$1" ]
}

kloc_begin 7
make_files
before=$(list_files | cksum)
pages=$(inodes "$fast")
tiering_note "$pages pages of inodes in fast memory"

tiering_select kloc-cache-only
kloc_demote_all
moved=$(tiering_stat slab demoted_unused demoted_inactive)
tiering_control "slabs leave under kloc-cache-only" tiering_wait 2 demoted $((moved + 1))

echo "file blockdev" >$kloc/kinds
tiering_select kloc
kloc_demote_all
tiering_control "slabs leave without slab in kinds" tiering_wait 2 demoted $((moved + 1))

echo "file blockdev slab" >$kloc/kinds
tiering_check "unused slabs are demoted" tiering_wait 20 demoted $((moved + pages / 2))
tiering_check "most inodes are in slow memory" tiering_wait 20 are_inodes_slow $((pages / 2))
tiering_note "$(inodes "$fast") pages of inodes in fast memory, $(inodes "$slow") in slow memory"

tiering_check "nodes of trees have left" tiering_wait 20 have_left radix_tree_node 50
tiering_note "$(demoted_of radix_tree_node) pages of radix_tree_node have left"

# Fast memory has room again, and all files are looked at in each scan.
echo 10 >$scale
echo 2000000 >$tiering/scan_us
come=$(($(tiering_stat slab promoted_used promoted_active) + pages / 4))
tiering_check "used slabs are promoted" tiering_wait 4 use_files $come
tiering_check "files are as before" [ "$(list_files | cksum)" = "$before" ]
tiering_end

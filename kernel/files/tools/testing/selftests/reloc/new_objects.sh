#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Under the policy kloc, new inodes do not go to slabs that were moved to slow memory, though these
# have free objects.

. ../kloc/_kloc.sh

reloc=/sys/kernel/debug/reloc

[ -e $reloc/pages ] || tiering_skip "needs CONFIG_RELOC_SLAB and debugfs"
grep -q '^ext4_inode_cache ' $reloc/pages ||
	tiering_skip "needs the kernel parameter reloc.caches=dentry,ext4_inode_cache"

inodes() { # NODE: print how many pages of inodes are there
	awk -v node="$1" '$1 == "ext4_inode_cache" && $2 == node { print $3 }' $reloc/pages
}

# Then half of the objects of each slab are free, except in per-CPU slabs.
make_holes() {
	kloc_files holes 4000 1
	ls "$dir/holes" | awk -v dir="$dir/holes/" 'NR % 2 { print dir $0 }' | xargs rm
	sync
}

kloc_begin 4
tiering_select none
make_holes
before=$(inodes "$fast")
kloc_files first 200 1
tiering_control "new inodes take new pages while there are free objects" \
	[ "$(inodes "$fast")" -gt $((before + 16)) ]

# A page in use stays, and moves the next time.
all_slow() {
	echo "ext4_inode_cache $slow" >$reloc/move
	[ "$(inodes "$fast")" -eq 0 ]
}

tiering_check "all inodes are in slow memory" tiering_wait 10 all_slow
kloc_files second 600 1
tiering_control "new inodes take new pages without a policy that promotes slabs" \
	[ "$(inodes "$fast")" -ge 64 ]

# It moves nothing meanwhile.
echo 60000000 >$tiering/scan_us
tiering_select kloc
kloc_files third 600 1
tiering_note "$(inodes "$fast") pages of inodes in fast memory, $(inodes "$slow") in slow memory"
tiering_check "new inodes are in fast memory" [ "$(inodes "$fast")" -ge 64 ]
tiering_end

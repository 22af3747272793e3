# SPDX-License-Identifier: GPL-2.0
#
# What the selftests of relocatable slabs share. Each test sources this file and calls
# reloc_begin.

. ../tiering/_tiering.sh

reloc=/sys/kernel/debug/reloc

# reloc_begin COUNT: begin a test with so many results
reloc_begin() {
	[ -e $reloc/move ] || tiering_skip "needs CONFIG_RELOC_SLAB and debugfs"
	[ "$(grep -c '^dentry \|^ext4_inode_cache ' $reloc/pages)" -ge 4 ] ||
		tiering_skip "needs the kernel parameter reloc.caches=dentry,ext4_inode_cache"
	caches=$(awk '{ print $1 }' $reloc/pages | sort -u)
	tiering_begin "$1"
	tiering_save $reloc/max_pause_us $reloc/precopy
	# The host may be busy: no page shall be late.
	echo 100000 >$reloc/max_pause_us
}

reloc_pages() { # CACHE NODE: print how many pages of a cache are on a node
	awk -v cache="$1" -v node="$2" '$1 == cache && $2 == node { print $3 }' $reloc/pages
}

reloc_stat() { # NAME: print a counter
	awk -v name="$1" '$1 == name { print $2 }' $reloc/stats
}

# reloc_move_all NODE: move all caches to a node. A page may be late: try again.
reloc_move_all() {
	local cache try

	for cache in $caches; do
		for try in 1 2 3; do
			echo "$cache $1" >$reloc/move || return 1
		done
	done
}

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The limit of a node includes relocatable slabs, and unused slabs above it are demoted. Wasted
# copies are counted.

. ../kloc/_kloc.sh

reloc=/sys/kernel/debug/reloc

[ -e $reloc/pages ] || tiering_skip "needs CONFIG_RELOC_SLAB and debugfs"
grep -q '^ext4_inode_cache ' $reloc/pages ||
	tiering_skip "needs the kernel parameter reloc.caches=dentry,ext4_inode_cache"

slab_kb() { # print how much of slabs that can move is in fast memory
	awk -v node="$fast" '$2 == node { sum += $3 } END { print 4 * sum }' $reloc/pages
}

cache_kb() { # print how much page cache is there
	awk '$3 ~ /^(Active|Inactive)\(file\):/ { sum += $4 } END { print sum }' \
		/sys/devices/system/node/node"$fast"/meminfo
}

limit() { # KIB
	echo "$1" >$tiering/node"$fast"/max_kb
}

have_left() { # COUNT: have so many pages of slabs left because of the limit?
	[ "$(tiering_stat slab demoted_limit)" -ge "$1" ]
}

freed() { # print pages of slabs that were freed before their copy had paid
	tiering_stat slab demoted_limit_freed
}

have_been_freed() { # COUNT
	echo 2 >/proc/sys/vm/drop_caches
	[ "$(freed)" -ge "$1" ]
}

kloc_begin 4
tiering_save $tiering/node"$fast"/max_kb
limit max
echo 10 >$scale
echo 100000 >$tiering/scan_us
kloc_files files 2000 4
tiering_drop_caches
find "$dir/files" -type f -print0 | xargs -0 head -q -c 1 >/dev/null
before=$(tiering_stat slab demoted_limit)
tiering_note "$(slab_kb) KiB of slabs and $(cache_kb) KiB of page cache are in fast memory"

limit $(($(cache_kb) + 2 * $(slab_kb)))
tiering_control "slabs leave if there is no more than the limit" \
	tiering_wait 2 have_left $((before + 1))
echo "file blockdev" >$kloc/kinds
limit $(($(cache_kb) + $(slab_kb) / 2))
tiering_control "slabs leave without slab in kinds" tiering_wait 2 have_left $((before + 1))
echo "file blockdev slab" >$kloc/kinds
tiering_check "unused slabs are demoted" tiering_wait 10 have_left $((before + 64))

# Scans are long from now on, so that the copies are young.
echo 2000000 >$tiering/scan_us
count=$(freed)
rm -r "$dir/files"
tiering_check "slabs that are freed soon are counted" tiering_wait 5 have_been_freed $((count + 32))
tiering_end

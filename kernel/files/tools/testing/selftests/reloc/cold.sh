#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Under the policy kloc, the inodes of files that are looked up and not opened are on pages of
# their own. The inodes of opened files are not. The pages begin in slow memory if slab_groups
# is 2 and fast memory is short.

. ../kloc/_kloc.sh

reloc=/sys/kernel/debug/reloc
groups=$tiering/kloc/slab_groups
inodes=ext4_inode_cache

[ -e $reloc/pages ] || tiering_skip "needs CONFIG_RELOC_SLAB and debugfs"
grep -q "^$inodes " $reloc/pages ||
	tiering_skip "needs the kernel parameter reloc.caches=dentry,ext4_inode_cache"

pages_of() { # CACHE NODE: print how many of its pages are there
	awk -v cache="$1" -v node="$2" '$1 == cache && $2 == node { print $3 }' $reloc/pages
}

all_cold() { # print how many pages the cold twin has
	echo $(($(pages_of $inodes-cold "$fast") + $(pages_of $inodes-cold "$slow")))
}

forget() { # evict all inodes that nobody uses
	tiering_drop_caches
	cold=$(all_cold)
	hot=$(pages_of $inodes "$fast")
}

look_up() { # no file is opened
	ls -l "$dir/files" >/dev/null
}

open_all() { # whoever lists a directory does not look its files up
	find "$dir/files" -type f -print0 | xargs -0 head -q -c 1 >/dev/null
}

come() { # PAGES COMMAND...: does the command bring so many pages to the cold twin?
	local least="$1"

	shift
	forget
	"$@"
	tiering_note "$*: $(($(all_cold) - cold)) pages of the cold twin have come"
	tiering_note "$(($(pages_of $inodes "$fast") - hot)) of others have come to fast memory"
	[ $(($(all_cold) - cold)) -ge "$least" ]
}

are_slow() { # PAGES: are so many of the cold twin in slow memory?
	[ "$(pages_of $inodes-cold "$slow")" -ge "$1" ]
}

have_gone() { # PAGES: has the cold twin no more than so many?
	echo 2 >/proc/sys/vm/drop_caches
	[ "$(all_cold)" -le "$1" ]
}

kloc_begin 8
tiering_save $groups
# Nothing moves meanwhile.
echo 60000000 >$tiering/scan_us
kloc_files files 2000 1
kloc_make_short
placed=$(tiering_stat slab placed_slow)

echo 1 >$groups
tiering_check "inodes that are looked up are apart" come 200 look_up
tiering_control "their pages are in slow memory" are_slow 200
echo 2 >$groups
come 200 look_up
tiering_check "their pages are in slow memory if slab_groups is 2" are_slow 200
tiering_check "they were placed there" \
	[ "$(tiering_stat slab placed_slow)" -ge $((placed + 200)) ]
tiering_control "inodes of opened files are apart" come 100 open_all
echo 0 >$groups
tiering_control "inodes are apart without slab_groups" come 100 look_up
echo 1 >$groups
tiering_select kloc-cache-only
tiering_control "inodes are apart under kloc-cache-only" come 100 look_up
tiering_select kloc
look_up
rm -r "$dir/files"
tiering_check "their pages are given back" tiering_wait 10 have_gone $((cold + 50))
tiering_end

# SPDX-License-Identifier: GPL-2.0
#
# Functions of the selftests of relocatable slabs. Each test sources this file and calls
# reloc_begin.

. ../tiering/_tiering.sh

reloc=/sys/kernel/debug/reloc

# reloc_begin COUNT: begin a test with COUNT results
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

# reloc_need CACHE...: skip the test unless all of them can move, and move only these from now on
reloc_need() {
	local cache

	for cache; do
		echo "$caches" | grep -qx "$cache" ||
			tiering_skip "needs the kernel parameter reloc.caches= with $cache"
	done
	caches="$*"
}

# reloc_move_for SECONDS PAGES: move all caches to slow memory and back for so long. Fails unless
# more than so many pages have moved.
reloc_move_for() {
	local end moved round=0

	end=$(($(date +%s) + $1))
	moved=$(reloc_stat moved)
	while [ "$(date +%s)" -lt $end ]; do
		round=$((round + 1))
		# With either way to copy.
		echo $((round % 3 > 0)) >$reloc/precopy
		reloc_move_all "$slow" && reloc_move_all "$fast" || return 1
	done
	moved=$(($(reloc_stat moved) - moved))
	tiering_note "$moved pages moved, $(reloc_stat recopied) were copied again"
	[ $moved -gt "$2" ]
}

reloc_reports() { # print how often the kernel has reported a defect
	dmesg | grep -cE 'BUG[: ]|WARNING:|Oops|INFO: task .* blocked'
}

# reloc_make_files COUNT: make files that stay unchanged, for reloc_is_right
reloc_make_files() {
	local i

	mkdir "$dir/tree" "$dir/work"
	for i in $(seq "$1"); do
		echo "$i" >"$dir/tree/$i"
	done
	sync
	listed=$(reloc_list_files)
}

reloc_list_files() { # print a checksum of these files, with their times
	(cd "$dir/tree" && ls -lR --time-style=full-iso . && cat -- *) | cksum
}

# Other files come and go, and are looked for, while $dir/busy exists.
reloc_work() {
	local round=0 i text

	while [ -e "$dir/busy" ]; do
		round=$((round + 1))
		for i in $(seq 20); do
			echo "$round $i" >"$dir/work/$i"
			read -r text <"$dir/work/$i"
			[ "$text" = "$round $i" ] || echo "$round $i: $text" >>"$dir/wrong"
		done
		rm "$dir/work"/*
		[ $((round % 10)) -gt 0 ] || echo 2 >/proc/sys/vm/drop_caches
		echo $round >"$dir/rounds"
	done
}

reloc_is_right() { # did that work find all as it left it, and are the files as they were made?
	[ ! -e "$dir/wrong" ] && [ "$(cat "$dir/rounds")" -gt 0 ] &&
		[ "$(reloc_list_files)" = "$listed" ]
}

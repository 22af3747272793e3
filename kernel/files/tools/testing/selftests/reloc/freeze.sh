#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A task that moves all pages of a cache can be frozen before it has moved all of them. Otherwise
# the task would delay the freezer, and suspend.

. ./_reloc.sh

group=/sys/fs/cgroup/reloc-freeze
inodes=ext4_inode_cache
files=6000
tries=60

tiering_clean() {
	[ -e "$group" ] || return 0
	echo 0 >"$group/cgroup.freeze"
	wait
	rmdir "$group"
}

is_frozen() {
	grep -q '^frozen 1' "$group/cgroup.events"
}

is_between() { # has a move begun that is not over?
	[ $(($(reloc_pages $inodes "$slow") * 10)) -gt "$pages" ] &&
		[ $(($(reloc_pages $inodes "$fast") * 10)) -gt "$pages" ]
}

# The task may be frozen before it moves anything, or when it has moved all.
freezes_between() {
	local try node between

	for try in $(seq $tries); do
		[ $((try % 2)) = 0 ] && node=$fast || node=$slow
		sh -c 'echo $$ >"$0/cgroup.procs" && exec echo "$1" >"$2"' \
			"$group" "$inodes $node" $reloc/move &
		sleep "0.0$((try % 10))"
		echo 1 >"$group/cgroup.freeze"
		tiering_wait 20 is_frozen || return 1
		is_between && between=yes || between=no
		echo 0 >"$group/cgroup.freeze"
		wait
		[ $between = no ] || break
	done
	tiering_note "frozen in the middle of a move: $between, at try $try"
	[ $between = yes ]
}

reloc_begin 2
mkdir "$group" 2>/dev/null || tiering_skip "needs cgroup v2"
mkdir "$dir/files"
(cd "$dir/files" && touch $(seq $files))
reloc_move_all "$fast"
pages=$(reloc_pages $inodes "$fast")
tiering_note "$pages pages of inodes"
tiering_check "a task is frozen in the middle of a move" freezes_between
reloc_move_all "$fast"
tiering_control "a move that is over is in its middle" is_between
tiering_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Splitting a huge page copies its record to the small pages: here the number of moves, so that
# pages that moved too often are pinned.

. ./_kloc.sh

split=/sys/kernel/debug/split_huge_pages

kloc_begin 3
[ -w $split ] || tiering_skip "needs $split"
grep -q '^thp_split_page ' /proc/vmstat || tiering_skip "needs huge pages"

tiering_clean() {
	umount "$dir/tmpfs" 2>/dev/null
}

splits() {
	awk '$1 == "thp_split_page" { print $2 }' /proc/vmstat
}

has_left() {
	[ "$(kloc_context "$file" fast)" = 0 ]
}

stays() {
	! tiering_wait 5 has_left
}

mkdir "$dir/tmpfs"
mount -t tmpfs -o huge=always tmpfs "$dir/tmpfs" || tiering_skip "needs tmpfs with huge pages"
file=$dir/tmpfs/file
echo 1 >/proc/sys/vm/compact_memory
# A hole that is read becomes a huge page, which is not dirty. It moves away and back.
truncate -s 2M "$file"
before=$(splits)
on_node "$fast" move_file "$file" "$slow" "$fast" || exit 1
echo "$file,0x0,0x200" >$split
tiering_check "a huge page was split, and is in fast memory" \
	[ "$(($(splits) - before))-$(kloc_context "$file" fast)" = 1-512 ]

echo 2 >$tiering/pin
kloc_demote_all
tiering_wait 2 has_left
pages=$(kloc_context "$file" fast)
tiering_check "its pages moved twice, and stay with pin=2 ($pages)" [ "$pages" = 512 ]

echo 3 >$tiering/pin
tiering_control "with pin=3 they stay" stays
tiering_note "$(kloc_context "$file" fast) pages are left"
tiering_end

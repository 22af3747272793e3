#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Dentries and inodes of ext4 move to slow memory and back while files are created, renamed, read
# and removed. No file is lost, and the memory is given back when the objects are freed.

. ./_reloc.sh

directories=40
files=50

# are_on CACHE NODE OTHER: test whether most pages are on a node. Newer pages may not be.
are_on() {
	tiering_note "$1: $(reloc_pages "$1" "$2") pages on node $2, $(reloc_pages "$1" "$3") on $3"
	[ $(($(reloc_pages "$1" "$2"))) -gt $(($(reloc_pages "$1" "$3") * 5)) ]
}

make_files() {
	local i j

	for i in $(seq $directories); do
		mkdir -p "$dir/tree/$i"
		for j in $(seq $files); do
			echo "$i $j" >"$dir/tree/$i/$j"
		done
	done
}

list_files() { # print names, types, sizes, owners, times and contents
	(cd "$dir/tree" && ls -lR --time-style=full-iso . && cat -- */*) | cksum
}

is_as_before() {
	[ "$(list_files)" = "$before" ]
}

# Use the file system meanwhile. Errors go to $dir/wrong.
use_files() {
	local i=0 j

	mkdir "$dir/used"
	while [ -e "$dir/using" ]; do
		i=$((i + 1))
		for j in 1 2 3 4 5 6 7 8; do
			echo "$i $j" >"$dir/used/$j" &&
				mv "$dir/used/$j" "$dir/used/moved-$j" &&
				ln "$dir/used/moved-$j" "$dir/used/linked-$j" &&
				read -r text <"$dir/used/linked-$j" &&
				[ "$text" = "$i $j" ] &&
				rm "$dir/used/moved-$j" "$dir/used/linked-$j" ||
				echo "$i $j" >>"$dir/wrong"
		done
		[ -z "$(ls "$dir/used")" ] || echo "$i: files are left" >>"$dir/wrong"
		echo "$i" >"$dir/rounds"
	done
}

nothing_is_wrong() {
	[ ! -e "$dir/wrong" ] && [ "$(cat "$dir/rounds")" -gt 0 ]
}

move_to_and_fro() { # COUNT
	local i

	for i in $(seq "$1"); do
		reloc_move_all "$slow" && reloc_move_all "$fast" && is_as_before || return 1
	done
}

fewer_pages() {
	tiering_note "$many pages with the files, $(reloc_stat pages) without"
	[ "$(reloc_stat pages)" -lt $((many * 3 / 4)) ]
}

reloc_begin 10

make_files
sync
before=$(list_files)

moved=$(reloc_stat moved)
reloc_move_all "$slow"
tiering_check "dentries move to slow memory" are_on dentry "$slow" "$fast"
tiering_check "inodes move to slow memory" are_on ext4_inode_cache "$slow" "$fast"
tiering_check "pages were moved" [ "$(reloc_stat moved)" -gt "$moved" ]
tiering_check "no file has changed" is_as_before
reloc_move_all "$fast"
tiering_check "inodes move back" are_on ext4_inode_cache "$fast" "$slow"

touch "$dir/using"
use_files &
user=$!
tiering_check "no file changes during moves while others are in use" move_to_and_fro 10
rm "$dir/using"
wait $user
tiering_check "files in use are right during moves" nothing_is_wrong
tiering_note "the longest pause was $(reloc_stat longest_pause_ns) ns"

echo 2 >/proc/sys/vm/drop_caches
tiering_check "files are found again without caches" is_as_before

echo x >>"$dir/tree/1/1"
tiering_control "a file that has changed is seen" is_as_before

many=$(reloc_stat pages)
rm -r "$dir/tree"
echo 2 >/proc/sys/vm/drop_caches
sleep 3
tiering_check "memory of freed objects is given back" fewer_pages
tiering_end

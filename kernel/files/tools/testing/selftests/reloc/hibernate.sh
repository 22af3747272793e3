#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The machine writes an image of its memory and continues from it (all of hibernation except the
# firmware's part) while pages of slabs move and files are used. The pages that are behind the arena
# then are those of the image. No file is lost, and pages move as before.

. ./_reloc.sh

power=/sys/power
swap=/data/reloc-swap
files=200

tiering_clean() {
	rm -f "$dir/busy"
	wait
	swapoff $swap 2>/dev/null
	rm -f $swap
}

move_all() {
	while [ -e "$dir/busy" ]; do
		reloc_move_all "$slow" && reloc_move_all "$fast"
	done
}

block_of() { # FILE: print its first block on the disk, in pages
	filefrag -v "$1" | awk '$1 == "0:" { sub(/\.\..*/, "", $4); print $4; exit }'
}

make_swap() {
	head -c 400M /dev/zero >$swap && chmod 600 $swap && mkswap -q $swap && swapon $swap &&
		stat -c %Hd:%Ld $swap >$power/resume && block_of $swap >$power/resume_offset
}

move_on() {
	local moved

	moved=$(reloc_stat moved)
	reloc_move_all "$slow" && reloc_move_all "$fast" && [ "$(reloc_stat moved)" -gt "$moved" ]
}

hibernate() {
	echo disk >$power/state
}

[ -w $power/disk ] && grep -q test_resume $power/disk || tiering_skip "needs CONFIG_HIBERNATION"
[ -n "$(command -v filefrag)" ] || tiering_skip "needs filefrag"
reloc_begin 5
tiering_save $power/image_size
echo 0 >$power/image_size
make_swap || tiering_skip "needs a file for swap space"
echo test_resume >$power/disk
reloc_make_files $files
reported=$(reloc_reports)

touch "$dir/busy"
move_all &
reloc_work &
sleep 1
tiering_check "the machine continues from an image" hibernate
sleep 1
rm "$dir/busy"
wait
tiering_check "pages move afterwards" move_on
tiering_check "files are as they were left" reloc_is_right
tiering_check "the kernel reports nothing" [ "$(reloc_reports)" = "$reported" ]
echo changed >"$dir/tree/1"
tiering_control "a file that has changed is as it was" reloc_is_right
tiering_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The machine is suspended and resumed (except the firmware's part) while pages of slabs
# move and files are used. No file is lost, pages move as before, and the kernel reports nothing.

. ./_reloc.sh

power=/sys/power
delay=/sys/module/suspend/parameters/pm_test_delay
times=5
files=200

tiering_clean() {
	rm -f "$dir/busy"
	wait
	echo none >$power/pm_test
	echo "$mem_sleep" >$power/mem_sleep
}

move_all() {
	while [ -e "$dir/busy" ]; do
		reloc_move_all "$slow" && reloc_move_all "$fast"
	done
}

suspended() { # print how often the machine was
	cat $power/suspend_stats/success
}

suspend() {
	local i moved

	for i in $(seq $times); do
		moved=$(reloc_stat moved)
		sleep 1
		[ "$(reloc_stat moved)" -gt "$moved" ] || return 1
		echo mem >$power/state || return 1
	done
	[ $(($(suspended) - suspended)) = $times ]
}

move_on() { # pages move after it, too
	local moved

	moved=$(reloc_stat moved)
	reloc_move_all "$slow" && reloc_move_all "$fast" && [ "$(reloc_stat moved)" -gt "$moved" ]
}

unused() { # print how many pages of inodes no scan found used lately
	awk '$1 == "ext4_inode_cache" { print $3 + $5 }' $reloc/caches
}

is_less_used() { # PAGES: are more than so many unused?
	[ "$(unused)" -gt "$1" ]
}

scan() { # unused pages are noticed: the daemon was thawed
	local i

	for i in 1 2 3; do
		reloc_list_files >/dev/null
		sleep 0.3
	done
	tiering_wait 30 is_less_used "$(unused)"
}

[ -w $power/pm_test ] || tiering_skip "needs CONFIG_SUSPEND and CONFIG_PM_DEBUG"
grep -q deep $power/mem_sleep || tiering_skip "needs a machine that can be suspended to memory"
reloc_begin 6
mem_sleep=$(grep -o '\[.*\]' $power/mem_sleep | tr -d '[]')
tiering_save $delay
echo 1 >$delay
echo deep >$power/mem_sleep
echo core >$power/pm_test
reloc_make_files $files
reported=$(reloc_reports)
suspended=$(suspended)
# The daemon of this policy is frozen and thawed, too.
echo 200000 >$tiering/scan_us
tiering_select kloc

touch "$dir/busy"
move_all &
reloc_work &
tiering_check "the machine is suspended $times times while pages move" suspend
rm "$dir/busy"
wait
tiering_check "pages move afterwards" move_on
tiering_check "the daemon scans afterwards" scan
tiering_check "files are as they were left" reloc_is_right
tiering_check "the kernel reports nothing" [ "$(reloc_reports)" = "$reported" ]
echo changed >"$dir/tree/1"
tiering_control "a file that has changed is as it was" reloc_is_right
tiering_end

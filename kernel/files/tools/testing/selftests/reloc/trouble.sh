#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Pages of slabs move while CPUs go and come back, and while processes are killed because there is
# too little memory for them. No file is lost, and the kernel reports nothing else.

. ./_reloc.sh

groups=/sys/fs/cgroup
group=$groups/reloc-trouble
seconds=10
files=200

tiering_clean() {
	local cpu

	rm -f "$dir/busy"
	for cpu in $cpus; do
		echo 1 >"$cpu" 2>/dev/null
	done
	wait
	[ -e "$group" ] && rmdir "$group"
}

hotplug() { # each CPU but the first one goes for a moment, one after another
	local cpu

	while [ -e "$dir/busy" ]; do
		for cpu in $cpus; do
			echo 0 >"$cpu" && echo gone >>"$dir/cpus"
			sleep 0.05
			echo 1 >"$cpu"
		done
	done
}

kills() { # processes take more memory than their group may have, and more than there is slab
	while [ -e "$dir/busy" ]; do
		sh -c 'echo $$ >"$0/cgroup.procs"; ls -lR "$1" >/dev/null; head -c 64M /dev/zero |
			tail -n 1 >/dev/null' "$group" "$dir/tree" 2>/dev/null
	done
}

move_for_a_while() {
	local end moved

	end=$(($(date +%s) + seconds))
	moved=$(reloc_stat moved)
	while [ "$(date +%s)" -lt $end ]; do
		reloc_move_all "$slow" && reloc_move_all "$fast" || return 1
	done
	moved=$(($(reloc_stat moved) - moved))
	tiering_note "$moved pages moved, $(reloc_stat late) were late"
	[ $moved -gt 1000 ]
}

killed() { # print how many processes were killed
	awk '$1 == "oom_kill" { print $2 }' "$group/memory.events"
}

cpus=$(ls /sys/devices/system/cpu/cpu[1-9]*/online 2>/dev/null)
reloc_begin 6
[ -n "$cpus" ] || tiering_skip "needs CPUs that can go"
[ -e "$groups/cgroup.subtree_control" ] || tiering_skip "needs cgroup v2"
echo +memory >"$groups/cgroup.subtree_control" || tiering_skip "needs memory cgroups"
mkdir "$group"
echo 24M >"$group/memory.max"
echo 0 >"$group/memory.swap.max" 2>/dev/null
reloc_make_files $files
reported=$(reloc_reports)

touch "$dir/busy"
hotplug &
kills &
reloc_work &
tiering_check "pages move meanwhile" move_for_a_while
rm "$dir/busy"
wait
tiering_check "CPUs have gone ($(wc -l <"$dir/cpus") times)" [ -s "$dir/cpus" ]
tiering_check "processes were killed ($(killed))" [ "$(killed)" -gt 0 ]
tiering_check "files are as they were left" reloc_is_right
tiering_check "the kernel reports nothing" [ "$(reloc_reports)" = "$reported" ]
echo changed >"$dir/tree/1"
tiering_control "a file that has changed is as it was" reloc_is_right
tiering_end

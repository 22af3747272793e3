#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# kswapd shrinks the dentries of a fast node that is short of memory, with contexts as without:
# a flood of look-ups does not push out the memory of applications.

. ./_kloc.sh

kloc_begin 3

tiering_clean() {
	umount "$dir/tmpfs" 2>/dev/null
}

count() { # FIELD: of dentry-state: 5 is those of names that do not exist
	awk -v field="$1" '{ print $field }' /proc/sys/fs/dentry-state
}

vmstat() {
	awk -v name="$1" '$1 == name { print $2 }' /proc/vmstat
}

# Print how many of 30000 dentries leave when kswapd has to make room.
shrunk() {
	local before i

	echo 2 >/proc/sys/vm/drop_caches
	on_node "$fast" lookups "$dir" 30000
	before=$(count 5)
	# kswapd gives up for good where it found nothing, until others find something.
	head -c 1048576 /dev/zero >"$dir/reclaimable"
	sync
	echo 512K 2>/dev/null >"$reclaim"
	echo 3000 >$scale
	for i in 1 2 3 4 5 6 7 8 9 10; do
		on_node "$fast" head -c 65536 /dev/zero >"$dir/little$i"
		sleep 0.1
	done
	echo "$old" >$scale
	echo $((before - $(count 5)))
}

reclaim=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/memory.reclaim
[ -e "$reclaim" ] || tiering_skip "needs memory.reclaim of cgroup2"
old=$(cat $scale)
# Fill fast memory, except for some MiB, with pages that are neither demoted nor reclaimed.
mkdir "$dir/tmpfs"
mount -t tmpfs -o mpol=bind:"$fast",size=100% tmpfs "$dir/tmpfs" || tiering_skip "needs tmpfs"
tiering_drop_caches
head -c $((($(tiering_free "$fast") - 32768) * 1024)) /dev/zero >"$dir/tmpfs/filling"
direct=$(vmstat pgscan_direct)

tiering_select none
count=$(shrunk)
tiering_check "dentries leave without contexts ($count)" [ "$count" -gt 10000 ]
tiering_select kloc
count=$(shrunk)
tiering_check "they leave with contexts ($count)" [ "$count" -gt 10000 ]
tiering_note "$(($(vmstat pgscan_direct) - direct)) pages were looked at in direct reclaim"

# Nothing leaves while there is room.
before=$(count 5)
lookups "$dir" 1000
sleep 0.5
tiering_control "dentries leave though there is room" [ $(($(count 5) - before)) -lt 0 ]
tiering_end

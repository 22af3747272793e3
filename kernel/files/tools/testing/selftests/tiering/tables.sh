#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Under kloc, page tables and kernel stacks get fast memory when it is short, and other pages do
# not.

. ./_tiering.sh

COUNT=1024
PROCESSES=100
scale=/proc/sys/vm/watermark_scale_factor

tiering_begin 6
tiering_save $scale

tiering_clean() {
	tiering_fill_end
}

pages() { # NODE COUNTER: print how many pages are in the nodes of its tier
	local node

	for node in $(tiering_tier_of "$1"); do
		cat /sys/devices/system/node/node"$node"/meminfo
	done | awk -v counter="$2:" '$3 == counter { sum += $4 / 4 } END { print sum }'
}

tables() { # NODE
	pages "$1" PageTables
}

# are_new_tables_on NODE: are nearly all page tables of a process in the tier of the node?
are_new_tables_on() {
	local before after

	mkfifo "$dir/end"
	before=$(tables "$1")
	sparse $COUNT <"$dir/end" >"$dir/printed" &
	exec 3>"$dir/end"
	tiering_wait 30 grep -q touched "$dir/printed"
	after=$(tables "$1")
	exec 3>&-
	wait $!
	rm "$dir/end" "$dir/printed"
	tiering_note "$(cat $tiering/policy): $((after - before)) of $COUNT page tables on node $1"
	[ $((after - before)) -ge $((COUNT * 9 / 10)) ]
}

vmalloc() { # print how many KiB are allocated, stacks among them
	awk '$1 == "VmallocUsed:" { print $2 }' /proc/meminfo
}

vmalloc_is_below() { # KIB
	[ "$(vmalloc)" -le "$1" ]
}

# are_new_stacks_on NODE: are nearly all kernel stacks of processes in the tier of the node?
are_new_stacks_on() {
	local before after i allocated processes=

	allocated=$(vmalloc)
	before=$(pages "$1" KernelStack)
	for i in $(seq $PROCESSES); do
		sleep 1000 &
		processes="$processes $!"
	done
	after=$(pages "$1" KernelStack)
	kill $processes
	wait $processes 2>/dev/null
	# RCU frees them. New processes would get the same stacks again until then.
	tiering_wait 10 vmalloc_is_below $((allocated + 256))
	tiering_note "$(cat $tiering/policy): $((after - before)) pages of stacks on node $1"
	# A stack has four pages. CPUs keep some of those that were freed.
	[ $((after - before)) -ge $((PROCESSES * 4 * 8 / 10)) ]
}

# The free memory of each node is between the watermarks min and high.
tiering_drop_caches
for node in $(tiering_tier_of "$fast"); do
	tiering_fill "$node" 24576
done
echo 3000 >$scale

placed=$(tiering_stat kernel placed_fast)
tiering_control "without a policy, page tables are in fast memory" are_new_tables_on "$fast"
tiering_control "without a policy, stacks are in fast memory" are_new_stacks_on "$fast"
tiering_control "without a policy, any is counted" \
	[ "$(tiering_stat kernel placed_fast)" -gt "$placed" ]
tiering_select kloc-nomigrate
tiering_check "under kloc, page tables are in fast memory" are_new_tables_on "$fast"
tiering_check "under kloc, stacks are in fast memory" are_new_stacks_on "$fast"
tiering_check "they are counted" \
	[ "$(tiering_stat kernel placed_fast)" -ge $((placed + COUNT * 9 / 10)) ]
tiering_end

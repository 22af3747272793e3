#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Moves are in /proc/vmstat, in vmstat of the node and in memory.stat of the cgroup, as those of
# reclaim and of NUMA balancing are.

. ./_kloc.sh

kloc_begin 7
tiering_group kloc-counted memory

tiering_clean() {
	rm -f "$dir/file"
	tiering_wait 10 rmdir "$groups/kloc-counted"
}

count_in() { # FILE COUNT
	awk -v name="$2" '$1 == name { print $2 }' "$1"
}

demoted() {
	cat $tiering/stats/*/demoted_inactive $tiering/stats/*/demoted_unused \
	    $tiering/stats/*/demoted_old $tiering/stats/*/demoted_limit |
		awk '{ sum += $1 } END { print sum }'
}

promoted() {
	cat $tiering/stats/*/promoted_active $tiering/stats/*/promoted_used |
		awk '{ sum += $1 } END { print sum }'
}

# Remember all counts.
begin() {
	demoted=$(demoted)
	promoted=$(promoted)
	for file in $files; do
		eval "$(name_of "$file")_demoted=$(count_in "$file" pgdemote_kswapd)"
		eval "$(name_of "$file")_promoted=$(count_in "$file" pgpromote_success)"
	done
}

name_of() { # FILE
	echo "$1" | tr -c '[:alnum:]\n' _
}

# Test whether a file counts as many moves as the policy, and at least as many as wanted.
counts() { # FILE demoted|promoted LEAST
	local name="pgdemote_kswapd" moved before

	[ "$2" = demoted ] || name=pgpromote_success
	moved=$(($($2) - $(eval "echo \$$2")))
	before=$(eval "echo \$$(name_of "$1")_$2")
	counted=$(($(count_in "$1" $name) - before))
	[ "$counted" -ge "$3" ] && [ "$counted" -le $moved ]
}

vmstat=/proc/vmstat
node=/sys/devices/system/node/node$fast/vmstat
group=$groups/kloc-counted/memory.stat
files="$vmstat $node $group"

head -c 8388608 /dev/zero >"$dir/file"
tiering_drop_caches
tiering_in_group kloc-counted cat "$dir/file" >/dev/null
begin
tiering_control "moves are counted before there are any" counts $vmstat demoted 1
kloc_demote_all
for file in $files; do
	tiering_check "$file has demotions" tiering_wait 20 counts "$file" demoted 1900
done

# All of it is used again.
echo 10 >$scale
echo 1000000 >$tiering/scan_us
begin
tiering_in_group kloc-counted read_all "$dir/file" 2 4 >/dev/null
for file in $files; do
	tiering_check "$file has promotions" tiering_wait 20 counts "$file" promoted 1000
done
tiering_end

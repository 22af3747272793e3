#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# kswapd does not give up after it has run for boosted watermarks. The node has enough free memory
# then, so the policy demotes nothing, and kswapd reclaims.

. ./_kloc.sh

boost=/proc/sys/vm/watermark_boost_factor
min=/proc/sys/vm/min_free_kbytes
generations=/sys/kernel/mm/lru_gen/enabled

kloc_begin 5
tiering_save $boost $min $generations
tiering_select none
tiering_group kloc-boosted memory

tiering_clean() {
	rm -f "$dir/cache"
	tiering_wait 10 rmdir "$groups/kloc-boosted"
	umount "$dir/ram" 2>/dev/null
	tiering_fill_end
}

count() { # NAME: of /proc/vmstat
	awk -v name="$1" '$1 == name { print $2 }' /proc/vmstat
}

has_given_up() {
	awk -v node="$fast," '/^Node/ { this = $2 }
		this == node && $1 == "node_unreclaimable:" && $2 { found = 1 }
		END { exit !found }' /proc/zoneinfo
}

has_run_since() { # RUNS
	[ "$(count pageoutrun)" -gt "$1" ]
}

# runs_in ROUNDS MOST: allocate 512 KiB of movable pages in each round, and print how often kswapd
# has run. Stop after MOST runs, or when kswapd has given up. On a busy machine kswapd runs late:
# the rounds wait for it rather than use up the free memory.
runs_in() {
	local round runs=0 before last

	before=$(count pageoutrun)
	for round in $(seq "$1"); do
		last=$(count pageoutrun)
		head -c 524288 /dev/zero >>"$dir/filling$fast/more"
		[ "$(tiering_free "$fast")" -gt 8192 ] || tiering_wait 1 has_run_since "$last"
		runs=$(($(count pageoutrun) - before))
		[ $runs -lt "$2" ] && ! has_given_up || break
	done
	echo $runs
}

# Have page cache to reclaim in a cgroup of its own: kswapd checks few pages of each LRU list, and
# the oldest ones in other cgroups may belong to running programs. With the multi-generational LRU,
# kswapd reclaims nothing for a boosted watermark.
#
# Then leave free memory only in small pieces between pages of ramfs, which cannot move. Allocating
# a movable page there boosts the watermark.
[ ! -e $generations ] || echo n >$generations
echo 1024 >$min
echo 10 >$scale
head -c 50331648 /dev/zero >"$dir/cache"
tiering_drop_caches
tiering_in_group kloc-boosted on_node "$fast" cat "$dir/cache" >/dev/null
mkdir "$dir/ram"
mount -t ramfs none "$dir/ram" || tiering_skip "needs ramfs"
kloc_files ram/files 1536 32
kloc_fill 2
(cd "$dir/ram/files" && ls | awk 'NR % 2' | xargs rm)
tiering_select kloc

# kswapd gives up after 16 failures.
echo 0 >$boost
runs=$(runs_in 4 4)
tiering_control "kswapd runs without a boosted watermark ($runs times)" [ "$runs" -gt 0 ]
stolen=$(count pgsteal_kswapd)
echo 15000 >$boost
runs=$(runs_in 200 18)
stolen=$(($(count pgsteal_kswapd) - stolen))
tiering_check "kswapd runs for boosted watermarks ($runs times)" [ "$runs" -ge 18 ]
tiering_check "it reclaims ($stolen pages)" [ $stolen -gt 0 ]
tiering_check "it has not given up" tiering_fails has_given_up
tiering_note "$(tiering_free "$fast") KiB are free"
tiering_check "enough memory was free" [ "$(tiering_free "$fast")" -gt 4096 ]
tiering_end

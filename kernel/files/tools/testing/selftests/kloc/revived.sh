#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A kswapd that has given up, because nothing could be reclaimed, begins anew when a policy is
# selected, and may try again later, scan by scan, while a policy makes room.

. ./_kloc.sh

kloc_begin 6
tiering_select none

has_given_up() {
	awk -v node="$fast," '/^Node/ { this = $2 }
		this == node && $1 == "node_unreclaimable:" && $2 { found = 1 }
		END { exit !found }' /proc/zoneinfo
}

# Fill fast memory with anonymous memory, until the process that has it is killed.
fill() {
	has_given_up && return
	tiering_drop_caches
	head -c 4294967296 /dev/zero | on_node "$fast" tail -c 4294967296 >/dev/null 2>&1
	has_given_up
}

[ "$(awk '/^SwapTotal/ { print $2 }' /proc/meminfo)" = 0 ] || tiering_skip "needs no swap"
tiering_check "kswapd gives up when fast memory is full" tiering_wait 1 fill
tiering_control "it begins anew by itself" tiering_fails has_given_up
tiering_select migration-only
tiering_check "it begins anew with a policy" tiering_fails has_given_up

# The first scan takes longer than the test.
echo 60000000 >$tiering/scan_us
tiering_select kloc
tiering_check "kswapd gives up under a policy, too" tiering_wait 1 fill
tiering_control "it tries again within a scan" tiering_wait 1 tiering_fails has_given_up
echo 50000 >$tiering/scan_us
tiering_check "it tries again some scans later" tiering_wait 5 tiering_fails has_given_up
tiering_end

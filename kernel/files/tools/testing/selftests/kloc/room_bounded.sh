#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A call by kswapd demotes a bounded number of batches, however much room it wants: tasks that wait
# for kswapd are woken between calls.

. ./_kloc.sh

kloc_begin 3

tiering_clean() {
	kloc_trace_end
}

# Print how many batches kswapd's calls have demoted, and the most that one call has.
batches() {
	awk '/ __tiering_make_room <-/ { batches = 0 }
		/ tiering_migrate <-_*tiering_make_room/ {
			all++
			if (++batches > most) most = batches
		}
		END { print all + 0, most + 0 }' $tracing/trace
}

has_demoted() { # BATCHES
	kloc_wake
	set -- "$1" $(batches)
	[ "$2" -ge "$1" ]
}

# 64 MiB that nobody uses any more, of which kswapd wants 48. The daemon shall leave them to it.
echo 1 >$tiering/rate_mbps
kloc_files files 64 1024
sync
kloc_trace __tiering_make_room tiering_migrate
tiering_control "there are batches before kswapd runs" has_demoted 1
kloc_press 48
tiering_check "kswapd demotes more than a call may" tiering_wait 20 has_demoted 24
set -- $(batches)
tiering_check "a call demotes some of them ($2 of $1 batches)" [ "$2" -le 8 -a "$2" -gt 0 ]
tiering_end

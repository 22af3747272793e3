#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A call that takes the oldest pages looks at a bounded number of cgroups, however many there are,
# and the next call goes on with the next ones.

. ./_kloc.sh

kloc_begin 3
max_kb=$tiering/node$fast/max_kb
tiering_save "$max_kb"
tiering_group kloc-many memory
echo +memory >"$groups/kloc-many/cgroup.subtree_control"
others=$(seq -f "$groups/kloc-many/%g" 1200)

tiering_clean() {
	kloc_trace_end
	rmdir $others 2>/dev/null
	tiering_wait 10 rmdir "$groups/kloc-many"
}

# Print how many cgroups all calls have looked at, and the most that one call has.
looks() {
	awk '/ policy_lru_take_few <-/ { looks = 0 }
		/ mem_cgroup_iter <-policy_lru_take_few/ {
			all++
			if (++looks > most) most = looks
		}
		END { print all + 0, most + 0 }' $tracing/trace
}

has_looked_at() { # CGROUPS: within a moment. The trace holds no more than that.
	echo 0 >$tracing/tracing_on
	echo >$tracing/trace
	echo 1 >$tracing/tracing_on
	sleep 0.2
	echo 0 >$tracing/tracing_on
	set -- "$1" $(looks)
	[ "$2" -ge "$1" ]
}

# Most of them are empty. Above a limit of nothing is what cannot leave, such as running programs.
mkdir $others
echo 100000 >$tiering/scan_us
kloc_trace policy_lru_take_few mem_cgroup_iter
tiering_control "cgroups are looked at without a limit" has_looked_at 1
echo 0 >"$max_kb"
tiering_check "more cgroups are looked at than there are" tiering_wait 30 has_looked_at 2400
set -- $(looks)
tiering_check "a call looks at some of them ($2 of $1)" [ "$2" -gt 64 -a "$2" -le 1025 ]
tiering_end

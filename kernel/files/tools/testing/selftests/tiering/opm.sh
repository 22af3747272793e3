#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# autotiering-opm makes room for hot pages in full fast memory, and keeps all contents. What is
# mlocked or pinned stays.

. ./_tiering.sh

tiering_begin 16
tiering_scan_often

# Fast memory of another socket would have room.
tiering_group tiering-opm cpuset
echo "$fast,$slow" >"$groups/tiering-opm/cpuset.mems"

tiering_clean() {
	rmdir "$groups/tiering-opm"
}

# run OPTION: fill fast memory with cold pages, and use 2048 pages of slow memory
run() {
	tiering_drop_caches
	text=$(tiering_in_group tiering-opm hints $1 "$fast" \
		$(($(tiering_free "$fast") / 1024 + 8)) "$slow" 8 8)
	tiering_note "$(cat $tiering/policy) $1: $text"
}

promoted() {
	tiering_stat anon promoted_hint
}

tiering_select autotiering-cpm
run ""
tiering_control "autotiering-cpm makes room" tiering_is_of hot_left -ge 1024

tiering_select autotiering-opm
before=$(promoted)
run ""
tiering_check "hot pages come to full fast memory" tiering_is_of hot_left -ge 1536
tiering_check "they are counted" [ $(($(promoted) - before)) -ge 1536 ]
tiering_check "the contents are as before" tiering_is_of intact -eq 1

run pin
tiering_check "pinned pages stay" tiering_is_of pinned_stay -eq 64
tiering_check "their contents are as before" tiering_is_of intact -eq 1
run lock
tiering_check "mlocked pages stay" tiering_is_of cold_left -eq 0
tiering_control "hot pages come if all others are mlocked" tiering_is_of hot_left -ge 1536

# traced POLICY PATTERN: print how many events tiering_hint with the pattern a policy has
traced() {
	tiering_select "$1"
	echo >$trace/trace
	echo 1 >$trace/events/tiering/tiering_hint/enable
	run "" >&2
	echo 0 >$trace/events/tiering/tiering_hint/enable
	grep -c "tiering_hint: .* moved=1 .*$2" $trace/trace
}

trace=/sys/kernel/debug/tracing
pairs=$(tiering_stat anon demoted_pair)
files=$(tiering_stat file demoted_pair)
tiering_select autotiering-opm-x
run ""
tiering_check "opm-x: hot pages come to full fast memory" tiering_is_of hot_left -ge 1536
tiering_check "opm-x: pages change places" \
	[ $(($(tiering_stat anon demoted_pair) + $(tiering_stat file demoted_pair) -
	     pairs - files)) -ge 1024 ]
tiering_check "opm-x: the contents are as before" tiering_is_of intact -eq 1
tiering_select autotiering-opm-bd
run ""
tiering_check "opm-bd: hot pages come to full fast memory" tiering_is_of hot_left -ge 1536
tiering_check "opm-bd: the contents are as before" tiering_is_of intact -eq 1

waited=$(traced autotiering-opm "room_ns=[1-9]")
tiering_check "opm: faults wait for room ($waited traced)" [ "$waited" -ge 512 ]
before=$(promoted)
waited=$(traced autotiering-opm-bd "room_ns=[1-9]")
tiering_check "opm-bd: pages are promoted" [ $(($(promoted) - before)) -ge 1536 ]
tiering_control "opm-bd: faults wait for room ($waited traced)" [ "$waited" -gt 64 ]
tiering_end

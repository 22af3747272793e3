#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Huge pages of anonymous memory have one history each, and move as a whole.

. ./_tiering.sh

enabled=/sys/kernel/mm/transparent_hugepage/enabled
tiering_begin 7
[ -e $enabled ] || tiering_skip "needs CONFIG_TRANSPARENT_HUGEPAGE"
tiering_scan_often
was=

# Fast memory of another socket would have room.
tiering_group tiering-huge cpuset
echo "$fast,$slow" >"$groups/tiering-huge/cpuset.mems"
case $(cat $enabled) in *\[never\]*) echo madvise >$enabled; was=never ;; esac

tiering_clean() {
	rmdir "$groups/tiering-huge"
	[ -z "$was" ] || echo $was >$enabled
}

# run COLD: use 16 MiB of huge pages of slow memory, with COLD MiB of cold memory in fast memory
run() {
	tiering_drop_caches
	[ ! -e /proc/sys/vm/compact_memory ] || echo 1 >/proc/sys/vm/compact_memory
	text=$(tiering_in_group tiering-huge hints huge "$fast" "$1" "$slow" 16 6)
	tiering_note "$(cat $tiering/policy): $text"
}

tiering_select autotiering-cpm
run 2
tiering_check "there are huge pages" tiering_is_of huge -ge 4096
tiering_check "they come to free fast memory" tiering_is_of hot_left -ge 3072
tiering_check "they stay huge" tiering_is_of huge_end -ge "$(tiering_of huge "$text")"
tiering_check "the contents are as before" tiering_is_of intact -eq 1
# NUMA balancing would move them without a policy of hint faults, too.
echo 0 >/proc/sys/kernel/numa_balancing
tiering_select naive
run 2
tiering_control "naive moves huge pages" tiering_is_of hot_left -ge 1
echo 1 >/proc/sys/kernel/numa_balancing
tiering_select autotiering-opm
tiering_drop_caches
run $(($(tiering_free "$fast") / 2048 * 2 + 16))
tiering_check "autotiering-opm: they come to full fast memory" tiering_is_of hot_left -ge 1024
tiering_check "autotiering-opm: the contents are as before" tiering_is_of intact -eq 1
tiering_end

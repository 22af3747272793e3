#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A cpuset wins over a policy: a task that may not use slow memory gets none.

. ./_tiering.sh

tiering_begin 2

groups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
[ -n "$groups" ] || tiering_skip "needs cgroup2"
echo +cpuset >"$groups/cgroup.subtree_control" 2>/dev/null || tiering_skip "needs cpusets"
mkdir "$groups/tiering-cpuset"
echo "$fast" >"$groups/tiering-cpuset/cpuset.mems"

tiering_clean() {
	rmdir "$groups/tiering-cpuset"
}

write_file() {
	head -c 16777216 /dev/zero >"$dir/file"
}

write_in_cpuset() {
	sh -c 'echo $$ >"$0/cgroup.procs"; head -c 16777216 /dev/zero >"$1"' \
		"$groups/tiering-cpuset" "$dir/file"
}

from_slow() { # COMMAND: does it take slow memory?
	rm -f "$dir/file"
	tiering_drop_caches
	tiering_grows "$slow" 12 "$1"
}

tiering_select remote-first
tiering_check "remote-first uses slow memory" from_slow write_file
tiering_control "not for a task whose cpuset has fast memory alone" from_slow write_in_cpuset
tiering_end

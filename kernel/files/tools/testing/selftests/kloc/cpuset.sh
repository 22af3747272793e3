#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A page is not promoted by the use of a task whose cpuset or memory policy excludes fast memory.
#
# Demotion depends on a file's context, and on no task: neither prevents it.

. ./_kloc.sh

kloc_begin 4
tiering_group kloc-cpuset memory cpuset
[ -e "$groups/kloc-cpuset/cpuset.mems" ] || tiering_skip "needs cpusets"

tiering_clean() {
	rmdir "$groups/kloc-cpuset"
}

in_fast() {
	[ "$(kloc_context "$dir/file" fast)" -gt 0 ]
}

# Use a file of slow memory as one that is to be promoted.
promoted() { # TIMES COMMAND...: which runs another command
	local i times="$1"

	shift
	for i in $(seq "$times"); do
		"$@" cat "$dir/file" >/dev/null
		in_fast && return
		sleep 0.1
	done
	return 1
}

# In several of eight scans, on a busy machine too.
echo 300000 >$tiering/scan_us
# More pages than a CPU holds back from LRU lists.
head -c 1048576 /dev/zero >"$dir/file"
tiering_drop_caches
echo "$slow" >"$groups/kloc-cpuset/cpuset.mems"
tiering_in_group kloc-cpuset cat "$dir/file" >/dev/null
tiering_control "a file is read into memory that is not allowed" in_fast
tiering_control "it is promoted to memory that is not allowed" \
	promoted 20 tiering_in_group kloc-cpuset
tiering_control "it is promoted for a task that is bound to slow memory" \
	promoted 40 on_node "$slow"
# Copies of tests before may have been for nothing: then it takes some seconds.
echo "$fast,$slow" >"$groups/kloc-cpuset/cpuset.mems"
tiering_check "it is promoted when that is allowed" promoted 150 \
	tiering_in_group kloc-cpuset
tiering_end

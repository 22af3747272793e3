#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The policy kloc-flat has no contexts. Limits and excluded kinds hold under it as under kloc.

. ./_kloc.sh

kloc_begin 6
tiering_select kloc-flat || tiering_skip "needs CONFIG_TIERING_CONTROLS"
max_kb=$tiering/node$fast/max_kb
tiering_group kloc-flat memory
group=$groups/kloc-flat

tiering_clean() {
	rm -f "$dir/file"
	tiering_wait 10 rmdir "$group"
}

is_within() { # MIB: has the cgroup no more in fast memory, but for pages that CPUs hold back?
	[ "$(cat "$group/memory.kloc.current")" -le $((($1 << 20) + 524288)) ]
}

echo 20000 >$tiering/scan_us
tiering_check "a node has a limit" [ -w "$max_kb" ]
tiering_in_group kloc-flat head -c 16777216 /dev/zero >"$dir/file"
sync
tiering_control "pages leave without a limit" is_within 4
echo 4M >"$group/memory.kloc.max"
tiering_check "page cache above a limit leaves" tiering_wait 10 is_within 4
echo 16M >"$group/memory.kloc.max"
rm "$dir/file"
tiering_check "files that are removed have left" is_within 0

is_promoted() { # read the file again, and test whether most of it was promoted
	cat "$dir/file" >/dev/null
	[ $(($(tiering_stat file promoted_used) - before)) -gt 512 ]
}

echo 200000 >$tiering/scan_us
head -c 4194304 /dev/zero >"$dir/file"
tiering_drop_caches
on_node "$slow" cat "$dir/file" >/dev/null
before=$(tiering_stat file promoted_used)
echo blockdev >$kloc/kinds
tiering_control "used pages of an excluded kind are promoted" tiering_wait 3 is_promoted
echo "file blockdev" >$kloc/kinds
tiering_check "used pages of other kinds are" tiering_wait 10 is_promoted
tiering_end

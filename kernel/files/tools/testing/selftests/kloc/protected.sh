#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Pages that memory.low or memory.min of a cgroup and of its parent protects stay in fast memory.
# Unprotected pages are demoted.

. ./_kloc.sh

kloc_begin 6
tiering_group kloc-low memory
echo +memory >"$groups/kloc-low/cgroup.subtree_control"
mkdir "$groups/kloc-low/below"
tiering_group kloc-other memory

tiering_clean() {
	rm -f "$dir/low" "$dir/other"
	for group in kloc-low/below kloc-low kloc-other; do
		tiering_wait 10 rmdir "$groups/$group"
	done
}

has_left() { # NAME: has a file no page in fast memory?
	[ "$(kloc_context "$dir/$1" fast)" = 0 ]
}

was_spared() { # PAGES: so many were found protected
	[ $(($(tiering_stat file not_moved_protected) - spared)) -ge "$1" ]
}

echo 64M >"$groups/kloc-low/memory.low"
echo 64M >"$groups/kloc-low/below/memory.low"
head -c 8388608 /dev/zero >"$dir/low"
head -c 8388608 /dev/zero >"$dir/other"
tiering_drop_caches
tiering_in_group kloc-low/below cat "$dir/low" >/dev/null
tiering_in_group kloc-other cat "$dir/other" >/dev/null
spared=$(tiering_stat file not_moved_protected)
kloc_demote_all
tiering_check "unprotected pages are demoted" tiering_wait 20 has_left other
tiering_check "protected pages were found, and stayed" tiering_wait 20 was_spared 1000
tiering_control "none of it is left ($(kloc_context "$dir/low" fast) pages are)" has_left low

# memory.min protects, too.
echo 64M >"$groups/kloc-low/memory.min"
echo 64M >"$groups/kloc-low/below/memory.min"
echo 0 >"$groups/kloc-low/memory.low"
echo 0 >"$groups/kloc-low/below/memory.low"
spared=$(tiering_stat file not_moved_protected)
tiering_check "memory.min protects pages" tiering_wait 20 was_spared 1000
tiering_control "none of it is left under memory.min" has_left low
echo 0 >"$groups/kloc-low/memory.min"
echo 0 >"$groups/kloc-low/below/memory.min"
echo 64M >"$groups/kloc-low/memory.low"
echo 64M >"$groups/kloc-low/below/memory.low"

# A group has no more than its parent gives.
echo 0 >"$groups/kloc-low/memory.low"
tiering_check "it leaves when its parent protects nothing" tiering_wait 20 has_left low
tiering_end

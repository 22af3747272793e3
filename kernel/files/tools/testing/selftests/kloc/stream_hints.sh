#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Under the control policy kloc-noprefetch, pages of a stream are placed as others of their file.

. ./_kloc.sh

kloc_begin 3
grep -qw kloc-noprefetch $tiering/policies || tiering_skip "needs CONFIG_TIERING_CONTROLS"

file=$dir/file
head -c 8388608 /dev/zero >"$file"
sync
tiering_drop_caches
kloc_make_short

# read_stream POLICY: set $fast and $slow to how many pages begin there while a stream is read
read_stream() {
	tiering_select "$1"
	tiering_drop_caches
	fast=$(tiering_stat file placed_fast)
	slow=$(tiering_stat file placed_slow)
	read_ahead stream <"$file"
	fast=$(($(tiering_stat file placed_fast) - fast))
	slow=$(($(tiering_stat file placed_slow) - slow))
}

read_stream kloc-noprefetch
tiering_control "kloc-noprefetch uses the hint ($slow of 2048 pages)" [ "$slow" -gt 256 ]
tiering_check "it places a stream as other pages ($fast of 2048)" [ "$fast" -ge 1536 ]
# Fast memory was short all the time.
read_stream kloc
tiering_check "the policy kloc uses the hint ($slow of 2048 pages)" [ "$slow" -ge 1536 ]
tiering_end

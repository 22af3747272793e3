#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A stream goes to slow memory though that is full: reclaim evicts the oldest pages there.

. ./_kloc.sh

kloc_begin 2

tiering_clean() {
	umount "$dir/$fast" "$dir/$slow" 2>/dev/null
}

fill() { # NODE MIB: leave so much free of it
	mkdir "$dir/$1"
	mount -t tmpfs -o mpol=bind:"$1",size=100% tmpfs "$dir/$1" || tiering_skip "needs tmpfs"
	head -c $((($(tiering_free "$1") - $2 * 1024) * 1024)) /dev/zero >"$dir/$1/filling"
}

stream() {
	read_ahead stream <"$dir/stream"
}

# Of files without blocks, which are read as any other.
truncate -s 160M "$dir/old" "$dir/stream"
echo 450 >$scale
tiering_drop_caches
fill "$slow" 200
on_node "$slow" cat "$dir/old" >/dev/null
# The free memory is between kswapd's mark and twice that.
fill "$fast" 34
placed=$(tiering_stat file placed_slow)
tiering_control "a stream fills fast memory as slow memory is full" \
	tiering_grows "$fast" 10 stream
placed=$(($(tiering_stat file placed_slow) - placed))
tiering_check "its pages are in slow memory ($placed of 40960)" [ $placed -gt 32768 ]
tiering_end

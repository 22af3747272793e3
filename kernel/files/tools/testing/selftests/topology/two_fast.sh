#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Each node of fast memory makes room by itself: of a file with pages on two nodes, only the pages
# on the node that is short of memory are demoted.

. ./_topology.sh

kloc_begin 5
set -- $(tiering_tier_of "$fast")
[ $# -ge 2 ] || tiering_skip "needs two nodes in the tier of the CPUs"
other=$1
[ "$1" != "$fast" ] || other=$2

in_fast() {
	kloc_context "$dir/file" fast
}

is_left() { # PAGES: are no more left?
	[ "$(in_fast)" -le "$1" ]
}

read_half() { # NODE HALF
	on_node "$1" dd if="$dir/file" of=/dev/null bs=4M skip="$2" count=1 2>/dev/null
}

head -c 8388608 /dev/urandom >"$dir/file"
sum=$(md5sum <"$dir/file")
tiering_drop_caches
# Read the end first: no page after it can be read ahead.
read_half "$other" 1
read_half "$fast" 0
tiering_check "the file is in fast memory" [ "$(in_fast)" = 2048 ]

# Of the other node most is free.
topology_fill "$fast" 64
kloc_demote_all
tiering_check "half of the file leaves the node that is short" tiering_wait 10 is_left 1024
tiering_control "the other half leaves" tiering_wait 2 is_left 1000
tiering_note "$(in_fast) pages are left"

# Now the other node is short.
echo 10 >$scale
topology_fill "$other" "$(($(tiering_free "$fast") / 1024))"
kloc_demote_all
tiering_check "it leaves when its node is short, too" tiering_wait 10 is_left 0
tiering_check "the contents are as before" [ "$(md5sum <"$dir/file")" = "$sum" ]
tiering_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Memory that comes while a policy is selected gets records of its pages, wherever it is in its
# node, and memory that goes takes them along.

. ./_kloc.sh

kloc_begin 4

tiering_clean() {
	[ -z "$block" ] || echo online 2>/dev/null >"$block/state"
}

page_bytes() {
	cat $tiering/page_bytes
}

has_records() { # BYTES: are there as many at least?
	[ "$(page_bytes)" -ge "$1" ]
}

# Take a block of memory away, one within a node if possible: the node spans it nevertheless.
tiering_select none
tiering_drop_caches
block=
for node in $slow $fast; do
	blocks=$(ls -d /sys/devices/system/node/node"$node"/memory[0-9]* 2>/dev/null | sort -V)
	[ -n "$blocks" ] || tiering_skip "needs memory hotplug"
	for this in $(echo "$blocks" | sed '1d;$d') $(echo "$blocks" | sed -n '$p;1p'); do
		this=/sys/devices/system/memory/$(basename "$this")
		[ -n "$block" ] || ! tiering_set_block "$this" offline || block=$this
	done
done
[ -n "$block" ] || tiering_skip "no memory can go offline"
tiering_note "it is $(basename "$block")"
pages=$((0x$(cat /sys/devices/system/memory/block_size_bytes) / $(getconf PAGESIZE)))

tiering_select kloc
before=$(page_bytes)
echo online >"$block/state"
tiering_wait 2 has_records $((before + 8 * pages))
after=$(page_bytes)
tiering_check "$pages pages come, and their records ($before bytes to $after)" \
	has_records $((before + 8 * pages))

tiering_set_block "$block" offline
gone=$(page_bytes)
tiering_check "they go with the memory ($gone bytes)" [ "$gone" -le $((after - 8 * pages)) ]
echo online >"$block/state"
sleep 0.5
tiering_control "memory that comes back has more of them" has_records $((after + 1))

tiering_select none
tiering_select kloc
tiering_check "the records are as if the policy were selected now" \
	[ "$(page_bytes)" = "$after" ]
tiering_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Memory that is added while a policy is selected gets records of its pages.

. ./_kloc.sh

kloc_begin 3

tiering_clean() {
	[ -z "$block" ] || echo online 2>/dev/null >"$block/state"
}

page_bytes() {
	cat $tiering/page_bytes
}

has_records() { # BYTES: are there as many at least?
	[ "$(page_bytes)" -ge "$1" ]
}

# Take a block of memory at an end of a node away: the node is smaller then.
tiering_select none
tiering_drop_caches
block=
for node in $slow $fast; do
	blocks=$(ls -d /sys/devices/system/node/node"$node"/memory[0-9]* 2>/dev/null | sort -V)
	[ -n "$blocks" ] || tiering_skip "needs memory hotplug"
	for end in "head -n 1" "tail -n 1"; do
		this=/sys/devices/system/memory/$(basename "$(echo "$blocks" | $end)")
		[ -n "$block" ] || ! echo offline 2>/dev/null >"$this/state" || block=$this
	done
done
[ -n "$block" ] || tiering_skip "no memory at an end of a node can go offline"
pages=$((0x$(cat /sys/devices/system/memory/block_size_bytes) / $(getconf PAGESIZE)))

# The core follows a little later.
tiering_select kloc
before=$(page_bytes)
echo online >"$block/state"
tiering_wait 2 has_records $((before + 8 * pages))
after=$(page_bytes)
tiering_check "$pages pages come, and their records ($before bytes to $after)" \
	has_records $((before + 8 * pages))

echo offline >"$block/state" && echo online >"$block/state"
sleep 0.5
tiering_control "memory that has records gets no more" has_records $((after + 1))

tiering_select none
tiering_select kloc
tiering_check "the records are as if the policy were selected now" \
	[ "$(page_bytes)" = "$after" ]
tiering_end

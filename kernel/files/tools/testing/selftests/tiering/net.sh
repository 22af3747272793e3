#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Under kloc, new data of sockets gets fast memory when it is short, and a page that was used for
# it in slow memory is replaced. Without its need, and for a process with a memory policy, it does
# not.

. ./_tiering.sh

KIB=8192
MESSAGES=200
scale=/proc/sys/vm/watermark_scale_factor

tiering_begin 11
[ -e /proc/net/tcp ] || tiering_skip "needs CONFIG_INET"
for name in kloc-nomigrate kloc-fs; do
	grep -qw $name $tiering/policies || tiering_skip "needs CONFIG_TIERING_CONTROLS"
done
tiering_save $scale

tiering_clean() {
	tiering_fill_end
}

free_of() { # NODE: print how many KiB are free in the nodes of its tier
	local node sum=0

	for node in $(tiering_tier_of "$1"); do
		sum=$((sum + $(tiering_free "$node")))
	done
	echo $sum
}

start() { # ARGUMENT...: start queued; it ends when file 3 is closed
	mkfifo "$dir/input"
	queued "$@" <"$dir/input" >"$dir/printed" &
	queued=$!
	exec 3>"$dir/input"
}

end() { # end it
	exec 3>&-
	wait $queued
	rm "$dir/input" "$dir/printed"
}

has_printed() { # LINES
	[ "$(wc -l <"$dir/printed")" -ge "$1" ]
}

# must_print LINES: wait for them; without them, controls would hold for nothing
must_print() {
	tiering_wait 30 has_printed "$1" && return
	tiering_note "queued has printed no line $1"
	failed=1
}

# is_queued_on NODE ARGUMENT...: is nearly all data that is queued in the tier of the node?
is_queued_on() {
	local node="$1" before taken

	shift
	before=$(free_of "$node")
	start "$1" $KIB $2
	must_print 1
	taken=$((before - $(free_of "$node")))
	end
	tiering_note "$(cat $tiering/policy): $taken of $KIB KiB of $1 on node $node"
	[ $taken -ge $((KIB * 8 / 10)) ]
}

placed() { # print how many pages were placed in fast memory
	tiering_stat socket placed_fast
}

# sends_in_new_pages LINE PAGES: does sending messages again take so many new pages?
sends_in_new_pages() {
	local before

	before=$(placed)
	echo >&3
	must_print "$1"
	tiering_note "$(cat $tiering/policy): $(($(placed) - before)) pages for $MESSAGES messages"
	[ $(($(placed) - before)) -ge "$2" ]
}

# The free memory of each node of fast memory is between the watermarks min and high.
tiering_drop_caches
for node in $(tiering_tier_of "$fast"); do
	tiering_fill "$node" 24576
done
echo 3000 >$scale

before=$(placed)
tiering_control "without a policy, data of TCP is in fast memory" is_queued_on "$fast" tcp
tiering_control "without a policy, data of AF_UNIX is in fast memory" is_queued_on "$fast" unix
start again $MESSAGES
tiering_control "without a policy, messages are counted" sends_in_new_pages 1 1
tiering_check "nothing was placed" [ "$(placed)" = "$before" ]

tiering_select kloc-nomigrate
tiering_check "a page that began in slow memory is replaced" sends_in_new_pages 2 8
# Other traffic, or a late ACK, may take some.
tiering_control "each page in fast memory is replaced" \
	sends_in_new_pages 3 $((MESSAGES * 8 / 4))
end
before=$(placed)
tiering_check "under kloc, data of TCP is in fast memory" is_queued_on "$fast" tcp
tiering_check "under kloc, data of AF_UNIX is in fast memory" is_queued_on "$fast" unix
tiering_check "it is counted" [ $((($(placed) - before) * 4)) -ge $((2 * KIB * 8 / 10)) ]
tiering_control "memory policies are ignored" is_queued_on "$fast" tcp "$slow"
tiering_select kloc-fs
tiering_control "under kloc-fs, data of TCP is in fast memory" is_queued_on "$fast" tcp
tiering_end

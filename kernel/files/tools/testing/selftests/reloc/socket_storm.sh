#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Sockets move to slow memory and back while processes are killed that send, sockets are in flight
# that nobody takes, hundreds of connections are made and reset at once, and network namespaces
# come and go with all of them. All that comes is right, and the kernel reports nothing.
# RELOC_SECONDS is how long.

. ./_reloc.sh

seconds=${RELOC_SECONDS:-20}
sockets="TCP TCPv6 sock_inode_cache"
users=$(seq $(($(nproc) + 1)))

have_rounds() { # COUNT: has each user done so many?
	local user

	for user in $users; do
		[ "$(cat "$dir/storm-$user")" -ge "$1" ] || return 1
	done
}

all_end_well() {
	local process

	rm "$dir"/storm-*
	for process in $processes; do
		wait "$process" || return 1
	done
}

is_right_with() { # WRONG: does the program find nothing wrong?
	local process

	echo 0 >"$dir/storm-wrong"
	socket_storm "$dir/storm-wrong" "$1" 2>/dev/null &
	process=$!
	for _ in $(seq 300); do
		kill -0 $process 2>/dev/null || break
		sleep 0.1
	done
	rm "$dir/storm-wrong"
	wait $process
}

reloc_begin 7
[ -e /proc/self/ns/net ] || tiering_skip "needs CONFIG_NET_NS"
reloc_need $sockets
reported=$(reloc_reports)
processes=
for user in $users; do
	echo 0 >"$dir/storm-$user"
	socket_storm "$dir/storm-$user" 2>>"$dir/wrong" &
	processes="$processes $!"
done
tiering_check "sockets move to and fro in the storm" reloc_move_for "$seconds" 1000
tiering_check "the storm goes on" tiering_wait 30 have_rounds 2
tiering_note "$(cat "$dir"/storm-* | tr '\n' ' ')rounds"
tiering_check "all that came was right" all_end_well
[ ! -s "$dir/wrong" ] || tiering_note "$(cat "$dir/wrong")"
tiering_check "the kernel reports nothing" [ "$(reloc_reports)" = "$reported" ]
for kind in tcp unix storm; do
	tiering_control "what came is right if what was sent is not ($kind)" is_right_with $kind
done
tiering_end

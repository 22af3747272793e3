#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The sockets of 2,000 TCP connections, with their inodes, files and items of epoll, move to slow
# memory and back while all of them are in use, and while some are closed and made again. All
# replies are right, and the kernel reports nothing. Data of sockets cannot be moved.
# RELOC_SECONDS is how long.

. ./_reloc.sh

count=2000
seconds=${RELOC_SECONDS:-20}
sockets="TCP TCPv6 sock_inode_cache filp eventpoll_epi eventpoll_pwq"

rounds() { # print how many rounds the connections have been used
	cat "$dir/busy"
}

have_rounds() { # COUNT
	[ "$(rounds)" -ge "$1" ]
}

are_on() { # CACHE NODE OTHER: are most pages on a node? Newer ones may not be.
	tiering_note "$1: $(reloc_pages "$1" "$2") pages on node $2, $(reloc_pages "$1" "$3") on $3"
	[ $(($(reloc_pages "$1" "$2"))) -gt $(($(reloc_pages "$1" "$3") * 3)) ]
}

all_are_on() { # NODE OTHER
	local cache

	for cache in $caches; do
		are_on "$cache" "$1" "$2" || return 1
	done
}

can_move() { # CACHE
	sh -c 'echo "$0 $1" >$2' "$1" "$slow" $reloc/move 2>/dev/null
}

reloc_begin 9
reloc_need $sockets
reported=$(reloc_reports)
echo 0 >"$dir/busy"
connections $count "$dir/busy" 2>"$dir/wrong" &
user=$!
tiering_check "all connections are used" tiering_wait 30 have_rounds 1
tiering_check "sockets are in the arena" \
	[ "$(($(reloc_pages TCP "$fast") + $(reloc_pages TCPv6 "$fast")))" -gt 1500 ]
reloc_move_all "$slow"
tiering_check "they move to slow memory" all_are_on "$slow" "$fast"
tiering_check "they move to and fro while they are in use" reloc_move_for "$seconds" 10000
begin=$(rounds)
tiering_check "the connections are still used" tiering_wait 30 have_rounds $((begin + 1))
rm "$dir/busy"
wait $user
tiering_check "all replies were right" [ $? = 0 ]
[ ! -s "$dir/wrong" ] || tiering_note "$(cat "$dir/wrong")"
tiering_check "the kernel reports nothing" [ "$(reloc_reports)" = "$reported" ]

echo 0 >"$dir/busy"
tiering_control "a wrong reply is found" connections 8 "$dir/busy" wrong
tiering_control "data of sockets move" can_move skbuff_small_head
tiering_end

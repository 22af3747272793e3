#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Policies can be switched under load, again and again, while statistics are read.

. ./_tiering.sh

tiering_begin 4

load() { # write, read and remove files
	local i=0

	while [ -e "$dir/load" ]; do
		i=$((i + 1))
		head -c 4000000 /dev/urandom >"$dir/$1.$i"
		cat "$dir/$1.$i" "$dir/$1.$i" >/dev/null
		rm "$dir/$1.$((i - 3))" 2>/dev/null
	done
}

read_all() { # read everything that there is to be read
	while [ -e "$dir/load" ]; do
		cat $tiering/stats/*/* $tiering/page_bytes /sys/kernel/mm/kloc/knodes \
			/sys/kernel/debug/kloc/contexts >/dev/null
	done
}

warnings() {
	dmesg | grep -cE 'BUG:|WARNING:|Oops|INFO: task .* blocked'
}

storm() { # ROUNDS
	local left="$1" name

	while [ "$left" -gt 0 ]; do
		for name in $(cat $tiering/policies); do
			tiering_select "$name" && tiering_is "$name" || return 1
		done
		left=$((left - 1))
	done
}

head -c 20000000 /dev/urandom >"$dir/kept"
sum=$(md5sum <"$dir/kept")
before=$(warnings)
touch "$dir/load"
load a &
load b &
read_all &
tiering_check "policies are switched 150 times under load" storm 15
rm "$dir/load"
wait
tiering_check "nothing is said in the log" [ "$(warnings)" = "$before" ]
tiering_check "cached files are as before" [ "$(md5sum <"$dir/kept")" = "$sum" ]
tiering_select none
tiering_control "no context is left without a policy" \
	[ "$(cat /sys/kernel/mm/kloc/knodes)" -gt 0 ]
tiering_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Memory whose visits are counted survives what programs and the kernel do to it: exec, pins, direct
# I/O, other processes that access it, KSM, swap, userfaultfd, debuggers, profiles, and changes of
# a part of its mapping. NUMA balancing may scan it meanwhile, in each of its modes.

. ./_tiering.sh

options="exec pins direct remote ksm swap uffd ptrace perf lost"
modes="1 2"
also="pins remote uffd"
tiering_begin 35
ksm=/sys/kernel/mm/ksm
tiering_save $ksm/run $ksm/sleep_millisecs $ksm/pages_to_scan
tiering_log_begin "closed $$"
swap= program= found=0
# A period is 8 scans of 5 ms. All memory is cold enough, and counted for ever.
tiering_thermostat 5000 8 10000 10

tiering_clean() {
	[ -z "$program" ] || kill $program 2>/dev/null
	[ -z "$swap" ] || swapoff $swap
	[ -z "$swap" ] || echo 1 >/sys/block/${swap#/dev/}/reset
}

skip() { # COUNT REASON: results of an option that the kernel does not have
	local i

	for i in $(seq "$1"); do
		number=$((number + 1))
		echo "ok $number # SKIP $2"
	done
}

begin_swap() {
	[ -e /sys/block/zram0 ] || return
	[ "$(cat /sys/block/zram0/disksize)" = 0 ] || return
	echo 64M >/sys/block/zram0/disksize && mkswap -q /dev/zram0 &&
		swapon /dev/zram0 && swap=/dev/zram0
}

run() { # OPTION: run the program; $text is its result, $closed the most that was closed meanwhile
	status=0
	closed "$1" 3 16 >"$dir/out" 2>"$dir/error" &
	program=$!
	for i in 1 2 3 4 5 6; do
		sleep 0.4
		kill -USR1 $program 2>/dev/null
	done
	wait $program || status=$?
	program=
	closed=$(sed -n 's/^closed=\([0-9]*\) .*/\1/p' "$dir/out" | sort -n |
		tail -n 1)
	text=$(tail -n 1 "$dir/out")
	tiering_note "$1: $(cat "$dir/error") closed $closed $text"
}

check() { # OPTION: two results
	run "$1"
	if [ $status = $ksft_skip ]; then
		skip 2 "$(cat "$dir/error")"
		return
	fi
	[ "${closed:-0}" -eq 0 ] || found=$((found + 1))
	tiering_check "$1: it was done" tiering_is_of seen -gt 0
	tiering_check "$1: the contents are as before" tiering_is_of intact -eq 1
}

run nothing
tiering_control "entries are closed without the policy" [ "${closed:-1}" -gt 0 ]
tiering_select thermostat
begin_swap
for option in $options; do
	case $option in
	ksm)
		echo 10 >$ksm/sleep_millisecs
		echo 4000 >$ksm/pages_to_scan
		echo 1 >$ksm/run
		;;
	swap)
		if [ -z "$swap" ]; then
			skip 2 "no swap in zram"
			continue
		fi
		;;
	esac
	check $option
	[ $option != ksm ] || echo 2 >$ksm/run
done
# Looking for them a few times may miss them.
tiering_check "entries were closed with most of these ($found)" [ $found -ge 5 ]
for mode in $modes; do
	echo "$mode" >/proc/sys/kernel/numa_balancing
	for option in $also; do
		run "$option"
		tiering_check "$option with NUMA balancing $mode: it was done" \
			tiering_is_of seen -gt 0
		tiering_check "$option with NUMA balancing $mode: the contents are as before" \
			tiering_is_of intact -eq 1
	done
done
tiering_check "nothing is in the log" tiering_log_is_clean
tiering_end

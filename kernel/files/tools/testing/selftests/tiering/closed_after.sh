#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# No entry of a page table stays closed after a policy that counts visits: not of memory whose
# mapping has changed, and not if the mapping was locked as the policy ended. A program that reads
# all of its memory finds out, as each closed entry is a fault.

. ./_tiering.sh

options="nothing lost busy"
tiering_begin 10
tiering_log_begin "closed_after $$"
# A period is 8 scans of 5 ms. All memory is cold enough, and counted for ever.
tiering_thermostat 5000 8 10000 10

tiering_clean() {
	[ -z "$program" ] || kill $program 2>/dev/null
}

# walk RELATION NUMBER: have the program read all of its memory, and compare how much was closed
walk() {
	local lines

	lines=$(grep -c closed= "$dir/out")
	kill -USR1 $program
	tiering_wait 10 walked "$lines" || return 1
	text=$(grep closed= "$dir/out" | tail -n 1)
	tiering_note "$option: $text"
	tiering_is_of closed "$@"
}

walked() { # LINES: are there more lines by now?
	[ "$(grep -c closed= "$dir/out")" -gt "$1" ]
}

faults() {
	awk '$1 == "numa_hint_faults" { print $2 }' /proc/vmstat
}

for option in $options; do
	closed $option 600 16 >"$dir/out" &
	program=$!
	tiering_select thermostat
	tiering_check "$option: entries are closed with the policy" tiering_wait 30 walk -gt 0
	# They are closed again.
	sleep 1
	tiering_select none
	before=$(faults)
	tiering_check "$option: nothing is closed after it" walk -eq 0
	hints=$(($(faults) - before))
	tiering_control "$option: there are hint faults after it ($hints)" [ $hints -gt 0 ]
	kill $program
	wait $program
	program=
done
tiering_check "nothing is in the log" tiering_log_is_clean
tiering_end

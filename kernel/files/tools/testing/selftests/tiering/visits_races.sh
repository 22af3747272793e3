#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Memory whose visits are counted survives forks, changes of its mapping, and system calls that
# write to it. Nothing stays closed after the policy.

. ./_tiering.sh

options="fork mprotect mremap munmap read"
tiering_begin 12
thermostat=$tiering/thermostat
[ -e $thermostat ] || tiering_skip "needs the policy thermostat"
tiering_save $thermostat/slowdown_bp $thermostat/rounds $thermostat/sample_percent
tiering_log_begin "visits_races $$"
echo 2000 >$tiering/scan_us
echo 8 >$thermostat/rounds
echo 100 >$thermostat/sample_percent
echo 300 >$thermostat/slowdown_bp

tiering_clean() {
	[ -z "$program" ] || kill $program 2>/dev/null
}

tiering_select thermostat
for option in $options; do
	text=$(visits $option 3 8 8 1000 | tail -n 1)
	tiering_check "$option: the contents are as before" tiering_is_of intact -eq 1
done

# The program changes while the policy comes and goes.
for option in mprotect munmap; do
	visits $option 5 8 8 1000 >"$dir/out" &
	program=$!
	while kill -0 $program 2>/dev/null; do
		tiering_select none
		tiering_select thermostat
		sleep 0.05
	done
	wait $program
	text=$(tail -n 1 "$dir/out")
	tiering_check "$option and switches: the contents are as before" tiering_is_of intact -eq 1
done
program=

faults() {
	awk '$1 == "numa_hint_faults" { print $2 }' /proc/vmstat
}

# Without NUMA balancing, only what a watch has closed is a hint fault.
left() { # whether the program has hint faults after the policy
	local before

	before=$(faults)
	sleep 1
	tiering_note "$(($(faults) - before)) hint faults"
	[ $(($(faults) - before)) -gt 0 ]
}

tiering_select thermostat
visits base 600 8 8 100000 >"$dir/out" &
program=$!
sleep 2
tiering_select none
sleep 1
tiering_control "entries stay closed after the policy" left
echo 1 >/proc/sys/kernel/numa_balancing
tiering_check "NUMA balancing has hint faults" tiering_wait 10 left
echo 0 >/proc/sys/kernel/numa_balancing
tiering_select thermostat
echo 1 >/proc/sys/kernel/numa_balancing
sleep 3
tiering_check "the program runs with both" kill -0 $program
echo 0 >/proc/sys/kernel/numa_balancing
kill $program
wait $program
program=
text=$(tail -n 1 "$dir/out")
tiering_check "the contents are as before" tiering_is_of intact -eq 1
tiering_check "nothing is in the log" tiering_log_is_clean
tiering_end

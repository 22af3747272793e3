#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# thermostat keeps what is visited often in fast memory, and as much of the rest in slow memory as
# the bound allows. The bound can change while a program runs.

. ./_tiering.sh

tiering_begin 19
counts=/sys/kernel/debug/tiering/thermostat

# A period is 16 scans of 20 ms, and looks at all memory.
tiering_thermostat 20000 16 300 1000

# begin OPTION HOT COLD RATE: start the program
begin() {
	local option="$1"

	shift
	visits "$option" 600 "$@" >"$dir/out" &
	program=$!
}

# is FIELD RELATION NUMBER: compare a field of the program's last line
is() {
	text=$(grep start= "$dir/out" | tail -n 1)
	[ -n "$text" ] && tiering_is_of "$@"
}

finish() { # end the program; $text is its result
	kill $program
	wait $program
	program=
	text=$(tail -n 1 "$dir/out")
}

tiering_clean() {
	[ -z "$program" ] || kill $program 2>/dev/null
}

tiering_select naive
begin huge 8 32 0
sleep 2
tiering_control "naive moves cold memory" is cold_left -gt 0
finish

tiering_select thermostat
for size in huge base; do
	begin $size 8 32 0
	tiering_check "$size pages: cold memory leaves" tiering_wait 30 is cold_left -ge 7680
	tiering_check "$size pages: hot memory stays" tiering_wait 10 is hot_left -le 64
	[ $size = base ] ||
		tiering_check "hot memory is huge pages" tiering_wait 10 is huge -ge 2048
	finish
	tiering_check "$size pages: the contents are as before" tiering_is_of intact -eq 1
done

most() { # FIELD: print the largest number of a field so far
	tr ' ' '\n' <"$dir/out" | sed -n "s/^$1=//p" | sort -n | tail -n 1
}

# Half of each hot region is in slow memory already, and is found there. It is in use when the
# policy comes: before, it would be cold.
tiering_select none
taskset -c "$(cat /sys/devices/system/node/node"$fast"/cpulist)" \
	visits mixed 600 8 2 0 "$slow" >"$dir/out" &
program=$!
tiering_wait 30 is hot_left -ge 960
tiering_select thermostat
tiering_check "hot memory comes from slow memory" tiering_wait 30 is hot_left -le 64
finish
left=$(most hot_left)
tiering_check "most of the rest stays in fast memory ($left of 2048)" [ "$left" -le 1536 ]

# rate_is LEAST MOST: compare the sum of the rates of regions in slow memory
rate_is() {
	local rate

	rate=$(awk '$1 == "cold" { sum += $4 } END { print sum + 0 }' $counts)
	tiering_note "rate $rate"
	[ "$rate" -ge "$1" ] && [ "$rate" -le "$2" ]
}

# 2,000 visits a second cost 0.2 % of a processor.
begin huge 8 16 2000
tiering_check "memory with few visits leaves" tiering_wait 30 is cold_left -ge 3584
tiering_check "its rate is known within a factor of 2" tiering_wait 10 rate_is 1000 4000
finish

# 200,000 visits a second cost 20 %, of which 3 % are allowed.
begin huge 8 16 200000
sleep 3
tiering_control "memory with many visits leaves" is cold_left -ge 2048
echo 10000 >$thermostat/slowdown_bp
tiering_check "it leaves if the bound is higher" tiering_wait 30 is cold_left -ge 3072
echo 0 >$thermostat/slowdown_bp
tiering_check "it comes back if the bound is 0" tiering_wait 30 is cold_left -le 64
tiering_check "it is huge pages again" tiering_wait 30 is huge -ge 5632
# A bound that is not reached, however long the host lets the program wait.
echo 10000 >$thermostat/slowdown_bp
echo 10 >$thermostat/visit_ns
tiering_check "it leaves again" tiering_wait 30 is cold_left -ge 3072
tiering_select none
sleep 1
tiering_check "without the policy it stays there" is cold_left -ge 3072
finish
tiering_check "the contents are as before" tiering_is_of intact -eq 1
tiering_end

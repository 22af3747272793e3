#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A cgroup can have a bound of its own under thermostat. It is for the memory of the cgroup and of
# those below it, for nobody else's, and it can change while programs run.

. ./_tiering.sh

tiering_begin 17
tiering_group thermostat-one memory
tiering_group thermostat-two memory
one=$groups/thermostat-one
two=$groups/thermostat-two
mkdir "$one/below"

# Programs write whether their memory is intact before they end.
end_programs() {
	kill $(cat "$one/below/cgroup.procs" "$two/cgroup.procs") 2>/dev/null
	tiering_wait 30 are_empty
}

are_empty() { # are there no processes in the cgroups?
	[ -z "$(cat "$one/below/cgroup.procs" "$two/cgroup.procs")" ]
}

are_intact() {
	grep -q intact=1 "$dir/below" && grep -q intact=1 "$dir/thermostat-two"
}

tiering_clean() {
	end_programs
	rmdir "$one/below" "$one" "$two" 2>/dev/null
}

# begin GROUP: start a program that visits 16 MiB 200,000 times a second, which costs 2 %
begin() {
	tiering_in_group "$1" visits huge 600 8 16 200000 >"$dir/$(basename "$1")" &
}

# is GROUP FIELD RELATION NUMBER: compare a field of the program's last line
is() {
	text=$(grep start= "$dir/$1" | tail -n 1)
	shift
	[ -n "$text" ] && tiering_is_of "$@"
}

# stat_is GROUP FIELD RELATION NUMBER: compare a line of the statistics of a cgroup
stat_is() {
	local value

	value=$(awk -v name="$2" '$1 == name { print $2 }' "$1/memory.tiering.stat")
	tiering_note "$2 $value"
	[ "$value" "$3" "$4" ]
}

set_bound() { # GROUP VALUE
	sh -c 'echo "$0" >"$1"' "$2" "$1/memory.tiering.slowdown" 2>/dev/null
}

bound_is() { # GROUP VALUE
	[ "$(cat "$1/memory.tiering.slowdown")" = "$2" ]
}

# A period is 16 scans of 20 ms. No region takes more than its part of a budget, however many
# regions the node has: such a region would stay without a closer look.
tiering_thermostat 20000 16 0 100

tiering_check "a new cgroup has no bound" bound_is "$one" default
tiering_check "a bound has two digits after the point" set_bound "$one" 2.5
tiering_check "it is shown in percent" bound_is "$one" 2.50
tiering_control "a bound can be above 100 %" set_bound "$one" 100.01
tiering_control "a bound can be a word" set_bound "$one" max
tiering_check "what was refused has changed nothing" bound_is "$one" 2.50

set_bound "$one" 100
tiering_select thermostat
begin thermostat-one/below
begin thermostat-two
tiering_check "memory below a cgroup with a bound leaves" \
	tiering_wait 30 is below cold_left -ge 3072
tiering_control "memory of another cgroup leaves" is thermostat-two cold_left -ge 64
tiering_check "it is in the statistics of the cgroup" \
	tiering_wait 10 stat_is "$one" cold -ge 12582912
tiering_check "it costs something" tiering_wait 10 stat_is "$one" cost_ns -gt 0
tiering_control "another cgroup has statistics" stat_is "$two" cold -gt 0

set_bound "$one" 0
set_bound "$two" 100
tiering_check "it comes back if the bound is 0" tiering_wait 30 is below cold_left -le 64
tiering_check "the other's leaves if it has a bound" \
	tiering_wait 30 is thermostat-two cold_left -ge 3072
set_bound "$two" default
tiering_check "without a bound, that of the machine holds" \
	tiering_wait 30 is thermostat-two cold_left -le 64

set_bound "$two" 100
end_programs
tiering_check "the contents are as before" are_intact
tiering_check "cgroups with a bound can be removed" rmdir "$one/below" "$one" "$two"
sleep 1
tiering_check "the policy can be switched off" tiering_select none
tiering_end

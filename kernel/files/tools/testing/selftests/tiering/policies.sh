#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Each listed policy can be selected by its name, and no other name is accepted.

. ./_tiering.sh

policies="none naive dram-first remote-first migration-only kloc kloc-nomigrate kloc-random"
policies="$policies kloc-allactive kloc-cap kloc-flat kloc-fs kloc-noprefetch"
[ ! -e /proc/sys/kernel/numa_balancing ] || policies="$policies autotiering-cpm autotiering-opm \
autotiering-opm-bd autotiering-opm-x autotiering-random"

tiering_begin 5

is_listed() {
	tr ' ' '\n' <$tiering/policies | grep -qx "$1"
}

all_are_listed() {
	local name

	for name in $policies; do
		is_listed "$name" || return 1
	done
}

all_can_be_selected() {
	local name

	for name in $(cat $tiering/policies); do
		tiering_select "$name" && tiering_is "$name" || return 1
	done
}

tiering_check "all policies are listed" all_are_listed
tiering_check "each listed policy can be selected" all_can_be_selected
tiering_select dram-first
tiering_control "no other name can be selected" tiering_select dram-firs
tiering_control "a name with trailing text can be selected" tiering_select "dram-first kloc"
tiering_check "an unknown name changes nothing" tiering_is dram-first
tiering_end

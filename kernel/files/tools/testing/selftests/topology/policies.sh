#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# On any machine with tiers, each policy can be selected, files keep their contents under it, and
# demoted pages go to lower tiers.

. ./_topology.sh

tiering_begin 7
tiering_save $scale

sums() {
	cat "$dir"/of* | md5sum
}

# Write a file on a CPU of each node, with and without memory.
write_and_read() {
	local node sum

	for node in $(topology_nodes has_cpu); do
		topology_on "$node" head -c 1048576 /dev/urandom >"$dir/of$node"
	done
	sum=$(sums)
	tiering_drop_caches
	[ "$(sums)" = "$sum" ]
}

under_all() {
	local name

	for name in $(cat $tiering/policies); do
		tiering_select "$name" && tiering_is "$name" && write_and_read || return 1
	done
	tiering_select none
}

demotes() { # POLICY SECONDS: are pages demoted that soon?
	topology_cold "$1"
	tiering_wait "$2" topology_have_left 1024
	tiering_note "$1: $(topology_came) pages came to lower tiers," \
		"$(topology_moved) were moved"
	topology_have_left 1024
}

tiering_check "files keep their contents under each policy" under_all
tiering_check "no policy is left" tiering_is none

topology_make_cold
sum=$(md5sum <"$dir/cold")
tiering_control "under naive, pages come to lower tiers" demotes naive 3
for policy in migration-only kloc; do
	tiering_check "under $policy, pages come to lower tiers" demotes $policy 20
	tiering_check "their contents are as before" [ "$(md5sum <"$dir/cold")" = "$sum" ]
done
tiering_end

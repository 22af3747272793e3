#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Demotion uses all nodes of a lower tier that are equally near: both get pages, and when one is
# full, all pages go to the other.

. ./_topology.sh

topology_begin 6 two_slow
set -- $(tiering_tier_of "$slow")

both_get_pages() {
	[ $(($(topology_files "$1") - first)) -ge 4096 ] &&
		[ $(($(topology_files "$2") - second)) -ge 4096 ]
}

fills_both() { # POLICY NODE OTHER
	topology_cold "$1"
	first=$(topology_files "$2")
	second=$(topology_files "$3")
	tiering_wait 60 topology_have_left 4096
	tiering_note "$1: $(($(topology_files "$2") - first)) KiB came to node $2," \
		"$(($(topology_files "$3") - second)) KiB to node $3"
	tiering_wait 20 both_get_pages "$2" "$3"
}

goes_on() { # POLICY SECONDS: are pages demoted that soon?
	topology_cold "$1"
	tiering_wait "$2" topology_have_left 4096
	tiering_note "$1: $(topology_moved) pages were moved"
	topology_have_left 4096
}

topology_make_cold
sum=$(md5sum <"$dir/cold")
tiering_check "both nodes get pages (migration-only)" fills_both migration-only "$@"
tiering_check "both nodes get pages (kloc)" fills_both kloc "$@"
for node; do
	tiering_select none
	tiering_drop_caches
	topology_fill "$node" 4
	tiering_check "node $node is full, and pages are demoted" goes_on migration-only 60
	[ "$node" != "$1" ] || topology_empty "$node"
done
tiering_drop_caches
topology_fill "$1" 4
tiering_control "both are full, and pages are demoted" goes_on migration-only 2
tiering_check "the contents are as before" [ "$(md5sum <"$dir/cold")" = "$sum" ]
tiering_end

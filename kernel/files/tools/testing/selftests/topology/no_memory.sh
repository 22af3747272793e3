#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Tasks on CPUs of a node without memory get memory of the nearest nodes.

. ./_topology.sh

topology_begin 4 no_memory
for here in $(topology_nodes has_cpu); do
	topology_nodes has_memory | grep -qx "$here" || break
done

write_file() {
	topology_on "$here" head -c 16777216 /dev/zero >"$dir/file"
}

takes() { # POLICY NODE: does new page cache under the policy come from the node?
	tiering_select "$1"
	rm -f "$dir/file"
	tiering_drop_caches
	tiering_grows "$2" 12 write_file
}

in_slow() {
	[ "$(kloc_context "$dir/used" slow)" -gt 0 ]
}

read_again() { # until nearly all is promoted
	topology_on "$here" cat "$dir/used" >/dev/null
	[ "$(kloc_context "$dir/used" slow)" -lt 256 ]
}

tiering_check "dram-first: from fast memory" takes dram-first "$fast"
tiering_control "dram-first: from slow memory" takes dram-first "$slow"
tiering_check "remote-first: from slow memory" takes remote-first "$slow"

tiering_select kloc
head -c 8388608 /dev/zero >"$dir/used"
kloc_read_slow "$dir/used"
echo 300000 >$tiering/scan_us
tiering_check "kloc: used pages are promoted" tiering_wait 20 read_again
tiering_end

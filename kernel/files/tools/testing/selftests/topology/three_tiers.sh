#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# On a machine with a tier above that of the CPUs, page cache begins in the tier of the CPUs, and is
# promoted to it. Faster memory is for applications that ask for it.

. ./_topology.sh

topology_begin 7 three_tiers
fastest=$(tiering_highest)

write_file() {
	head -c 16777216 /dev/zero >"$dir/file"
}

takes() { # POLICY NODE: does new page cache under the policy come from the node?
	tiering_select "$1"
	rm -f "$dir/file"
	tiering_drop_caches
	tiering_grows "$2" 12 write_file
}

read_again() { # until nearly all is promoted
	cat "$dir/used" >/dev/null
	[ "$(kloc_context "$dir/used" slow)" -lt 256 ]
}

for policy in dram-first kloc; do
	tiering_check "$policy: page cache is in the tier of the CPUs" takes $policy "$fast"
	tiering_control "$policy: page cache is in faster memory" takes $policy "$fastest"
done

tiering_select kloc
head -c 8388608 /dev/urandom >"$dir/used"
sum=$(md5sum <"$dir/used")
kloc_read_slow "$dir/used"
# Scans are longer than a read, so that a read is a use in one scan only.
echo 300000 >$tiering/scan_us
own=$(topology_files "$fast")
above=$(topology_files "$fastest")
tiering_check "used pages are promoted" tiering_wait 20 read_again
own=$(($(topology_files "$fast") - own))
above=$(($(topology_files "$fastest") - above))
tiering_check "to the tier of the CPUs ($own KiB there, $above KiB in faster memory)" \
	[ $own -gt $((above + 4096)) ]
tiering_check "its contents are as before" [ "$(md5sum <"$dir/used")" = "$sum" ]
tiering_end

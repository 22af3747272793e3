# SPDX-License-Identifier: GPL-2.0
#
# Functions of the selftests of machines with other topologies, in addition to _kloc.sh.
# tiering_begin sets $fast and $slow.

. ../kloc/_kloc.sh

# The programs are those of kloc's tests.
PATH=$PATH:../kloc
nodes=/sys/devices/system/node
shapes="two_slow three_tiers no_memory gap two_zones movable"

topology_list() { # LIST: print the numbers in a list such as 0,2-3, a line each
	local range

	for range in $(echo "$1" | tr , ' '); do
		seq "${range%-*}" "${range#*-}"
	done
}

topology_nodes() { # STATE: print the nodes that have it
	topology_list "$(cat $nodes/"$1")"
}

# topology_pages NODE ZONE FIELD: print how many pages of a zone are managed, or free
topology_pages() {
	awk -v node="$1," -v zone="$2" -v field="$3" '
		/^Node/ { this = $2; at = $4; next }
		this != node || at != zone { next }
		$1 == field || $1 == "pages" && $2 == field { print $NF; found = 1 }
		END { if (!found) print 0 }' /proc/zoneinfo
}

# topology_below NODE: print the nodes of lower tiers
topology_below() {
	local tier below=

	for tier in $(tiering_tiers); do
		[ -z "$below" ] || tiering_tier_of "$tier"
		[ "$(tiering_tier_of "$tier")" != "$(tiering_tier_of "$1")" ] || below=1
	done
}

topology_distance() { # NODE OTHER
	local index=0 other

	for other in $(topology_nodes online); do
		index=$((index + 1))
		[ "$other" != "$2" ] || cut -d ' ' -f $index $nodes/node"$1"/distance
	done
}

# Are there two nodes in the lowest tier, equally near to $fast?
topology_is_two_slow() {
	set -- $(tiering_tier_of "$slow")
	[ $# = 2 ] && [ "$(topology_distance "$fast" "$1")" = "$(topology_distance "$fast" "$2")" ]
}

# Are there three tiers, and no CPUs in the highest one?
topology_is_three_tiers() {
	[ "$(tiering_tiers | wc -l)" = 3 ] && [ "$(tiering_highest)" != "$fast" ]
}

# Has a node CPUs and no memory?
topology_is_no_memory() {
	local node

	for node in $(topology_nodes has_cpu); do
		topology_nodes has_memory | grep -qx "$node" || return 0
	done
	return 1
}

# Are node numbers left out?
topology_is_gap() {
	[ "$(topology_nodes online | tail -n 1)" -ge "$(topology_nodes online | wc -l)" ]
}

# Has $fast two zones, besides the DMA zone?
topology_is_two_zones() {
	[ "$(topology_pages "$fast" DMA32 managed)" -gt 0 ] &&
		[ "$(topology_pages "$fast" Normal managed)" -gt 0 ]
}

# Test whether nearly all memory of $slow is in ZONE_MOVABLE.
topology_is_movable() {
	local other

	other=$(($(topology_pages "$slow" DMA32 free) + $(topology_pages "$slow" Normal free)))
	[ "$(topology_pages "$slow" Movable free)" -gt $((8 * other)) ]
}

# topology_begin COUNT SHAPE: begin a test that needs such a machine
topology_begin() {
	tiering_begin "$1"
	tiering_save $scale
	topology_is_"$2" || tiering_skip "needs a machine of the shape $2"
}

# topology_fill NODE MIB: fill a node except for MIB MiB, until the test ends
#
# Unused huge pages are neither moved nor reclaimed.
topology_fill() {
	local try huge=$nodes/node"$1"/hugepages/hugepages-2048kB/nr_hugepages

	[ -w "$huge" ] || tiering_skip "needs huge pages of 2 MiB"
	tiering_save "$huge"
	# They are allocated down to the low watermark at most.
	echo 10 >$scale
	# Free memory in small pieces takes more than one try.
	for try in 1 2 3 4 5; do
		[ $(($(tiering_free "$1") / 1024)) -ge $(($2 + 2)) ] || break
		echo 1 >/proc/sys/vm/compact_memory
		# The kernel tries for long to find the last ones, and stops at a signal.
		timeout 20 sh -c 'echo "$0" >"$1"' \
			$(($(cat "$huge") + ($(tiering_free "$1") / 1024 - $2) / 2)) "$huge"
	done
}

topology_empty() { # NODE: have all of it free again before that
	echo 0 >$nodes/node"$1"/hugepages/hugepages-2048kB/nr_hugepages
}

# topology_files NODE...: print how many KiB of page cache the nodes have
topology_files() {
	local node

	for node; do
		cat $nodes/node"$node"/meminfo
	done | awk '$3 == "FilePages:" { sum += $4 } END { print sum + 0 }'
}

topology_on() { # NODE COMMAND...: run a command on the CPUs of a node
	local node="$1"

	shift
	taskset -c "$(cat $nodes/node"$node"/cpulist)" "$@"
}

# topology_make_cold: make a file of 24 MiB, have little more than its size free of $fast
topology_make_cold() {
	tiering_drop_caches
	topology_fill "$fast" 56
	head -c 25165824 /dev/urandom >"$dir/cold"
	sync
	echo 100000 >$tiering/scan_us
}

# Have some scans found the file of topology_make_cold closed and unused?
topology_is_cold() {
	! kloc_is_active "$dir/cold" && [ "$(kloc_context "$dir/cold" age)" -gt 3 ]
}

# topology_cold POLICY: under the policy, have kswapd demote the file of topology_make_cold
#
# The whole file is in $fast, which is below its watermark. Under kloc its context is cold before:
# until then kswapd evicts its pages, as it does without a policy.
topology_cold() {
	echo 10 >$scale
	tiering_select none
	tiering_drop_caches
	tiering_select "$1"
	on_node "$fast" cat "$dir/cold" >/dev/null
	[ "$1" != kloc ] || tiering_wait 30 topology_is_cold
	below=$(topology_below "$fast")
	before=$(topology_files $below)
	moved=$(tiering_moved)
	echo 3000 >$scale
}

topology_came() { # print how many pages of page cache have come to lower tiers since then
	echo $((($(topology_files $below) - before) / 4))
}

topology_moved() { # print how many were moved since then
	echo $(($(tiering_moved) - moved))
}

# topology_have_left PAGES: have so many left? Have somebody take a page, who wakes kswapd.
#
# Page cache comes to lower tiers without being moved, too, when fast memory is short.
topology_have_left() {
	on_node "$fast" head -c 65536 /dev/zero >"$dir/little"
	[ "$(topology_moved)" -ge "$1" ] && [ "$(topology_came)" -ge "$1" ]
}

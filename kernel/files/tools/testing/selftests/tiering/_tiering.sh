# SPDX-License-Identifier: GPL-2.0
#
# Functions of the selftests of the policies of memory tiers. Each test sources this file and
# calls tiering_begin.
#
# A test restores all settings and removes its files when it exits. Its files are in a new
# directory in $TMPDIR, which should be on a disk.

ksft_skip=4
tiering=/sys/kernel/mm/tiering
saved=
number=0
failed=0
PATH=$PATH:.

tiering_skip() { # REASON: end the test as skipped
	echo "1..0 # SKIP $*"
	exit $ksft_skip
}

tiering_note() { # TEXT: print a line that is no result
	echo "# $*"
}

# tiering_check DESCRIPTION COMMAND...: print whether the command succeeds as one result
tiering_check() {
	local description="$1"

	shift
	number=$((number + 1))
	if "$@"; then
		echo "ok $number $description"
	else
		echo "not ok $number $description"
		failed=1
	fi
}

# tiering_control DESCRIPTION COMMAND...: negative control, the command must fail
tiering_control() {
	local description="$1"

	shift
	tiering_check "control: $description" tiering_fails "$@"
}

tiering_fails() {
	! "$@"
}

tiering_end() { # print nothing more, and exit: 1 if a result was not ok
	exit $failed
}

tiering_save() { # FILE...: restore the contents of the files at the end
	local file

	for file; do
		if [ -w "$file" ]; then
			saved="$file $(cat "$file")
$saved"
		fi
	done
}

tiering_cleanup() {
	trap '' EXIT
	tiering_clean
	echo "$saved" | while read -r file value; do
		[ -z "$file" ] || echo "$value" >"$file" 2>/dev/null
	done
	rm -rf "$dir"
}

tiering_clean() { # for tests that have more to undo
	:
}

# tiering_begin COUNT: begin a test with COUNT results, with no policy
tiering_begin() {
	tiering_prepare
	tiering_select naive || tiering_skip "needs two memory tiers"
	tiering_select none
	slow=$(tiering_lowest)
	fast=$(tiering_fastest)
	echo "TAP version 13"
	echo "1..$1"
}

tiering_prepare() { # the part of tiering_begin that needs no tiers
	[ "$(id -u)" = 0 ] || tiering_skip "needs root"
	[ -e $tiering/policy ] || tiering_skip "needs CONFIG_TIERING"
	tiering_save $tiering/scan_us $tiering/rate_mbps $tiering/pin $tiering/policy \
		     /sys/kernel/mm/numa/demotion_enabled /proc/sys/kernel/numa_balancing
	dir=$(mktemp -d "${TMPDIR:-/tmp}/tiering.XXXXXX") || tiering_skip "needs a directory"
	trap tiering_cleanup EXIT
	trap 'exit 1' INT TERM

	# No other mechanism should move pages.
	[ ! -e /proc/sys/kernel/numa_balancing ] || echo 0 >/proc/sys/kernel/numa_balancing
	echo 0 >/sys/kernel/mm/numa/demotion_enabled
}

# tiering_thermostat SCAN_US ROUNDS SLOWDOWN_BP VISIT_NS: set up the policy thermostat, which then
# looks at all memory in a period and whose counting costs nothing; set $thermostat to its folder.
# A use of page cache costs VISIT_NS, too.
tiering_thermostat() {
	thermostat=$tiering/thermostat
	[ -e $thermostat ] || tiering_skip "needs the policy thermostat"
	tiering_save $thermostat/slowdown_bp $thermostat/rounds $thermostat/sample_percent \
		     $thermostat/visit_ns $thermostat/use_ns $thermostat/fault_ns
	echo "$1" >$tiering/scan_us
	echo "$2" >$thermostat/rounds
	echo "$3" >$thermostat/slowdown_bp
	echo "$4" >$thermostat/visit_ns
	echo "$4" >$thermostat/use_ns
	echo 100 >$thermostat/sample_percent
	echo 0 >$thermostat/fault_ns
}

tiering_select() { # NAME: select a policy
	sh -c 'echo "$0" >"$1"' "$1" $tiering/policy 2>/dev/null
}

tiering_is() { # NAME: is this policy selected?
	[ "$(cat $tiering/policy)" = "$1" ]
}

tiering_tiers() { # print a node of each tier, the highest tier first
	local tier

	for tier in $(ls -d /sys/devices/virtual/memory_tiering/memory_tier* | sort -V); do
		tr ',-' '\n\n' <"$tier/nodelist" | head -n 1
	done
}

tiering_highest() {
	tiering_tiers | head -n 1
}

# Print the first node with CPUs of the highest tier with CPUs. Policies place no pages in faster
# memory.
tiering_fastest() {
	local tier node

	for tier in $(tiering_tiers); do
		for node in $(tiering_tier_of "$tier"); do
			[ -n "$(cat /sys/devices/system/node/node"$node"/cpulist)" ] || continue
			echo "$node"
			return
		done
	done
	tiering_highest
}

tiering_lowest() {
	tiering_tiers | tail -n 1
}

tiering_free() { # NODE: print how many KiB of a node are free
	awk '$3 == "MemFree:" { print $4 }' /sys/devices/system/node/node"$1"/meminfo
}

# tiering_fill NODE KIB: fill a node with pages that cannot move, except for KIB KiB, until
# tiering_fill_end
tiering_fill() {
	local folder="$dir/filling$1"

	[ "$(tiering_free "$1")" -gt "$2" ] ||
		tiering_skip "needs $2 KiB of free memory on node $1"
	mkdir "$folder"
	mount -t tmpfs -o mpol=bind:"$1",size=100% tmpfs "$folder" || tiering_skip "needs tmpfs"
	head -c $((($(tiering_free "$1") - $2) * 1024)) /dev/zero >"$folder/file"
}

tiering_fill_end() { # of all nodes
	umount "$dir"/filling* 2>/dev/null
}

tiering_tier_of() { # NODE: print the nodes of its tier
	local list range

	for list in /sys/devices/virtual/memory_tiering/memory_tier*/nodelist; do
		for range in $(tr , ' ' <"$list"); do
			seq "${range%-*}" "${range#*-}"
		done | tr '\n' ' '
		echo
	done | grep -w "$1"
}

tiering_files() { # NODE: print how many KiB of page cache the nodes of its tier have
	local node

	for node in $(tiering_tier_of "$1"); do
		cat /sys/devices/system/node/node"$node"/meminfo
	done | awk '$3 == "FilePages:" { sum += $4 } END { print sum }'
}

# tiering_grows NODE MIB COMMAND...: test whether the command adds MIB MiB of page cache to the tier
tiering_grows() {
	local node="$1" least=$(($2 * 1024)) before after

	shift 2
	before=$(tiering_files "$node")
	"$@"
	after=$(tiering_files "$node")
	tiering_note "tier of node $node: $((after - before)) KiB of page cache came"
	[ $((after - before)) -ge $least ]
}

tiering_stat() { # KIND COUNT...: print the sum of some counts
	local kind="$1" sum=0 count

	shift
	for count; do
		sum=$((sum + $(cat "$tiering/stats/$kind/$count")))
	done
	echo $sum
}

tiering_moved() { # print how many pages were ever moved, for whatever reason
	cat $tiering/stats/*/demoted_* $tiering/stats/*/promoted_* |
		awk '{ sum += $1 } END { print sum }'
}

# tiering_wait SECONDS COMMAND...: wait until the command succeeds, and fail if it does not
tiering_wait() {
	local left=$(($1 * 10))

	shift
	until "$@"; do
		[ $left -gt 0 ] || return 1
		left=$((left - 1))
		sleep 0.1
	done
}

# NUMA balancing scans often, in its normal mode: 64 MiB each 40 ms that a process runs.
tiering_scan_often() {
	local numa=/sys/kernel/debug/sched/numa_balancing

	[ -e $numa ] || tiering_skip "needs CONFIG_NUMA_BALANCING and debugfs"
	tiering_save $numa/scan_delay_ms $numa/scan_size_mb $numa/scan_period_min_ms \
		     $numa/scan_period_max_ms
	echo 10 >$numa/scan_delay_ms
	echo 64 >$numa/scan_size_mb
	echo 40 >$numa/scan_period_min_ms
	echo 40 >$numa/scan_period_max_ms
	echo 1 >/proc/sys/kernel/numa_balancing
}

# tiering_of FIELD TEXT: print the number of FIELD=NUMBER in the output of the program hints
tiering_of() {
	echo "$2" | tr ' ' '\n' | sed -n "s/^$1=//p"
}

# tiering_is_of FIELD RELATION NUMBER: compare a field in $text, what the program hints has printed
tiering_is_of() {
	[ "$(tiering_of "$1" "$text")" "$2" "$3" ]
}

# tiering_set_block BLOCK STATE: have a block of memory go offline or online
#
# The kernel tries to empty a block until it succeeds or gets a signal.
tiering_set_block() {
	timeout 20 sh -c 'echo "$0" 2>/dev/null >"$1/state"' "$2" "$1"
}

tiering_drop_caches() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
}

# tiering_group NAME CONTROLLER...: make a cgroup; the test removes it
tiering_group() {
	local name="$1" controller

	shift
	groups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$groups" ] || tiering_skip "needs cgroup2"
	for controller; do
		echo "+$controller" 2>/dev/null >"$groups/cgroup.subtree_control" ||
			tiering_skip "needs the cgroup controller $controller"
	done
	mkdir "$groups/$name"
}

tiering_in_group() { # NAME COMMAND...: run a command in a cgroup
	local group="$groups/$1"

	shift
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"
}

# tiering_log_begin MARK: from now on, tiering_log_is_clean is about the log after this mark
tiering_log_begin() {
	mark="$1"
	echo "<7>$mark" >/dev/kmsg
}

# Test whether the kernel has logged no error since the mark.
tiering_log_is_clean() {
	dmesg | grep -qF "$mark" || return 1
	! dmesg | sed "1,/$mark/d" |
		grep -E 'BUG: |Oops: |KASAN: |WARNING: |UBSAN: |INFO: task .* blocked|rcu: INFO'
}

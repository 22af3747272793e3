#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Page cache above a limit is demoted batch after batch: the daemon does not sleep between batches.

. ./_kloc.sh

kloc_begin 5
max_kb=$tiering/node$fast/max_kb
tiering_save "$max_kb"
tiering_group kloc-rate memory
group=$groups/kloc-rate
others=$(seq -f "$groups/kloc-rate-%g" 200)

tiering_clean() {
	exec 3<&-
	rm -f "$dir/file"
	rmdir $others 2>/dev/null
	tiering_wait 10 rmdir "$group"
}

# The daemon of $fast.
for daemon in /proc/[0-9]*; do
	[ "$(cat "$daemon/comm" 2>/dev/null)" != "ktierd$fast" ] || break
done

sleeps() { # print how often the daemon has slept
	awk '$1 == "voluntary_ctxt_switches:" { print $2 }' "$daemon/status"
}

fast() { # print how many pages of the file are in fast memory
	kloc_context "$dir/file" fast
}

fill() { # write the file, and keep it open: its pages leave only because of a limit
	exec 3<&-
	rm -f "$dir/file"
	tiering_in_group kloc-rate head -c $((pages * 4096)) /dev/zero >"$dir/file"
	sync
	exec 3<"$dir/file"
	tiering_note "$(fast) pages are in fast memory"
}

cache() { # print how many pages of page cache are in fast memory
	awk '$3 ~ /^(Active|Inactive)\(file\):/ { sum += $4 / 4 } END { print sum }' \
		/sys/devices/system/node/node"$fast"/meminfo
}

has_no_more() { # PAGES COUNT...: does a command count that many pages, or few more?
	local most="$1"

	shift
	[ "$("$@")" -le $((most + excess / 16)) ]
}

# leaves LIMIT FILE COUNT...: does the excess leave, with fewer sleeps than batches?
#
# COUNT prints the pages that LIMIT is for. A batch has 128 pages. The daemon also sleeps before it
# checks the limit for the first time, after the excess has left, and after a batch of which nothing
# could be moved, such as programs that run.
leaves() {
	local limit="$1" file="$2" before after

	shift 2
	before=$(sleeps)
	echo $((limit * 4096 / $unit)) >"$file"
	tiering_wait 20 has_no_more "$limit" "$@"
	after=$(sleeps)
	tiering_note "$("$@") pages are left of $limit that may be;" \
		"the daemon has slept $((after - before)) times"
	has_no_more "$limit" "$@" && [ $((after - before)) -lt $((excess / 128 * 9 / 10)) ]
}

pages=16384
excess=14336
echo 10 >$scale
echo 0 >$tiering/rate_mbps
echo 255 >$tiering/kloc/inactive_age
echo 2000000 >$tiering/scan_us
echo "file blockdev" >$kloc/kinds
tiering_check "the node has a daemon" [ "$(cat "$daemon/comm")" = "ktierd$fast" ]
fill
sleep 0.5
tiering_control "pages leave without a limit" has_no_more $((pages - excess)) fast
unit=1
tiering_check "page cache above a cgroup's limit leaves at once" \
	leaves $((pages - excess)) "$group/memory.kloc.max" fast

echo max >"$group/memory.kloc.max"
mkdir $others
for other in $others; do
	echo 1G >"$other/memory.kloc.max"
done
fill
tiering_check "and so it does if 200 other cgroups have limits" \
	leaves $((pages - excess)) "$group/memory.kloc.max" fast
rmdir $others

echo max >"$group/memory.kloc.max"
fill
unit=1024
all=$(cache)
excess=$((all / 4 * 3))
tiering_check "page cache above a node's limit leaves at once" \
	leaves $((all - excess)) "$max_kb" cache
tiering_end

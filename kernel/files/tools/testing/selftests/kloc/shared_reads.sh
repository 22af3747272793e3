#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Concurrent readers of one large file do not write shared cache lines: a read changes neither the
# context of the file nor data of a node. In a steady state, functions that change a context or
# take a lock of the policy run only a few times a scan.

. ./_kloc.sh

# Functions that write a context. Locks count that the hooks take.
writers="knode_activate knode_deactivate knode_list_add knode_set_fast tiering_wake"
locks="_raw_spin_lock _raw_spin_trylock"
callers="__tiering_folio_used|__kloc_file_access|knode_|kloc_"
calls="($(echo "$writers" | tr ' ' '|')) <-|<-($callers)"

kloc_begin 4

tiering_clean() {
	kloc_trace_end
}

# Read a file with four processes. Set the numbers of reads and of writing calls.
count_writes() { # FILE
	kloc_trace $writers $locks
	reads=$(read_all "$1" 4 2)
	echo 0 >$tracing/tracing_on
	writes=$(kloc_traced "$calls")
	tiering_note "$reads reads, $writes writes"
	grep -E "$calls" $tracing/trace | sed 's/.*: //' | sort | uniq -c | sort -rn | head -n 5 |
		sed 's/^/# /'
}

are_rare() { # less than one for 100 reads
	[ "$reads" -gt 0 ] && [ $((writes * 100)) -lt "$reads" ]
}

head -c 16777216 /dev/zero >"$dir/fast"
cp "$dir/fast" "$dir/slow"
tiering_drop_caches
on_node "$fast" cat "$dir/fast" >/dev/null
# Pages of slow memory may not be promoted yet, and are used again and again.
echo 1 >$tiering/rate_mbps
sleep 0.2
on_node "$slow" cat "$dir/slow" >/dev/null

count_writes "$dir/fast"
tiering_check "reads of fast memory write nothing that is shared" are_rare

count_writes "$dir/slow"
tiering_check "reads of slow memory write nothing that is shared" are_rare
tiering_check "most of the file is in slow memory still" \
	[ "$(kloc_context "$dir/slow" slow)" -gt 2048 ]

# Opening and closing the file writes the context.
kloc_trace $writers
reads=50
for i in $(seq $reads); do
	kloc_use "$dir/fast"
done
writes=$(kloc_traced "$calls")
tiering_control "with an open file for each of $reads reads writes are rare ($writes)" are_rare
tiering_end

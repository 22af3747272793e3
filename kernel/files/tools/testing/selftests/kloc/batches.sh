#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Pages that are used often are promoted many at a time.

. ./_kloc.sh

kloc_begin 3

tiering_clean() {
	kloc_trace_end
}

promoted() {
	tiering_stat file promoted_active promoted_used
}

are_batches() { # PAGES CALLS: is it at least 16 pages a call?
	[ "$2" -gt 0 ] && [ $(($2 * 16)) -le "$1" ]
}

# Pages that were in memory before have no record.
tiering_select none
head -c 16777216 /dev/zero >"$dir/file"
tiering_drop_caches
on_node "$slow" cat "$dir/file" >/dev/null
tiering_select kloc

kloc_trace migrate_pages
before=$(promoted)
read_all "$dir/file" 2 3 >/dev/null
pages=$(($(promoted) - before))
calls=$(kloc_traced 'migrate_pages <-tiering_migrate')
tiering_check "a file that is used often is promoted ($pages pages)" [ "$pages" -gt 1024 ]
tiering_check "in batches ($calls calls)" are_batches "$pages" "$calls"

# Files of a page each are moved one by one.
kloc_files moved 32 4
sync
echo >$tracing/trace
for file in "$dir"/moved/*; do
	move_file "$file" "$slow"
done
calls=$(kloc_traced 'migrate_pages <-')
tiering_control "single pages count as batches ($calls calls for 32)" are_batches 32 "$calls"
tiering_end

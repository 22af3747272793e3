#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Pages whose buffers the journal of ext4 holds are not migrated: each attempt would interrupt all
# CPUs. They leave when the journal has released them.

. ./_kloc.sh

kloc_begin 4
tiering_group kloc-journal memory
limit=$groups/kloc-journal/memory.kloc.max
mounted=$(df --output=target "$dir" | tail -n 1)

tiering_clean() {
	kloc_trace_end
	rm -f "$dir/file"
	[ -z "$remounted" ] || mount -o remount,delalloc "$mounted"
	tiering_wait 10 rmdir "$groups/kloc-journal"
}

unmovable() {
	tiering_stat file not_moved_unmovable
}

are_found_held() {
	[ $(($(unmovable) - before)) -ge 500 ]
}

has_left() {
	[ "$(kloc_context "$dir/file" fast)" -le 8 ]
}

commit() { # the journal then releases the pages that were written to their places
	echo more >>"$dir/other"
	sync
	has_left
}

# ext4 ignores the flag of a file while it delays allocation. The journal holds the data until it
# has written them to their place. A limit has the daemon demote these pages and no others.
mount -o remount,nodelalloc "$mounted" 2>/dev/null || tiering_skip "needs ext4"
remounted=1
>"$dir/file"
journal_data "$dir/file" 2>/dev/null || tiering_skip "needs ext4"
kloc_trace invalidate_bh_lrus
echo 100000 >$tiering/scan_us
before=$(unmovable)
tiering_in_group kloc-journal \
	dd if=/dev/zero of="$dir/file" bs=65536 count=64 conv=notrunc 2>/dev/null
tiering_control "pages are found held without a limit" are_found_held
echo 0 >"$limit"
tiering_check "pages are found held by the journal" tiering_wait 10 are_found_held
calls=$(kloc_traced 'invalidate_bh_lrus <-')
tiering_check "migration does not interrupt all CPUs ($calls times)" [ "$calls" -lt 50 ]
tiering_check "they leave when the journal has released them" tiering_wait 20 commit
tiering_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Under the policy kloc, pages of slabs for cold objects are counted once where they are placed,
# though allocations of some of their pages fail and SLUB tries again.

. ../kloc/_kloc.sh

reloc=/sys/kernel/debug/reloc
fail=/sys/kernel/debug/fail_page_alloc
groups=$tiering/kloc/slab_groups

[ -e $reloc/pages ] || tiering_skip "needs CONFIG_RELOC_SLAB and debugfs"
grep -q '^ext4_inode_cache ' $reloc/pages ||
	tiering_skip "needs the kernel parameter reloc.caches=dentry,ext4_inode_cache"
[ -e $fail ] || tiering_skip "needs CONFIG_FAIL_PAGE_ALLOC and CONFIG_FAULT_INJECTION_DEBUG_FS"

tiering_clean() {
	echo 0 >$fail/probability
}

cold_pages() { # print how many pages all cold twins have
	awk '$1 ~ /-cold$/ { sum += $3 } END { print sum + 0 }' $reloc/pages
}

is_settled() { # is no page being given back?
	local pages

	pages=$(cold_pages)
	sleep 0.3
	[ "$(cold_pages)" = "$pages" ]
}

placed() {
	tiering_stat slab placed_fast placed_slow placed_elsewhere
}

# look_up CHANCE: look files up while CHANCE % of page allocations without reclaim fail
look_up() {
	tiering_drop_caches
	tiering_wait 10 is_settled
	pages=$(cold_pages)
	count=$(placed)
	echo 100000 >$fail/times
	echo "$1" >$fail/probability
	sh -c 'echo 1 >/proc/self/make-it-fail && exec ls -l "$0"' "$dir/files" >/dev/null
	echo 0 >$fail/probability
	pages=$(($(cold_pages) - pages))
	count=$(($(placed) - count))
	tiering_note "$1 percent fail: $count pages were counted, $pages have come"
}

some_failed() {
	[ "$(cat $fail/times)" -lt 100000 ]
}

# A slab may be given back meanwhile. One that comes while fast memory has room is not counted:
# allocations that fail make the task reclaim.
is_counted_once() {
	[ "$pages" -gt 200 ] && [ "$count" -gt $((pages * 3 / 4)) ] &&
		[ "$count" -le $((pages + 32)) ]
}

kloc_begin 4
tiering_save $groups $fail/verbose $fail/task-filter $fail/ignore-gfp-wait $fail/min-order
echo 0 >$fail/verbose
echo Y >$fail/task-filter
echo Y >$fail/ignore-gfp-wait
# Slabs that can move have one page.
echo 0 >$fail/min-order
# Nothing moves meanwhile.
echo 60000000 >$tiering/scan_us
kloc_files files 2000 1
kloc_make_short
echo 2 >$groups

look_up 0
tiering_check "pages are counted" is_counted_once
tiering_control "allocations fail without a chance to" some_failed
look_up 10
tiering_check "some allocations fail" some_failed
tiering_check "pages of slabs that need several tries are counted once" is_counted_once
tiering_end

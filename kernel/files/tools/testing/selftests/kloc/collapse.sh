#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Collapsing pages of a file into a huge page notes the huge page for the file's context.

. ./_kloc.sh

kloc_begin 3

tiering_clean() {
	kloc_trace_end
	umount "$dir/tmpfs" 2>/dev/null
}

# Make a file of small pages, then a huge one of them. Count how often the context is told.
make_huge() {
	rm -f "$dir/tmpfs/file"
	head -c 2097152 /dev/zero >"$dir/tmpfs/file"
	echo >$tracing/trace
	collapse "$dir/tmpfs/file" || exit $?
	told=$(kloc_traced '__tiering_folio_added <-.*collapse')
}

mkdir "$dir/tmpfs"
mount -t tmpfs -o huge=advise tmpfs "$dir/tmpfs" || tiering_skip "needs tmpfs with huge pages"
kloc_trace __tiering_folio_added
echo >"$dir/tmpfs/small"
told=$(kloc_traced '__tiering_folio_added <-')
tiering_check "the context is told of a new page ($told)" [ "$told" -ge 1 ]
make_huge
tiering_check "it is told of a huge page ($told)" [ "$told" -ge 1 ]
tiering_select none
make_huge
tiering_control "a huge page is noted without contexts ($told)" [ "$told" -ge 1 ]
tiering_end

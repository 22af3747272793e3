#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Files of tmpfs that are not in use leave fast memory as others do. Their pages are always dirty.

. ./_kloc.sh

kloc_begin 2

tiering_clean() {
	umount "$dir/tmpfs" 2>/dev/null
}

tiering_drop_caches
mkdir "$dir/tmpfs"
mount -t tmpfs none "$dir/tmpfs" || tiering_skip "needs tmpfs"
head -c 2097152 /dev/zero >"$dir/tmpfs/file"
has_left() {
	[ "$(kloc_context "$dir/tmpfs/file" fast)" = 0 ]
}

tiering_note "$(kloc_context "$dir/tmpfs/file" fast) pages are in fast memory"
tiering_control "they leave while there is room" tiering_wait 1 has_left
kloc_demote_all
tiering_check "they leave when fast memory is short" tiering_wait 5 has_left
tiering_note "$(kloc_context "$dir/tmpfs/file" fast) pages are left"
tiering_end

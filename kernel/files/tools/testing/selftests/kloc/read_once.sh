#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Pages of slow memory that were read once are not promoted: they may not be used again.

. ./_kloc.sh

kloc_begin 2

# Scans are longer than a read, so that a read is a use in one scan only.
echo 500000 >$tiering/scan_us

in_fast() {
	kloc_context "$dir/file" fast
}

is_promoted() {
	[ "$(in_fast)" -gt 0 ]
}

head -c 4194304 /dev/zero >"$dir/file"
tiering_drop_caches
on_node "$slow" cat "$dir/file" >/dev/null
tiering_control "pages that were read once are promoted" tiering_wait 2 is_promoted
tiering_note "$(in_fast) of 1024 pages were promoted"

read_again() { # until it is promoted
	cat "$dir/file" >/dev/null
	is_promoted
}

tiering_check "pages that are read in several scans are promoted" tiering_wait 15 read_again
tiering_end

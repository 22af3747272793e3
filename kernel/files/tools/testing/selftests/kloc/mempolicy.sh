#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A context is not promoted by the use of a task that has a memory policy of its own.

. ./_kloc.sh

kloc_begin 2

has_come() { # a page of its own is promoted by its use, the others with the context
	[ "$(kloc_context "$dir/file" fast)" -ge 1000 ]
}

# A context comes while its file is open.
is_promoted_by() { # COMMAND...: run a shell by it that uses the file for a scan
	"$@" sh -c 'exec 3<"$0"; head -c 1 <&3 >/dev/null; sleep 0.2' "$dir/file"
	has_come
}

# It has to be used in two of eight scans, on a busy machine too.
echo 0 >$tiering/rate_mbps
echo 500000 >$tiering/scan_us
head -c 8388608 /dev/zero >"$dir/file"
kloc_read_slow "$dir/file"
tiering_control "it comes for a task with a memory policy" \
	tiering_wait 1 is_promoted_by on_node "$slow"
tiering_check "it comes for a task without one" tiering_wait 4 is_promoted_by env
tiering_end

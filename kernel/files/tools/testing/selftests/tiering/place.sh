#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# dram-first takes new pages from fast memory, and remote-first from slow memory.

. ./_tiering.sh

tiering_begin 4

write_file() {
	head -c 16777216 /dev/zero >"$dir/file"
}

takes() { # POLICY NODE: does new page cache under the policy come from the node?
	tiering_select "$1"
	rm -f "$dir/file"
	tiering_drop_caches
	tiering_grows "$2" 12 write_file
}

tiering_check "dram-first: from fast memory" takes dram-first "$fast"
tiering_control "dram-first: not from slow memory" takes dram-first "$slow"
tiering_check "remote-first: from slow memory" takes remote-first "$slow"
tiering_control "without a policy: not from slow memory" takes none "$slow"
tiering_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Pages of a single-threaded program get a history of its uses, even if they are on its own node.

. ./_tiering.sh

tiering_begin 5
tiering_scan_often

# level PART POLICY: print the mean level of a part of the program's memory, times 10. All memory is
# on the program's own node.
level() {
	local text

	tiering_select "$2"
	text=$(hints "$fast" 8 "$fast" 8 4)
	tiering_note "$2: $text" >&2
	tiering_of "$1_level" "$text"
}

used=$(level hot autotiering-cpm)
unused=$(level cold autotiering-cpm)
tiering_check "used pages have a history of uses (level $used)" [ "$used" -ge 40 ]
tiering_check "unused pages are below used ones (level $unused)" [ "$unused" -lt $((used / 2)) ]
tiering_control "unused pages have a history of uses" [ "$unused" -ge 40 ]
tiering_control "used pages have one without hint faults" [ "$(level hot naive)" -gt 0 ]
tiering_select none
tiering_check "the records are freed" [ "$(cat $tiering/page_bytes)" = 0 ]
tiering_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Page cache of a block device is demoted if it is not used, and comes back if it is.

. ./_kloc.sh

kloc_begin 4

tiering_clean() {
	tiering_fill_end
}

# The disk of the file system that the test's files are on.
device=$(stat -c %Hd:%Ld "$dir")
disk=/dev/$(basename "$(readlink /sys/dev/block/"$device")")
[ -b "$disk" ] || tiering_skip "needs a directory on a disk"

pages() { # COLUMN: of the context of the block device
	awk -F '\t' -v column="$1" -v dev="$device" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["kind"] == "blockdev" && $at["dev"] == dev { sum += $at[column] }
		END { print sum + 0 }' $contexts
}

demoted() {
	cat $tiering/stats/blockdev/demoted_* |
		awk '{ sum += $1 } END { print sum }'
}

read_disk() { # use it, and its pages that are in memory already
	dd if="$disk" of=/dev/null bs=1M count=24 2>/dev/null
}

is_aged() {
	[ "$(pages age)" -gt 9 ] && [ "$(pages active)" = 1 ]
}

has_left() {
	kloc_wake
	[ "$(pages slow)" -gt 1000 ]
}

has_come_back() {
	read_disk
	[ "$(pages fast)" -gt "$left" ]
}

echo 100000 >$tiering/scan_us
echo 255 >$tiering/kloc/inactive_age
read_disk
before=$(demoted)
tiering_control "pages leave while there is room" tiering_wait 2 [ "$(pages slow)" -gt 1000 ]
tiering_check "the device ages, and stays active" tiering_wait 20 is_aged
kloc_fill 40
kloc_press 48
tiering_check "unused pages leave" tiering_wait 10 has_left
tiering_note "$(($(demoted) - before)) pages of block devices were demoted, $(pages fast) are left"
left=$(($(pages fast) + 1000))
# There is room again, up to the mark.
tiering_fill_end
echo 10 >$scale
tiering_check "pages that are used in scan after scan come back" \
	tiering_wait 10 has_come_back
tiering_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The limit of a node holds for new page cache and for promotion: often used pages do not move back
# and forth.

. ./_kloc.sh

kloc_begin 4
max_kb=$tiering/node$fast/max_kb
tiering_save "$max_kb" $tiering/kloc/inactive_age

tiering_clean() {
	kill $reader 2>/dev/null
	wait 2>/dev/null
	exec 3<&-
}

cache_kb() { # print how much page cache is in fast memory
	awk '$3 ~ /^(Active|Inactive)\(file\):/ { sum += $4 } END { print sum }' \
		/sys/devices/system/node/node"$fast"/meminfo
}

promoted() {
	tiering_stat file promoted_active promoted_used
}

moves() { # COMMAND...: print how many pages are promoted, and how many leave because of a limit
	local come leave

	come=$(promoted)
	leave=$(tiering_stat file demoted_limit)
	"$@" >/dev/null
	echo $(($(promoted) - come)) $(($(tiering_stat file demoted_limit) - leave))
}

goes_on() { # PROMOTED DEMOTED: do more pages come, or leave, than a limit lets come by chance?
	[ "$1" -gt 2048 ] || [ "$2" -gt 2048 ]
}

# Does the moving end? On a busy host, pages in CPUs' batches, which count nowhere, make room for
# others again and again for a while.
settles() {
	local try moved

	for try in 1 2 3; do
		moved=$(moves read_all "$dir/file" 2 5)
		tiering_note "pages that came and that left: $moved"
		goes_on $moved || return 0
	done
	return 1
}

have_come() { # COUNT: read the file again, and test whether COUNT pages were promoted
	read_all "$dir/file" 2 2 >/dev/null
	[ "$(promoted)" -ge "$1" ]
}

# Slabs are not of interest here, and nothing is too new, or moved too often.
echo "file blockdev" >$kloc/kinds
echo 255 >$tiering/pin
echo max >"$max_kb"
head -c 33554432 /dev/zero >"$dir/file"
sync
kloc_read_slow "$dir/file"
exec 3<"$dir/file"
limit=$(cache_kb)
echo "$limit" >"$max_kb"
tiering_note "$limit KiB of page cache are in fast memory"

echo 20000 >$tiering/scan_us
tiering_check "used pages do not move back and forth" settles
tiering_check "there is no more than the limit" [ "$(cache_kb)" -le $((limit + 2048)) ]

before=$(tiering_stat file placed_slow)
head -c 16777216 /dev/zero >"$dir/new"
tiering_check "new page cache goes to slow memory" \
	[ $(($(tiering_stat file placed_slow) - before)) -gt 3072 ]

before=$(promoted)
echo max >"$max_kb"
tiering_control "few come without a limit" tiering_fails tiering_wait 3 have_come $((before + 2048))
tiering_end

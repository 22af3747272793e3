#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Under the policy kloc-noprefetch, pages of a stream begin in slow memory while fast memory is
# short. A stream is readahead for a sequential reader; a single full window is not.

. ./_kloc.sh

kloc_begin 8
grep -qw kloc-noprefetch $tiering/policies || tiering_skip "needs CONFIG_TIERING_CONTROLS"
tiering_select kloc-noprefetch

file=$dir/file
head -c 8388608 /dev/zero >"$file"
kloc_files small 32 16
sync
tiering_drop_caches
read_ahead random <"$file"
kloc_make_short

read_file() { # MODE [FILE]
	read_ahead "$1" <"${2:-$file}"
}

read_small() {
	local small

	for small in "$dir"/small/*; do
		read_file first "$small"
	done
}

slow=$(kloc_in_slow read_file faults)
tiering_control "windows around page faults are streams ($slow of 2048 pages)" [ "$slow" -gt 256 ]

slow=$(kloc_in_slow read_small)
tiering_control "small files that are read at once are streams ($slow of 128 pages)" \
	[ "$slow" -gt 32 ]

# The same open file, with the state of readahead.
exec 3<"$file"
slow=$(kloc_in_slow read_ahead stream <&3)
tiering_check "a sequential read is a stream ($slow of 2048 pages)" \
	[ "$slow" -ge 1536 ]
slow=$(kloc_in_slow read_ahead random <&3)
tiering_control "random reads after a stream are streams ($slow of 64 pages)" [ "$slow" -gt 16 ]
exec 3<&-

slow=$(kloc_in_slow read_file mapped)
tiering_check "sequential faults of a mapping are a stream ($slow of 2048 pages)" \
	[ "$slow" -ge 1536 ]

tiering_select kloc
slow=$(kloc_in_slow read_file stream)
tiering_control "the policy kloc does so, too ($slow of 2048 pages)" [ "$slow" -gt 256 ]

tiering_select kloc-noprefetch
slow=$(kloc_in_slow read_file stream)
tiering_check "fast memory was short meanwhile ($slow of 2048 pages)" [ "$slow" -ge 1536 ]

# Nothing of this matters while there is room.
echo 10 >$scale
slow=$(kloc_in_slow read_file stream)
tiering_control "streams begin in slow memory though fast memory has room ($slow pages)" \
	[ "$slow" -gt 256 ]
tiering_end

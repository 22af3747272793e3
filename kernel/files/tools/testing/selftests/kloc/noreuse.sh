#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# While fast memory is short, pages that are read for an open file with POSIX_FADV_NOREUSE begin in
# slow memory. Others who read the file from front to back, or here and there, are not affected.

. ./_kloc.sh

kloc_begin 4

file=$dir/file
head -c 8388608 /dev/zero >"$file"
sync
tiering_drop_caches
read_ahead random <"$file"
kloc_make_short

# count_slow MODE: set $slow to how many pages begin in slow memory while the open file is read
count_slow() {
	slow=$(tiering_stat file placed_slow)
	read_ahead "$1" <&3
	slow=$(($(tiering_stat file placed_slow) - slow))
}

# One has the file open while another process says that it will read it only once.
exec 3<"$file"
slow=$(tiering_stat file placed_slow)
read_ahead once <"$file"
slow=$(($(tiering_stat file placed_slow) - slow))
tiering_check "a read with the hint begins in slow memory ($slow of 2048 pages)" \
	[ "$slow" -ge 1920 ]
count_slow random
tiering_control "random reads without it do ($slow of 64 pages)" [ "$slow" -gt 16 ]
count_slow stream
tiering_control "a stream without it does ($slow of 2048 pages)" [ "$slow" -gt 256 ]
exec 3<&-

# Nothing of this matters while there is room.
echo 10 >$scale
exec 3<"$file"
count_slow once
tiering_control "it does though fast memory has room ($slow of 2048 pages)" [ "$slow" -gt 256 ]
tiering_end

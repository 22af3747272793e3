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

# One has the file open while another process says that it will read it only once.
exec 3<"$file"
slow=$(kloc_in_slow read_ahead once <"$file")
tiering_check "a read with the hint begins in slow memory ($slow of 2048 pages)" \
	[ "$slow" -ge 1920 ]
slow=$(kloc_in_slow read_ahead random <&3)
tiering_control "random reads without it do ($slow of 64 pages)" [ "$slow" -gt 16 ]
slow=$(kloc_in_slow read_ahead stream <&3)
tiering_control "a stream without it does ($slow of 2048 pages)" [ "$slow" -gt 256 ]
exec 3<&-

# Nothing of this matters while there is room.
echo 10 >$scale
slow=$(kloc_in_slow read_ahead once <"$file")
tiering_control "it does though fast memory has room ($slow of 2048 pages)" [ "$slow" -gt 256 ]
tiering_end

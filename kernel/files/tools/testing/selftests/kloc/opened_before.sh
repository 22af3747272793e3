#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Closing a file that was opened before contexts were on does not make its context inactive while
# another process has the file open.

. ./_kloc.sh

kloc_begin 3

# No context becomes old meanwhile, on a slow machine either.
echo 10000000 >$tiering/scan_us

file=$dir/file
echo text >"$file"
tiering_select none
exec 3<"$file"
tiering_select kloc
exec 4<"$file"
tiering_check "the context is active when the file is opened again" kloc_is_active "$file"
exec 3<&-
tiering_check "the context is active after the earlier open file is closed" kloc_is_active "$file"
exec 4<&-
tiering_control "it is active when all have closed it" kloc_is_active "$file"
tiering_end

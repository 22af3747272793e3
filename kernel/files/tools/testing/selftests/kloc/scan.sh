#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A shorter scan counts at once, not after the long one.

. ./_kloc.sh

kloc_begin 2

age() {
	kloc_context "$dir/file" age
}

is_older() { # AGE: is the context older than this?
	[ "$(age)" -gt "$1" ]
}

echo 60000000 >$tiering/scan_us
kloc_files . 1 4
mv "$dir"/x* "$dir/file"
kloc_use "$dir/file"
age=$(age)
tiering_control "it gets older while a scan takes a minute" tiering_wait 2 is_older "$age"
echo 100000 >$tiering/scan_us
tiering_check "it gets older when a scan takes 0.1 s" tiering_wait 5 is_older "$age"
tiering_end

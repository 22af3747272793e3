#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# thermostat-kloc: page cache shares the bound of thermostat. What is used seldom leaves, file by
# file; of a large file, the pages that are not used do. What is used often comes back.

. ./_kloc.sh

kloc_begin 12
tiering_select thermostat-kloc || tiering_skip "needs the policy thermostat-kloc"

# A period is 16 scans of 20 ms.
tiering_thermostat 20000 16 0 1000

tiering_clean() {
	[ -z "$program" ] || kill $program 2>/dev/null
}

in_fast() { # DIRECTORY RELATION PAGES
	local pages

	pages=$(kloc_pages_in "$1" fast)
	tiering_note "$1: $pages pages in fast memory"
	[ "$pages" "$2" "$3" ]
}

# in_slow DIRECTORY RELATION PAGES
in_slow() {
	local pages

	pages=$(kloc_pages_in "$1" slow)
	tiering_note "$1: $pages pages in slow memory"
	[ "$pages" "$2" "$3" ]
}

kloc_files hot 4 512
kloc_files cold 16 512
mkdir "$dir/large"
head -c 16777216 /dev/zero >"$dir/large/file"
sync
# Read each page at least once in eight scans, or it counts as unused. Starting programs for that
# takes too long on a busy host.
read_loop 1048576 "$dir"/hot/* "$dir/large/file" &
program=$!

tiering_check "files that nobody uses leave" tiering_wait 30 in_slow cold -ge 2048
tiering_check "none of their pages stays" in_fast cold -eq 0
tiering_check "files that are used often stay" in_fast hot -ge 500
tiering_check "of a large file, unused pages leave" tiering_wait 30 in_slow large -ge 3072
tiering_check "its used pages stay" in_fast large -ge 200

echo 10000 >$thermostat/slowdown_bp
tiering_check "files that are used leave if the bound is high" tiering_wait 30 in_slow hot -ge 500
echo 0 >$thermostat/slowdown_bp
tiering_check "they come back if the bound is 0" tiering_wait 30 in_fast hot -ge 500
tiering_control "unused files come back" in_fast cold -gt 64
kill $program
wait $program
program=
tiering_check "they leave once nobody uses them" tiering_wait 30 in_slow hot -ge 500
tiering_check "the contents are as before" cmp -n 2097152 "$dir/large/file" /dev/zero
echo blockdev >$kloc/kinds
tiering_select none
kloc_files kept 4 512
sync
tiering_select thermostat-kloc
kloc_use "$dir"/kept/*
sleep 2
tiering_control "an excluded kind leaves" in_slow kept -gt 0
tiering_check "the policy can be switched off" tiering_select none
tiering_end

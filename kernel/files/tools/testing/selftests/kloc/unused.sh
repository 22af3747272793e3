#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Under pressure inactive contexts leave first, then unused pages of contexts in use: not only of
# the one that was not used for longest.

. ./_kloc.sh

kloc_begin 5

tiering_clean() {
	tiering_fill_end
}

slow_pages() { # FILE
	kloc_context "$1" slow
}

has_left() { # FILE: has kswapd demoted some of its pages?
	kloc_wake
	[ "$(slow_pages "$1")" -gt 0 ]
}

leaves_before() { # do pages of an open file leave while many of the closed one are there?
	[ "$(slow_pages "$dir/older")" -gt 0 ] &&
		[ "$(kloc_context "$dir/closed" fast)" -gt 256 ]
}

is_aged() { # FILE
	[ "$(kloc_context "$1" age)" -gt 10 ]
}

is_cold() { # FILE
	! kloc_is_active "$1" && [ "$(kloc_context "$1" age)" -gt 3 ]
}

# Keep the daemon from demoting long inactive contexts meanwhile.
echo 255 >$tiering/kloc/inactive_age
echo 100000 >$tiering/scan_us
head -c 16777216 /dev/zero >"$dir/older"
head -c 16777216 /dev/zero >"$dir/younger"
head -c 16777216 /dev/zero >"$dir/closed"
tiering_drop_caches
exec 3<"$dir/older"
cat <&3 >/dev/null
exec 4<"$dir/younger"
cat <&4 >/dev/null
tiering_wait 10 is_aged "$dir/younger"
cat "$dir/closed" >/dev/null
kloc_fill 40
tiering_wait 10 is_cold "$dir/closed"
kloc_wake
tiering_control "pages leave while there is room" \
	[ $(($(slow_pages "$dir/older") + $(slow_pages "$dir/closed"))) -gt 0 ]

kloc_press 6
tiering_check "pages of the closed file leave" tiering_wait 10 has_left "$dir/closed"
tiering_control "pages of an open one leave before" leaves_before
tiering_note "closed $(slow_pages "$dir/closed"), older $(slow_pages "$dir/older")," \
	"younger $(slow_pages "$dir/younger") pages left"

kloc_press 48
tiering_check "then unused pages of the open file that was not used for longest" \
	tiering_wait 10 has_left "$dir/older"
tiering_check "and of the other one" tiering_wait 10 has_left "$dir/younger"
tiering_note "closed $(slow_pages "$dir/closed"), older $(slow_pages "$dir/older")," \
	"younger $(slow_pages "$dir/younger") pages left"
tiering_end

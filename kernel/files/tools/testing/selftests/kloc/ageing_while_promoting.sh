#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Contexts that are not used age though there is always something to be promoted.

. ./_kloc.sh

kloc_begin 3

tiering_clean() {
	kill $loops 2>/dev/null
	wait 2>/dev/null
}

promoted() {
	tiering_stat file promoted_active promoted_used
}

is_inactive() {
	! kloc_is_active "$dir/idle"
}

# A file goes to slow memory again and again, while others read it; not so soon that its copies are
# for nothing.
head -c 8388608 /dev/zero >"$dir/hot"
echo text >"$dir/idle"
sync
echo 0 >$tiering/rate_mbps
echo 255 >$tiering/pin
echo 100000 >$tiering/scan_us
echo 255 >$tiering/kloc/inactive_age
(while move_file "$dir/hot" "$slow" 2>/dev/null || :; do sleep 1; done) & loops="$loops $!"
read_all "$dir/hot" 1 60 >/dev/null & loops="$loops $!"
is_promoting() {
	[ "$(promoted)" -gt "$before" ]
}
before=$(promoted)
tiering_wait 10 is_promoting
are_promoted() {
	[ $(($(promoted) - before)) -gt 1000 ]
}

exec 3<"$dir/idle"
tiering_control "a context that may be old becomes inactive" tiering_wait 3 is_inactive
echo 3 >$tiering/kloc/inactive_age
before=$(promoted)
tiering_check "one that was not used for three scans does" tiering_wait 3 is_inactive
tiering_note "$(($(promoted) - before)) pages were promoted until then"
tiering_check "pages are promoted all the time" tiering_wait 10 are_promoted
tiering_end

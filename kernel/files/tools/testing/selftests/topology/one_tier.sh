#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# On a machine with one tier, selecting a policy that needs tiers fails, and leaves "none" selected.

. ./_topology.sh

tiering_prepare
[ "$(tiering_tiers | wc -l)" = 1 ] || tiering_skip "needs a machine with one tier"
echo "TAP version 13"
echo "1..4"

is_refused() { # NAME
	env LC_ALL=C echo "$1" 2>&1 >$tiering/policy | grep -q "No such device" && tiering_is none
}

are_refused() {
	local name

	for name in $(cat $tiering/policies); do
		[ "$name" = none ] || is_refused "$name" || return 1
	done
}

tiering_check "all policies but none are refused" are_refused
tiering_control "none is refused" is_refused none
head -c 8388608 /dev/urandom >"$dir/file"
sum=$(md5sum <"$dir/file")
tiering_drop_caches
tiering_check "files can be written and read" [ "$(md5sum <"$dir/file")" = "$sum" ]
tiering_check "no page has moved" [ "$(tiering_moved)" = 0 ]
tiering_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Settings accept numbers in their range only, and switching policies keeps them.

. ./_tiering.sh

tiering_begin 6
tiering_save $tiering/kloc/inactive_age

set_to() { # FILE VALUE
	sh -c 'echo "$0" >"$1"' "$2" "$tiering/$1" 2>/dev/null && [ "$(cat "$tiering/$1")" = "$2" ]
}

tiering_check "scan_us takes 100000" set_to scan_us 100000
tiering_control "scan_us refuses 0" set_to scan_us 0
tiering_control "pin refuses 256" set_to pin 256
tiering_control "rate_mbps refuses a word" set_to rate_mbps much
tiering_check "inactive_age takes 3" set_to kloc/inactive_age 3
tiering_select kloc
tiering_select naive
tiering_check "it is 3 after a switch" [ "$(cat $tiering/kloc/inactive_age)" = 3 ]
tiering_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Policies can be switched while hint faults move pages and make room, without harm to the pages.

. ./_tiering.sh

tiering_begin 5
tiering_scan_often

tiering_clean() {
	kill $uses 2>/dev/null
}

# All policies of AutoTiering, and some that see no hint faults.
policies="autotiering-opm autotiering-opm-bd kloc autotiering-opm-x none autotiering-cpm"

tiering_log_begin "tiering selftest $$"
echo "<7>KASAN: control of $mark" >/dev/kmsg
tiering_control "an error is found" tiering_log_is_clean

tiering_log_begin "$mark, in earnest"
before=$(tiering_stat anon promoted_hint)
tiering_drop_caches
hints "$fast" $(($(tiering_free "$fast") / 1024 + 8)) "$slow" 8 12 >"$dir/text" & uses=$!
switches=0
while kill -0 $uses 2>/dev/null; do
	for policy in $policies; do
		tiering_select "$policy" && switches=$((switches + 1))
		sleep 0.2
	done
done
wait $uses && ended=1 || ended=0
text=$(cat "$dir/text")
tiering_note "$switches switches: $text"
tiering_check "the program ends" [ $ended = 1 -a $switches -ge 12 ]
tiering_check "pages are promoted meanwhile" [ "$(tiering_stat anon promoted_hint)" -gt "$before" ]
tiering_check "the contents are as before" [ "$(tiering_of intact "$text")" = 1 ]
tiering_check "no error after $switches switches" tiering_log_is_clean
tiering_end

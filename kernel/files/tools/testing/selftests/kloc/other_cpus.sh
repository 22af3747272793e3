#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Pages that another CPU has added, and has not put on an LRU list yet, leave fast memory.

. ./_kloc.sh

kloc_begin 2

tiering_clean() {
	[ -z "$reader" ] || kill "$reader"
}

command -v taskset >/dev/null || tiering_skip "needs taskset"
[ -e /sys/devices/system/cpu/cpu1/online ] || tiering_skip "needs two CPUs"
taskset -pc 0 "$(pgrep -x "ktierd$fast")" >/dev/null || tiering_skip "ktierd cannot be moved"
taskset -pc 0 $$ >/dev/null

are_there() {
	[ "$(kloc_pages_in files fast)" = 4 ]
}

kloc_files files 4 4
tiering_drop_caches
taskset -c 1 read_files "$dir"/files/* & reader=$!
tiering_wait 2 are_there
pages=$(kloc_pages_in files fast)
tiering_control "$pages pages leave by themselves" tiering_wait 1 kloc_has_left files
kloc_demote_all
tiering_check "they leave when fast memory is short" tiering_wait 5 kloc_has_left files
tiering_note "$(kloc_pages_in files fast) pages are left"
tiering_end

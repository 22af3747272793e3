#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Pages that a file has in fast memory before it gets a context are demoted, too.

. ./_kloc.sh

kloc_begin 3

# Cache the files without contexts.
kloc_files files 20 100
tiering_select none
tiering_drop_caches
on_node "$fast" sh -c "cat $dir/files/* >/dev/null"

# Then give them contexts without caching anything.
tiering_select kloc-nomigrate
kloc_use "$dir"/files/*
pages=$(kloc_pages_in files fast)
tiering_check "20 files have pages in fast memory ($pages)" [ "$pages" -ge 400 ]

kloc_demote_all
tiering_control "something leaves with kloc-nomigrate" tiering_wait 1 kloc_has_left files

tiering_select kloc
kloc_use "$dir"/files/*
tiering_check "all of them leave when fast memory is short" tiering_wait 5 kloc_has_left files
tiering_note "$(kloc_pages_in files fast) pages are left"
tiering_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A call by kswapd or a daemon checks a bounded part of a large file, and the next call continues.
# A batch has at most 128 pages, or one large folio.

. ./_kloc.sh

kloc_begin 6

# 65,536 pages, of which a walk finds none that it may take.
large=$((256 << 20))
looks=1024
event=

tiering_clean() {
	[ -z "$holder" ] || kill "$holder"
	[ -z "$event" ] || echo 0 >"$event/enable"
	kloc_trace_end
	umount "$dir/tmpfs" 2>/dev/null
}

# Print the most walks of one call of tiering_take_knode(), each over up to 1024 entries.
walks() {
	awk '/tiering_take_knode <-/ { walks = 0 }
		/itr_knode_cache <-/ { if (++walks > most) most = walks }
		END { print most + 0 }' $tracing/trace
}

# Print how many walks began after a switch had hidden the nodes.
walks_after_switch() {
	awk '/tiering_nodes_hide <-/ { hidden = 1 }
		hidden && /itr_knode_cache <-/ { walks++ }
		END { print walks + 0 }' $tracing/trace
}

was_looked_at() { # WALKS: did so many walks begin?
	[ "$(kloc_traced 'itr_knode_cache <-')" -ge "$1" ]
}

is_large_folio() { # PAGES
	[ "$1" -gt 0 ] && [ "$1" -le 512 ]
}

# One page is in fast memory, at the end, and cannot leave: walks begin again and again.
tiering_select none
truncate -s $large "$dir/large"
on_node "$slow" cat "$dir/large" >/dev/null
head -c 4096 /dev/zero >>"$dir/large"
sync
exec 3<"$dir/large"
hold_refs "$dir/large" $large 1 >"$dir/held" &
holder=$!
tiering_check "a page is held" tiering_wait 10 grep -q held "$dir/held"
exec 3<&-
tiering_select kloc
kloc_trace itr_knode_cache tiering_take_knode tiering_nodes_hide
kloc_demote_all
kloc_use "$dir/large"
tiering_check "the file is looked at" tiering_wait 30 was_looked_at $((2 * large / 4096 / looks))
most=$(walks)
tiering_check "a call looks at a part of it ($most walks)" [ "$most" -le 32 ]
tiering_control "nothing is looked at" [ "$most" = 0 ]

# While it is looked at, the policy can be changed.
tiering_select none
after=$(walks_after_switch)
tiering_check "a switch does not wait until all was looked at ($after walks)" [ "$after" -le 32 ]
kloc_trace_end
kill $holder
holder=

# A large folio is more than a batch, and so moves alone.
tiering_select kloc
rm "$dir/large"
tiering_drop_caches
echo 10 >$scale
mkdir "$dir/tmpfs"
mount -t tmpfs -o huge=always none "$dir/tmpfs" || tiering_skip "needs tmpfs"
head -c 33554432 /dev/zero >"$dir/tmpfs/file"
tiering_note "$(awk '/ShmemHugePages/ { print $2 }' /proc/meminfo) KiB are huge pages"
event=$tracing/events/tiering/tiering_migrate
echo >$tracing/trace
echo 1 >$event/enable
kloc_demote_all
tmpfs_has_left() {
	[ "$(kloc_context "$dir/tmpfs/file" fast)" = 0 ]
}

tiering_wait 20 tmpfs_has_left
most=$(awk '/tiering_migrate:/ {
		gsub(/.*moved=| failed=/, " ")
		if ($1 + $2 > most) most = $1 + $2
	} END { print most + 0 }' $tracing/trace)
tiering_check "a batch is one large folio at most ($most pages)" \
	is_large_folio "$most"
tiering_end

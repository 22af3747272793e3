#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Often used pages are promoted though no task allocates fast memory: the daemon wakes kswapd to
# make room.

. ./_kloc.sh

kloc_begin 3

tiering_clean() {
	wait
	tiering_fill_end
	exec 3<&-
}

# Set $promoted to how many pages were promoted. This starts no process.
count_promoted() {
	local active used

	read -r active <$tiering/stats/file/promoted_active
	read -r used <$tiering/stats/file/promoted_used
	promoted=$((active + used))
}

low() { # print how many pages fast memory keeps from page cache
	awk -v node="$fast," '
		/^Node/ { this = $2; zone = $4 }
		this == node && zone != "DMA" && $1 == "low" { sum += $2 }
		END { print sum }' /proc/zoneinfo
}

# A file that is open, in fast memory, and unused for some scans; and one in slow memory.
tiering_select none
head -c 83886080 /dev/zero >"$dir/fast"
head -c 8388608 /dev/zero >"$dir/slow"
tiering_drop_caches
on_node "$fast" cat "$dir/fast" >/dev/null
on_node "$slow" cat "$dir/slow" >/dev/null
echo 255 >$tiering/kloc/inactive_age
echo 200000 >$tiering/scan_us
tiering_select kloc
exec 3<"$dir/fast"
kloc_use "$dir/fast"
kloc_fill 40
sleep 1

# Pages that are used in one scan are not promoted. This one is long.
count_promoted
before=$promoted
echo 24000000 >$tiering/scan_us
read_all "$dir/slow" 1 12 >/dev/null &
sleep 2
count_promoted
tiering_control "pages that were used in one scan are promoted" [ $((promoted - before)) -gt 500 ]
free=$(($(tiering_free "$fast") / 4))

# Raise the watermarks, which wakes nobody, and let more scans pass. The mark is one that kswapd can
# reach, or it would go on to evict what this shell is made of. No process may start meanwhile:
# the allocation of its page tables would wake kswapd.
sleep 7 &
sleeper=$!
kloc_set_mark "2.2 * free"
count_promoted
before=$promoted
echo 500000 >$tiering/scan_us
wait $sleeper
count_promoted
tiering_check "fast memory had no room ($free of $(low) pages)" [ "$free" -lt "$(low)" ]
tiering_check "often used pages are promoted ($((promoted - before)))" \
	[ $((promoted - before)) -gt 500 ]
tiering_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A node has room if one zone is above its watermark, as for kswapd: new page cache then goes to
# fast memory. If no zone is, the allocation wakes kswapd.

. ./_topology.sh

topology_begin 4 two_zones
tiering_save /proc/sys/kernel/numa_balancing

tiering_clean() {
	rm -f "$dir/file"*
	umount "$dir/tmpfs" 2>/dev/null
}

free() { # ZONE
	topology_pages "$fast" "$1" free
}

mark() { # ZONE NAME
	topology_pages "$fast" "$1" "$2"
}

protection() { # print how many pages DMA32 keeps from allocations that may be anywhere
	awk -v node="$fast," '
		/^Node/ { this = $2; zone = $4 }
		this == node && zone == "DMA32" && $1 == "protection:" {
			gsub(/[(),]/, " ")
			print $NF
		}' /proc/zoneinfo
}

fill() { # FILE PAGES
	[ "$2" -le 0 ] || head -c $(($2 * 4096)) /dev/zero >>"$dir/tmpfs/$1"
}

runs() { # of kswapd
	awk '$1 == "pageoutrun" { print $2 }' /proc/vmstat
}

has_run() {
	write_file more
	[ "$(runs)" -gt "$before" ]
}

write_file() { # NAME: write more to it
	head -c 8388608 /dev/zero >>"$dir/file$1"
}

show() {
	local zone

	for zone in DMA32 Normal; do
		tiering_note "$zone: $(free $zone) free; low $(mark $zone low)," \
			"high $(mark $zone high), promo $(mark $zone promo)"
	done
}

# kswapd makes room up to the mark of promotion.
echo 2 >/proc/sys/kernel/numa_balancing
mkdir "$dir/tmpfs"
mount -t tmpfs -o mpol=bind:"$fast",size=100% tmpfs "$dir/tmpfs" || tiering_skip "needs tmpfs"
tiering_drop_caches

# The marks of DMA32 and of Normal when kswapd keeps a tenth of each free, and again as much.
echo 1000 >$scale
high=$(mark Normal high)
low=$(mark Normal low)
enough=$(($(mark DMA32 promo) + $(protection) + 1024))
echo 10 >$scale

# Memory is taken of Normal first, and then of DMA32, of which a little more is left than enough.
fill normal $(($(free Normal) - $(mark Normal low)))
while [ "$(free DMA32)" -gt $((enough + 1024)) ]; do
	fill dma32 1024
done
# Then some of Normal is given back, so that it has more than its low mark, and less than high.
size=$(stat -c %s "$dir/tmpfs/normal")
wanted=$((low + (high - low) / 2 + 2048 - $(free Normal)))
[ $wanted -le 0 ] || truncate -s $((size - wanted * 4096)) "$dir/tmpfs/normal"
tiering_select kloc
echo 1000 >$scale
show

before=$(runs)
tiering_check "page cache goes to the fast node, one zone of which has enough free" \
	tiering_grows "$fast" 7 write_file first
tiering_control "it goes to slow memory" tiering_grows "$slow" 7 write_file second
show

tiering_check "kswapd is woken when no zone has" tiering_wait 20 has_run
tiering_note "kswapd ran $(($(runs) - before)) times"
show
rm "$dir"/file*
tiering_select none
tiering_check "no policy is left" tiering_is none
tiering_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The daemon of policy damo-tier: damo starts DAMON, then this tells DAMON again and again how much of
# fast memory is free. kloc exports KLOC_SCALE, by which periods are divided (1 on a server), and the
# nodes of fast and slow memory.
set -eu
kdamonds=/sys/kernel/mm/damon/admin/kdamonds
nodes=/sys/devices/system/node
ready=/run/kloc/damo-tier.ready
rm -f $ready

fail() {
	echo "damo-tier.sh: $*" >&2
	exit 1
}
# A number of a full-size machine divided by the scale, as a whole number, at least LEAST.
divided() { # NUMBER LEAST
	awk -v number="$1" -v scale="$KLOC_SCALE" -v least="$2" 'BEGIN {
		divided = int(number / scale + 0.5)
		print divided < least ? least : divided
	}'
}
# The addresses of a node, from its zones. damo knows nodes by blocks of memory, which are larger: a
# block may have memory of two nodes.
range() { # NODE
	awk -v node="$1" '
		/^Node/ { own = $2 == node "," }
		own && $1 == "spanned" { spanned = $2 }
		own && $1 == "present" { present = $2 }
		own && $1 == "start_pfn:" && present {
			if (!some++ || $2 < first) first = $2
			if ($2 + spanned > last) last = $2 + spanned
		}
		END { if (some) printf "%.0f-%.0f", first * 4096, last * 4096 }
	' /proc/zoneinfo
}
# Whether a block of memory is in both nodes.
shares_block() { # NODE NODE
	for block in $nodes/node$1/memory[0-9]*; do
		[ ! -e $nodes/node$2/${block##*/} ] || return 0
	done
	return 1
}
memory() { # NODE
	if shares_block $fast $slow; then
		echo "--ops paddr --regions $(range $1)"
	else
		echo "--ops paddr --numa_node $1"
	fi
}
# KiB of a node that allocations leave free (the low watermarks).
low() { # NODE
	awk -v node="$1" '
		/^Node/ { own = $2 == node "," }
		own && $1 == "low" { pages += $2 }
		END { print 4 * pages }
	' /proc/zoneinfo
}
# Fast memory that is free and that is used, in parts of 10,000.
measure() {
	while read -r _ _ name kib _; do
		case $name in
			MemTotal:) all=$kib ;;
			MemFree:) free=$kib ;;
		esac
	done <$nodes/node$fast/meminfo
	free=$((free > reserve ? (free - reserve) * 10000 / all : 0))
	used=$((10000 - free))
}
tell() { # KDAMOND VALUE
	echo "$2" >$kdamonds/$1/contexts/0/schemes/0/quotas/goals/0/current_value
	# Somebody else may be using the files of DAMON.
	for try in 1 2 3 4 5; do
		echo commit_schemes_quota_goals 2>/dev/null >$kdamonds/$1/state && return
		sleep 0.01
	done
}
is_on() {
	for number in 0 1; do
		read -r state <$kdamonds/$number/state && [ "$state" = on ] || return 1
	done
}

fast=$KLOC_FAST_NODES slow=$KLOC_SLOW_NODES
case "$fast,$slow" in
	*\ *|,*|*,) fail "fast memory is on nodes '$fast', slow memory on '$slow'; one node each is needed" ;;
esac
# On a server, damo's goals are above the watermarks, which are 0.1 or 0.2 % of a node. On a machine
# that is divided by a scale, watermarks are several percent: goals of free memory count from there.
reserve=0
[ "$KLOC_SCALE" = 1 ] || reserve=$(low $fast)
sample=$(divided 5000 1)
second=$(divided 1000 1)
monitoring="--monitoring_intervals ${sample}us $((20 * sample))us $(divided 1000000 1)us \
	--monitoring_nr_regions_range $(divided 10 3) $(divided 1000 3)"
# Whole pages, since DAMON never sees another limit as used up.
pages=$(divided 51200 1)
quota="--damos_apply_interval ${second}ms \
	--damos_quota_interval ${second}ms --damos_quota_space $((pages * 4096))"
measure
# Without quotes: these are several words.
damo start \
	$(memory $fast) $monitoring \
		--damos_action migrate_cold $slow --damos_access_rate 0% 0% $quota \
		--damos_quota_goal user_input 50 $free \
		--damos_filter reject young \
	$(memory $slow) $monitoring \
		--damos_action migrate_hot $fast --damos_access_rate 5% max $quota \
		--damos_quota_goal user_input 9970 $used \
		--damos_filter reject none young \
	--damos_nr_quota_goals 1 1 --damos_nr_filters 1 1 \
	--nr_targets 1 1 --nr_schemes 1 1 --nr_ctxs 1 1
pause=$(awk -v ms="$second" 'BEGIN { print ms / 1000 }')
# DAMON's quotas begin at one byte. While memory is free, that of promotion grows to its limit in 40
# periods. A server has this minute before its memory fills, but a machine loads at once: it waits.
[ "$KLOC_SCALE" = 1 ] && periods=0 || periods=60
while is_on; do
	measure
	tell 0 $free
	tell 1 $used
	[ $periods -ne 0 ] || : >$ready
	periods=$((periods - 1))
	sleep "$pause"
done
fail "DAMON is not on any more"

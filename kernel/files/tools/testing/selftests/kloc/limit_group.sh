#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Limits of cgroups: freed pages do not count any more, under any policy; the oldest pages are
# demoted, and no more than the excess; and a hidden cgroup has no limit.

. ./_kloc.sh

kloc_begin 8
tiering_save $tiering/kloc/inactive_age
tiering_group kloc-limit memory io
group=$groups/kloc-limit
echo "+memory +io" >"$group/cgroup.subtree_control"
mkdir "$group/below"

tiering_clean() {
	exec 3<&- 4<&-
	rmdir "$group/below" "$group/empty" "$group" 2>/dev/null
}

placed_slow() {
	tiering_stat file placed_slow
}

inside() { # COMMAND...: run a command in the cgroup below
	tiering_in_group kloc-limit/below "$@"
}

rewrite() { # COUNT: have the cgroup write a file of 4 MiB so often, and remove it each time
	local left

	for left in $(seq "$1"); do
		inside head -c 4194304 /dev/zero >"$dir/again"
		rm "$dir/again"
	done
}

is_placed_fast() { # COMMAND...: do fewer than 128 new pages go to slow memory?
	local before

	before=$(placed_slow)
	"$@"
	tiering_note "$(($(placed_slow) - before)) pages were placed in slow memory"
	[ $(($(placed_slow) - before)) -lt 128 ]
}

write() { # NAME MIB
	inside head -c $(($2 << 20)) /dev/zero >"$dir/$1"
}

fast() { # NAME: print how many pages of a file are in fast memory
	kloc_context "$dir/$1" fast
}

is_within() { # BYTES: has the cgroup no more than that in fast memory?
	[ "$(cat "$group/memory.kloc.current")" -le "$1" ]
}

# Demote a page at a time, so that the walk over the cgroups ends several times.
lower_by_pages() { # COUNT
	local limit

	for limit in $(seq "$1"); do
		limit=$(($(cat "$group/memory.kloc.current") - 4096))
		echo $limit >"$group/memory.kloc.max"
		tiering_wait 5 is_within $limit || return 1
	done
}

leave_few() {
	[ $left -ge 6 ] && [ $left -lt 64 ]
}

old_has_left() { # has all but 1 MiB of the excess left?
	[ "$(fast old)" -le $((4096 - 3072 + 256)) ]
}

echo 16M >"$group/memory.kloc.max"
tiering_check "freed pages leave room for more" is_placed_fast rewrite 10
tiering_control "pages that are not freed do" is_placed_fast write kept 32
rm "$dir/kept"
if tiering_select kloc-nomigrate; then
	tiering_check "so it does without daemons" is_placed_fast rewrite 10
else
	tiering_check "so it does without daemons # SKIP needs CONFIG_TIERING_CONTROLS" true
fi
tiering_select kloc

# Both files are in use. Scans are long, so that no other page moves.
echo max >"$group/memory.kloc.max"
echo 255 >$tiering/kloc/inactive_age
write old 16
sync
write new 24
sync
exec 3<"$dir/old" 4<"$dir/new"
before=$(fast new)
tiering_note "$(fast old) pages of the old file are in fast memory, and $before of the new one"
echo 28M >"$group/memory.kloc.max"
tiering_check "the oldest pages leave" tiering_wait 10 old_has_left
tiering_note "$(fast old) pages of the old file are in fast memory, and $(fast new) of the new one"
tiering_check "and no others" [ $((before - $(fast new))) -lt 512 ]

# The walk over the cgroups continues after the one below, which had the last page.
mkdir "$group/empty"
before=$(tiering_stat file demoted_limit)
lower_by_pages 6
left=$(($(tiering_stat file demoted_limit) - before))
tiering_check "no more pages leave than the excess of 6 ($left left)" leave_few
rmdir "$group/empty"
exec 3<&- 4<&-
rm "$dir/old" "$dir/new"

# io needs memory, which is hidden in the group then, and not gone.
echo max >"$group/memory.kloc.max"
echo 1M >"$group/below/memory.kloc.max"
tiering_control "a cgroup below has a limit of its own" is_placed_fast write shown 8
rm "$dir/shown"
echo "-memory" >"$group/cgroup.subtree_control"
tiering_check "it has none once it is hidden" is_placed_fast write hidden 8
tiering_end

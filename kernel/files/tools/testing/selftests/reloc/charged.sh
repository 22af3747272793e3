#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Dentries and inodes in the arena are charged to the cgroup of the task that creates them, on any
# node, and uncharged when they are freed.

. ./_reloc.sh

groups=/sys/fs/cgroup
group=$groups/reloc-charged
files=3000

tiering_clean() {
	[ -e "$group" ] && rmdir "$group"
}

in_group() { # COMMAND...: run a command in the cgroup
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"
}

# memory.stat is up to date after two seconds.
slab() {
	sleep 2.5
	awk '$1 == "slab_reclaimable" { print $2 }' "$group/memory.stat"
}

near() { # BYTES BYTES: do they differ by a tenth at most?
	[ $(($1 * 10)) -ge $(($2 * 9)) ] && [ $(($1 * 9)) -le $(($2 * 10)) ]
}

reloc_begin 5
[ -e "$groups/cgroup.subtree_control" ] || tiering_skip "needs cgroup v2"
echo +memory >"$groups/cgroup.subtree_control" || tiering_skip "needs memory cgroups"
mkdir "$group"
mkdir "$dir/files"

before=$(slab)
in_group sh -c 'cd "$0" && touch $(seq "$1")' "$dir/files" $files
made=$(($(slab) - before))
# An inode and a dentry have more than 1000 bytes.
tiering_check "new objects are charged ($made bytes)" [ $made -gt $((files * 1000)) ]
reloc_move_all "$slow"
moved=$(($(slab) - before))
tiering_check "they are charged after a move ($moved bytes)" near $moved $made
sync
rm -r "$dir/files"
echo 2 >/proc/sys/vm/drop_caches
freed=$(($(slab) - before))
tiering_check "freed objects are uncharged ($freed bytes left)" [ $freed -lt $((made / 4)) ]
mkdir "$dir/files"
(cd "$dir/files" && touch $(seq $files))
others=$(($(slab) - before))
tiering_control "objects of other tasks are charged to the cgroup ($others bytes)" \
	[ $others -gt $((made / 2)) ]
reloc_move_all "$fast"
rm -r "$dir/files"
echo 2 >/proc/sys/vm/drop_caches
sleep 1
tiering_check "an empty cgroup can be removed" rmdir "$group"
tiering_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Dentries and inodes of ext4 move between the nodes while processes on all CPUs create, link,
# rename, look up and remove the same files, and while caches are dropped. No file is lost, and the
# kernel reports nothing. RELOC_MOVES is how many pages move, in RELOC_SECONDS at most.

. ./_reloc.sh

names=30
moves=${RELOC_MOVES:-100000}
seconds=${RELOC_SECONDS:-200}

# work NAME: use private files, and shared files, some of which are missing at times.
work() {
	local name="$1" round=0 i text

	mkdir "$dir/$name"
	while [ -e "$dir/storm" ]; do
		round=$((round + 1))
		for i in $(seq $names); do
			echo "$round $i" >"$dir/$name/$i"
			# The inode has where a short link leads to.
			ln -s "$i" "$dir/$name/link-$i"
			ln "$dir/$name/$i" "$dir/shared/$i" 2>/dev/null
			mv "$dir/shared/$i" "$dir/shared/$((i % 7))-moved" 2>/dev/null
			[ -e "$dir/shared/$i" ] && cat "$dir/shared/$i" >/dev/null 2>&1
		done
		# The second lookup finds the negative dentry.
		ls -l "$dir/shared" "$dir/shared"/missing-1 "$dir/shared"/missing-1 >/dev/null 2>&1
		for i in $(seq $names); do
			read -r text <"$dir/$name/link-$i"
			[ "$text" = "$round $i" ] &&
				[ "$(readlink "$dir/$name/link-$i")" = "$i" ] ||
				echo "$name: round $round, file $i" >>"$dir/wrong"
		done
		rm -f "$dir/shared"/*
		rm "$dir/$name"/*
		[ -z "$(ls "$dir/$name")" ] || echo "$name: files are left" >>"$dir/wrong"
		echo $round >"$dir/rounds-$name"
	done
}

drop() { # inodes and dentries are freed, and those in use are looked for again
	while [ -e "$dir/storm" ]; do
		echo 2 >/proc/sys/vm/drop_caches
		sleep 0.3
	done
}

look() { # read all files
	while [ -e "$dir/storm" ]; do
		cat $reloc/pages $reloc/stats >/dev/null
		cat /sys/kernel/slab/dentry/shrink /sys/kernel/slab/dentry/objects \
			/sys/kernel/slab/ext4_inode_cache/objects >/dev/null 2>&1
		echo 1 2>/dev/null >/sys/kernel/slab/dentry/shrink
		sleep 0.1
	done
}

no_warnings() {
	[ "$(reloc_reports)" = "$before" ]
}

storm() { # move all to and fro, with either way to copy
	local round=0 begin end moved=0

	end=$(($(date +%s) + seconds))
	begin=$(reloc_stat moved)
	while [ $moved -lt "$moves" ] && [ "$(date +%s)" -lt $end ]; do
		round=$((round + 1))
		echo $((round % 3 > 0)) >$reloc/precopy
		reloc_move_all "$slow" && reloc_move_all "$fast" || return 1
		moved=$(($(reloc_stat moved) - begin))
	done
	tiering_note "$moved pages moved in $round rounds, $(reloc_stat recopied) were copied again"
	[ $moved -ge "$moves" ]
}

nothing_is_wrong() {
	local name

	[ ! -e "$dir/wrong" ] || { head "$dir/wrong" && return 1; }
	for name in $workers; do
		tiering_note "$name: $(cat "$dir/rounds-$name") rounds"
		[ "$(cat "$dir/rounds-$name")" -gt 0 ] || return 1
	done
}

reloc_begin 5
before=$(reloc_reports)
mkdir "$dir/shared"
touch "$dir/storm"
workers=$(seq -f worker-%g $(($(nproc) + 1)))
for worker in $workers; do
	work "$worker" &
done
drop &
look &
tiering_check "$moves pages move under load" storm
rm "$dir/storm"
wait
tiering_check "each worker found its files as it left them" nothing_is_wrong
echo "a file is not as it was left" >"$dir/wrong"
tiering_control "a file that is not is seen" nothing_is_wrong
tiering_check "nothing is said in the log" no_warnings
echo "<7>Oops, says the control of a selftest" >/dev/kmsg
tiering_control "a warning is seen" no_warnings
tiering_end

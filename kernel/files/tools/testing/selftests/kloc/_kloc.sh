# SPDX-License-Identifier: GPL-2.0
#
# Functions of the selftests of contexts of files. _tiering.sh has the results and the
# policies. Each test sources this file and calls kloc_begin.
#
# A test restores all settings and removes its files when it exits. Its files are in a new
# directory in $TMPDIR, which should be on a disk; tests that need tmpfs mount one.

. ../tiering/_tiering.sh

kloc=/sys/kernel/mm/kloc
contexts=/sys/kernel/debug/kloc/contexts
scale=/proc/sys/vm/watermark_scale_factor

# kloc_begin COUNT: begin a test with COUNT results, with the policy kloc
kloc_begin() {
	tiering_begin "$1"
	[ -e $contexts ] || tiering_skip "needs debugfs"
	tiering_save $tiering/kloc/inactive_age $kloc/scope $kloc/kinds $scale
	kloc_stay
	echo all >$kloc/scope
	echo "file blockdev slab" >$kloc/kinds
	tiering_select kloc
}

# Stay on the CPUs of $fast: page cache is placed and promoted by the CPU of its user.
kloc_stay() {
	! command -v taskset >/dev/null ||
		taskset -pc "$(cat /sys/devices/system/node/node"$fast"/cpulist)" $$ >/dev/null
}

# kloc_context FILE COLUMN...: sum columns of the context of a file; print nothing without one
kloc_context() {
	local file="$1"

	shift
	awk -F '\t' -v columns="$*" -v ino="$(stat -c %i "$file")" \
	    -v dev="$(stat -c %Hd:%Ld "$file")" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; split(columns, names, " "); next }
		$at["ino"] == ino && $at["dev"] == dev {
			for (i in names) sum += $at[names[i]]
			print sum
		}
	' $contexts
}

# kloc_read_slow FILE: read all of a file into slow memory; pages in use cannot be dropped
kloc_read_slow() {
	tiering_wait 10 kloc_reads_slow "$1"
}

kloc_reads_slow() { # FILE
	tiering_drop_caches
	on_node "$slow" cat "$1" >/dev/null
	[ "$(kloc_context "$1" fast)" = 0 ]
}

# kloc_in_slow COMMAND...: print how many new pages of files begin in slow memory meanwhile
kloc_in_slow() {
	local before

	before=$(tiering_stat file placed_slow)
	"$@" >&2
	echo $(($(tiering_stat file placed_slow) - before))
}

kloc_is_active() { # FILE
	[ "$(kloc_context "$1" active)" = 1 ]
}

# kloc_pages_in DIRECTORY COLUMN: sum a column over the contexts of files in a directory of $dir
kloc_pages_in() {
	awk -F '\t' -v column="$2" -v path="/$(basename "$dir")/$1/" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		index($at["path"], path) { sum += $at[column] }
		END { print sum + 0 }
	' $contexts
}

kloc_has_left() { # DIRECTORY: has no file in a directory of $dir pages in fast memory?
	[ "$(kloc_pages_in "$1" fast)" = 0 ]
}

# kloc_files DIRECTORY COUNT KIB: make a directory in $dir with COUNT files of KIB KiB each
kloc_files() {
	mkdir -p "$dir/$1"
	head -c $(($2 * $3 * 1024)) /dev/zero |
		(cd "$dir/$1" && split -a 4 -b "${3}k")
}

# kloc_use FILE...: read a byte of each, so that it has a context
kloc_use() {
	local file

	for file; do
		head -c 1 "$file" >/dev/null
	done
}

# kloc_set_mark PAGES: set kswapd's mark on the fast node, an awk expression of its free pages
kloc_set_mark() {
	awk -v node="$fast," '
		/^Node/ { this = $2; zone = $4 }
		this != node || zone == "DMA" { next }
		$1 == "managed" { all += $2 }
		$1 == "min" { min += $2 }
		$1 == "pages" && $2 == "free" { free += $3 }
		END {
			scale = int(('"$1"' - min) * 10000 / (2 * all))
			print (scale > 3000 ? 3000 : scale < 1 ? 1 : scale)
		}' /proc/zoneinfo >$scale
}

# kloc_make_short: have the policy find fast memory short, though kswapd has nothing to do
#
# Less is free than twice kswapd's mark, and more than the mark: min and twice the scale.
kloc_make_short() {
	kloc_set_mark "0.7 * free"
}

# kloc_fill MIB: fill fast memory with pages that cannot move, except for MIB MiB, until
# tiering_fill_end
kloc_fill() {
	tiering_fill "$fast" $(($1 * 1024))
}

# kloc_press MIB: have kswapd want so much room in fast memory; it is woken by kloc_wake
kloc_press() {
	kloc_set_mark "free + $(($1 * 256))"
}

# kloc_wake: wake kswapd by new page cache
kloc_wake() {
	rm -f "$dir/new"
	echo new >"$dir/new"
}

# kloc_demote_all: have all that is not in use and not dirty leave fast memory, soon
kloc_demote_all() {
	sync
	echo 100000 >$tiering/scan_us
	kloc_make_short
}

# kloc_trace FUNCTION...: trace calls of these functions from now on
kloc_trace() {
	tracing=/sys/kernel/tracing
	[ -e $tracing/trace ] || mount -t tracefs none $tracing 2>/dev/null
	[ -e $tracing/set_ftrace_filter ] || tiering_skip "needs the function tracer"
	echo nop >$tracing/current_tracer
	echo "$*" 2>/dev/null >$tracing/set_ftrace_filter ||
		tiering_skip "cannot trace all of $*"
	# Names of tasks are not needed, and would have the scheduler's code patched.
	echo 0 >$tracing/options/record-cmd
	echo function >$tracing/current_tracer
	echo 1 >$tracing/tracing_on
	echo >$tracing/trace
}

kloc_trace_end() {
	[ -z "$tracing" ] || {
		echo nop >$tracing/current_tracer
		echo >$tracing/set_ftrace_filter
		echo 1 >$tracing/options/record-cmd
	}
}

kloc_traced() { # PATTERN: print how many calls since kloc_trace match
	grep -cE "$1" $tracing/trace
}

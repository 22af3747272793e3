# SPDX-License-Identifier: GPL-2.0
# Print how many pages moved between nodes since the machine booted, as lines "NAME PAGES": `all`,
# and of these `damon_promoted` and `damon_demoted`. Arguments: /proc/vmstat, the mode of NUMA
# balancing, the policy's counts of slabs (FOLDER/slab/*), and of each scheme of DAMON its action
# and stats/sz_applied, which somebody has updated. Files that do not exist are passed over.
#
# pgpromote_success and pgdemote_* have the moves of reclaim, of NUMA balancing for tiers, and of
# the policies of mm/tiering, contexts included: tiering_count_move() in mm/tiering/migrate.c counts
# each of these folios there, so their counts in FOLDER/file and FOLDER/anon would count them twice.
# Not in these counters are slabs, hint faults under mode 1 of NUMA balancing, and DAMON.
BEGIN {
	for (i = 1; i < ARGC; i++) {
		if ((getline line <ARGV[i]) < 0) delete ARGV[i]
		else close(ARGV[i])
	}
}
FILENAME ~ /numa_balancing$/ { mode = $1 }
FILENAME ~ /vmstat$/ && /^(pgpromote_success|pgdemote_)/ { all += $2 }
FILENAME ~ /vmstat$/ && $1 == "numa_pages_migrated" { by_hints = $2 }
# The copies that were wasted, such as demoted_old_freed, are among the others.
FILENAME ~ /slab\/(promoted|demoted)_[a-z]+$/ { all += $1 }
FILENAME ~ /action$/ { action[substr(FILENAME, 1, length(FILENAME) - length("/action"))] = $1 }
FILENAME ~ /sz_applied$/ {
	applied[substr(FILENAME, 1, length(FILENAME) - length("/stats/sz_applied"))] = $1 / 4096
}
END {
	for (scheme in applied) {
		if (action[scheme] == "migrate_hot") promoted += applied[scheme]
		if (action[scheme] == "migrate_cold") demoted += applied[scheme]
	}
	all += promoted + demoted + (mode == 1 ? by_hints : 0)
	printf "all %.0f\ndamon_promoted %.0f\ndamon_demoted %.0f\n", all, promoted, demoted
}

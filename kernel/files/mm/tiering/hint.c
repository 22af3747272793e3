// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: the hint faults of NUMA balancing.
 *
 * A scan of NUMA balancing makes pages inaccessible, so that the next use of each page
 * is a fault. A policy with TIERING_HINTS gets a history of these faults for each folio,
 * and decides where the folio should be (AutoTiering, USENIX ATC 2021).
 */
#include <linux/cpuset.h>
#include <linux/memory-tiers.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/numa_balancing.h>
#include <linux/srcu.h>
#include <linux/tiering.h>
#include <linux/timekeeping.h>

#include "internal.h"

#include <trace/events/tiering.h>

/* The largest number of pages that a fault demotes for others. */
#define TIERING_HINT_DEFICIT	15L

/* Called by tiering_folio_new(). */
void __tiering_folio_new(struct folio *folio)
{
	tiering_page_new(folio);
}

/* Called by tiering_folio_scanned(). A large folio has one record: note one scan of it. */
void __tiering_folio_scanned(struct folio *folio, unsigned long pfn)
{
	if (pfn == folio_pfn(folio))
		tiering_page_scan(folio);
}

/* Called by tiering_folio_hinted(). */
void __tiering_folio_hinted(struct folio *folio)
{
	tiering_page_hint(folio);
}

/*
 * Note the task for NUMA balancing, which groups tasks by their faults, as
 * should_numa_migrate_memory() does. Slow memory has a time in place of the task in the
 * tiering mode.
 */
static void tiering_hint_note_task(struct folio *folio)
{
	if (!folio_use_access_time(folio))
		folio_xchg_last_cpupid(folio,
				       cpu_pid_to_cpupid(raw_smp_processor_id(),
							 current->pid));
}

/*
 * Test whether the policy is asked about a fault. Between nodes of fast memory, NUMA
 * balancing decides first whether the folio follows the task: one that tasks of several
 * nodes share would go back and forth.
 */
static bool tiering_hint_counts(struct folio *folio)
{
	int nid = folio_nid(folio);

	if (!tiering_is_slow(nid))
		return should_numa_migrate_memory(current, folio, nid,
						  raw_smp_processor_id());
	tiering_hint_note_task(folio);
	return true;
}

/* Test whether the limits of fast memory allow page cache to come. */
static bool tiering_hint_allowed(struct folio *folio, int nid)
{
	return !tiering_is_slow(folio_nid(folio)) || tiering_is_slow(nid) ||
	       (tiering_limit_may_promote(nid, folio, 0) &&
		tiering_memcg_may_promote(folio, 0));
}

/**
 * tiering_hint_fault() - ask the selected policy where a folio should be
 * @folio: the folio, of which tiering_folio_hinted() was told
 * @cpu_nid: node of the CPU
 *
 * Only for memory without a memory policy, which would win. The cpuset of the task wins
 * over the policy.
 *
 * Context: hint fault, with the lock of the page table.
 * Return: the node; NUMA_NO_NODE if the folio should stay where it is.
 */
int tiering_hint_fault(struct folio *folio, int cpu_nid)
{
	const struct tiering_policy *policy;
	struct tiering_node *tn;
	int nid = NUMA_NO_NODE;

	if (!tiering_hint_counts(folio))
		return NUMA_NO_NODE;
	rcu_read_lock();
	policy = rcu_dereference(tiering_selected);
	tn = rcu_dereference(tiering_near[cpu_nid]);
	if (policy && policy->hint_fault && tn)
		nid = policy->hint_fault(tn, folio, tiering_page_history(folio),
					 cpu_nid);
	/* The cpuset may allow other fast memory. */
	if (nid != NUMA_NO_NODE && !node_isset(nid, cpuset_current_mems_allowed))
		nid = tiering_better_node(folio, cpu_nid);
	if (nid != NUMA_NO_NODE && !tiering_hint_allowed(folio, nid))
		nid = NUMA_NO_NODE;
	rcu_read_unlock();
	return nid == folio_nid(folio) ? NUMA_NO_NODE : nid;
}

/* Called by tiering_makes_room(). */
bool __tiering_makes_room(struct folio *folio, int nid)
{
	const struct tiering_policy *policy;
	const struct tiering_node *tn;
	bool makes_room;

	rcu_read_lock();
	policy = rcu_dereference(tiering_selected);
	tn = rcu_dereference(tiering_near[nid]);
	makes_room = policy && policy->hint_room && tn && tn->nid == nid &&
		     tiering_is_slow(folio_nid(folio));
	rcu_read_unlock();
	return makes_room;
}

/*
 * Demote as many pages as a folio has, and some for tasks that found none. Only one task
 * at a time demotes, so that a burst of faults does not empty the node; the others go on
 * without, and leave a deficit. Return: true if this task was the one.
 */
static bool tiering_hint_make_room(struct folio *folio, int nid)
{
	const long deficit = clamp(-tiering_room(nid), 0L, TIERING_HINT_DEFICIT);
	struct tiering_batch b = {
		.folios = LIST_HEAD_INIT(b.folios),
		.room = LONG_MAX,
		.most = folio_nr_pages(folio) + deficit,
	};
	const struct tiering_policy *policy;
	struct tiering_node *tn;
	bool is_one = false;
	int index;

	index = srcu_read_lock(&tiering_srcu);
	policy = srcu_dereference(tiering_selected, &tiering_srcu);
	tn = srcu_dereference(tiering_near[nid], &tiering_srcu);
	if (policy && policy->hint_room && tn && tn->nid == nid &&
	    mutex_trylock(&tn->making_room)) {
		is_one = true;
		policy->hint_room(tn, &b, folio_order(folio));
		if (b.why == TIERING_DEMOTED_PAIR)
			b.pair = folio;
		/*
		 * The allocation checks the watermark before it takes from a list of
		 * this CPU, and others find no deficit any more.
		 */
		if (tiering_migrate(tn, &b) &&
		    (deficit || !tiering_may_alloc(nid, folio_order(folio))))
			tiering_drain_free(nid);
		mutex_unlock(&tn->making_room);
	}
	srcu_read_unlock(&tiering_srcu, index);
	return is_one;
}

/* Called by tiering_hint_begin(). */
bool __tiering_hint_begin(struct tiering_hint *hint, struct folio *folio, int nid)
{
	hint->began = ktime_get_mono_fast_ns();
	hint->room_ns = 0;
	if (!tiering_is_slow(folio_nid(folio)) ||
	    tiering_is_balanced(nid, folio_order(folio)))
		return true;
	if (tiering_hint_make_room(folio, nid))
		hint->room_ns = ktime_get_mono_fast_ns() - hint->began;
	/* Without this, faults would use up the pages below WMARK_LOW. */
	return tiering_may_alloc(nid, folio_order(folio));
}

/* Called by tiering_hint_end(). */
void __tiering_hint_end(const struct tiering_hint *hint, int src, int nid,
			unsigned int moved)
{
	u64 ns = ktime_get_mono_fast_ns() - hint->began;

	if (moved && tiering_is_slow(src) && tiering_is_fast(nid))
		tiering_count_wait(ns);
	trace_tiering_hint(src, nid, moved, ns, hint->room_ns);
}

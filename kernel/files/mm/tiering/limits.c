// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: limits of page cache in fast memory, by node and by cgroup.
 *
 * A limit of a node also covers relocatable slabs. A limit of a cgroup does not, as a
 * slab page holds objects of several cgroups.
 *
 * Placement and promotion compare the sizes of the LRU lists with the limits. Daemons
 * demote the oldest pages above a limit. Page cache of tmpfs is on the lists of
 * anonymous memory and does not count.
 */
#include <linux/cpumask.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/mutex.h>
#include <linux/pagemap.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/reloc.h>
#include <linux/sched.h>
#include <linux/swap.h>
#include <linux/tiering_slab.h>
#include <linux/vmstat.h>

#include "internal.h"
#include "policy_lru.h"

/* True if any node or cgroup has a limit. Written under the mutex. */
bool tiering_limits;
static DEFINE_MUTEX(tiering_limits_mutex);

unsigned long tiering_node_max[MAX_NUMNODES] = {
	[0 ... MAX_NUMNODES - 1] = TIERING_NO_LIMIT,
};

/* The largest number of cgroups that a daemon checks in a call. */
#define TIERING_LIMIT_LOOKS	128

/**
 * struct tiering_limit_pass - a pass of a node's daemon over the cgroups with a limit
 * @next: id of the next cgroup
 * @has_taken: this pass has taken page cache
 */
struct tiering_limit_pass {
	unsigned long next;
	bool has_taken;
};

static struct tiering_limit_pass tiering_limit_passes[MAX_NUMNODES];

static bool tiering_any_node_limited(void)
{
	int nid;

	for (nid = 0; nid < MAX_NUMNODES; nid++)
		if (READ_ONCE(tiering_node_max[nid]) != TIERING_NO_LIMIT)
			return true;
	return false;
}

/**
 * tiering_limit_changed() - update tiering_limits after a limit has changed
 *
 * Context: may sleep.
 */
void tiering_limit_changed(void)
{
	/* The last holder sees the limits that all earlier holders have set. */
	mutex_lock(&tiering_limits_mutex);
	WRITE_ONCE(tiering_limits,
		   tiering_memcg_any_limited() || tiering_any_node_limited());
	mutex_unlock(&tiering_limits_mutex);
}

/* Count page cache and relocatable slabs on a node, without pending per-CPU changes. */
static unsigned long tiering_limit_pages(int nid)
{
	unsigned long pages = node_page_state(NODE_DATA(nid), NR_ACTIVE_FILE) +
			      node_page_state(NODE_DATA(nid), NR_INACTIVE_FILE);

	/* Slabs do not count unless the policy can move them. */
	if (static_branch_unlikely(&tiering_slabs_key) &&
	    tiering_takes_part(TIERING_SLAB))
		pages += reloc_pages_on(nid);
	return pages;
}

/*
 * Sum up the per-CPU changes of page cache that a node's counters do not include yet.
 */
static long tiering_limit_files_held(int nid)
{
	struct per_cpu_nodestat *stat;
	long pages = 0;
	int cpu;

	for_each_online_cpu(cpu) {
		stat = per_cpu_ptr(NODE_DATA(nid)->per_cpu_nodestats, cpu);
		pages += READ_ONCE(stat->vm_node_stat_diff[NR_ACTIVE_FILE]) +
			 READ_ONCE(stat->vm_node_stat_diff[NR_INACTIVE_FILE]);
	}
	return pages;
}

/**
 * tiering_limit_room() - get the pages that a node's limit leaves for cache and slabs
 * @nid: the node
 *
 * Reads the counters of each CPU for an exact result: with errors, demotion and
 * promotion would chase each other forever. Pages in the batches of other CPUs do not
 * count: to drain these takes an interrupt of each CPU.
 *
 * Context: the daemon of @nid, which drains the batches of the CPU it runs on.
 * Return: pages, LONG_MAX without a limit; negative above the limit.
 */
long tiering_limit_room(int nid)
{
	unsigned long max = READ_ONCE(tiering_node_max[nid]);

	if (max == TIERING_NO_LIMIT)
		return LONG_MAX;
	/* Pages in this CPU's batches, such as those just put back, count nowhere. */
	lru_add_drain();
	return (long)max - (long)tiering_limit_pages(nid) - tiering_limit_files_held(nid);
}

/**
 * tiering_limit_node() - test whether a node's limit allows more page cache or slabs
 * @nid: the node
 * @pages: number of additional pages
 *
 * Return: true if the limit allows them.
 */
bool tiering_limit_node(int nid, unsigned int pages)
{
	unsigned long max = READ_ONCE(tiering_node_max[nid]);

	return max == TIERING_NO_LIMIT || tiering_limit_pages(nid) + pages <= max;
}

/**
 * tiering_limit_may_add() - test whether limits allow this task new cache on a fast
 * node
 * @nid: the node
 * @pages: number of additional pages
 *
 * Context: RCU read-side critical section.
 * Return: true if the limits of the node and of the task's cgroups allow them.
 */
bool tiering_limit_may_add(int nid, unsigned int pages)
{
	return !READ_ONCE(tiering_limits) ||
	       (tiering_limit_node(nid, pages) && tiering_memcg_may_add(pages));
}

/**
 * tiering_limit_may_promote() - test whether a node's limit allows a folio to come
 * @nid: the node
 * @folio: the folio, of any memory
 * @more: other pages that are about to come
 *
 * For policies whose promotions are not page cache alone. The daemon applies the limit
 * to whole batches under the others.
 *
 * Return: false for page cache above the limit.
 */
bool tiering_limit_may_promote(int nid, struct folio *folio, unsigned int more)
{
	return !READ_ONCE(tiering_limits) || !folio_is_file_lru(folio) ||
	       tiering_limit_node(nid, more + folio_nr_pages(folio));
}

/* Take @excess pages of page cache of a cgroup, NULL for all, or one larger folio. */
static void tiering_limit_take(struct tiering_node *tn, struct tiering_batch *b,
			       struct mem_cgroup *memcg, long excess)
{
	/* Take no more: promotions would fill the room and be demoted again. */
	b->room = excess;
	if (!policy_lru_take(tn, b, memcg, TIERING_FILE, NULL)) {
		b->may_exceed = true;
		policy_lru_take(tn, b, memcg, TIERING_FILE, NULL);
		b->may_exceed = false;
	}
	/* An empty batch is the policy's. */
	b->room = LONG_MAX;
}

/* Get the pages of a cgroup and its descendants above its limit. 0 without a limit. */
static long tiering_limit_excess(struct mem_cgroup *memcg)
{
	unsigned long max = tiering_memcg_max(memcg);

	return max == TIERING_NO_LIMIT ? 0 :
	       (long)tiering_memcg_used(memcg) - (long)max;
}

/*
 * Take page cache of the next cgroup that exceeds its limit and has some on the node.
 * Set @b->more after that, and after a pass over all cgroups that has taken some.
 */
static void tiering_limit_fill_groups(struct tiering_node *tn,
				      struct tiering_batch *b)
{
	struct tiering_limit_pass *pass = &tiering_limit_passes[tn->nid];
	unsigned int looks;

	for (looks = 0; looks < TIERING_LIMIT_LOOKS && !b->more; looks++) {
		struct mem_cgroup *memcg = tiering_memcg_next_limited(&pass->next);
		long excess;

		if (!memcg) {
			b->more = pass->has_taken;
			*pass = (struct tiering_limit_pass) { };
			break;
		}
		excess = tiering_limit_excess(memcg);
		/* One cgroup a call: it may take thousands of checks in vain. */
		if (excess > 0 && tiering_memcg_files(memcg, tn->nid)) {
			tiering_limit_take(tn, b, memcg, excess);
			pass->has_taken |= b->pages > 0;
			b->more = true;
		}
		mem_cgroup_put(memcg);
		cond_resched();
	}
	/* Other cgroups are left to check. */
	b->more |= looks == TIERING_LIMIT_LOOKS;
}

/**
 * tiering_limit_fill() - fill a batch with the oldest page cache above a limit
 * @tn: the node
 * @b: the batch
 *
 * The next call continues with the next cgroup.
 *
 * Context: the daemon; may sleep.
 * Return: pages in @b.
 */
long tiering_limit_fill(struct tiering_node *tn, struct tiering_batch *b)
{
	long excess;

	if (!READ_ONCE(tiering_limits))
		return 0;
	b->why = TIERING_DEMOTED_LIMIT;
	excess = -tiering_limit_room(tn->nid);
	/* Unused slabs are demoted before page cache. */
	if (excess > 0 && !tiering_slabs_are_looked_at(tn))
		tiering_limit_take(tn, b, NULL, excess);
	if (!b->pages)
		tiering_limit_fill_groups(tn, b);
	return b->pages;
}

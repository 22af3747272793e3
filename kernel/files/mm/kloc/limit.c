// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: limits of what page cache may have in fast memory, for a node and
 * for a cgroup. That of a node is for slabs that can move, too; on a page of these are
 * objects of several cgroups.
 *
 * New pages and promotions go by what is charged. What is above a limit leaves: first
 * pages of contexts that are not in use, then any, the oldest first. Page cache of
 * tmpfs is on the lists of anonymous memory, and is not counted.
 */
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pagemap.h>
#include <linux/rcupdate.h>
#include <linux/reloc.h>
#include <linux/tiering_slab.h>
#include <linux/vmstat.h>

#include "../tiering/policy_lru.h"
#include "kloc.h"

/* Is any node or cgroup limited? Changed under the mutex. */
bool kloc_limits;
static DEFINE_MUTEX(kloc_limits_mutex);

unsigned long kloc_node_max[MAX_NUMNODES] = {
	[0 ... MAX_NUMNODES - 1] = KLOC_NO_LIMIT,
};

static bool kloc_any_node_limited(void)
{
	int nid;

	for (nid = 0; nid < MAX_NUMNODES; nid++)
		if (READ_ONCE(kloc_node_max[nid]) != KLOC_NO_LIMIT)
			return true;
	return false;
}

/**
 * kloc_limit_changed() - a limit was set or taken away
 *
 * Context: may sleep.
 */
void kloc_limit_changed(void)
{
	/* Whoever takes it last sees the limits that all others have set. */
	mutex_lock(&kloc_limits_mutex);
	WRITE_ONCE(kloc_limits,
		   kloc_memcg_any_limited() || kloc_any_node_limited());
	mutex_unlock(&kloc_limits_mutex);
}

/* How many pages of page cache, and of slabs that can move, does a node have? */
static unsigned long kloc_node_pages(int nid)
{
	unsigned long pages = node_page_state(NODE_DATA(nid), NR_ACTIVE_FILE) +
			      node_page_state(NODE_DATA(nid), NR_INACTIVE_FILE);

	/* Nobody can help it where the policy moves none. */
	if (static_branch_unlikely(&tiering_slabs_key) &&
	    READ_ONCE(kloc_settings.kinds) & BIT(TIERING_SLAB))
		pages += reloc_pages_on(nid);
	return pages;
}

/**
 * kloc_limit_node() - may a node have more page cache, or slabs?
 * @nid: the node
 * @pages: how much more
 *
 * Return: true if its limit allows it.
 */
bool kloc_limit_node(int nid, unsigned int pages)
{
	unsigned long max = READ_ONCE(kloc_node_max[nid]);

	return max == KLOC_NO_LIMIT || kloc_node_pages(nid) + pages <= max;
}

/**
 * kloc_limit_look() - count what limited cgroups have
 * @tn: node whose daemon calls; only that of the first one counts
 *
 * Context: may sleep.
 */
void kloc_limit_look(const struct tiering_node *tn)
{
	if (!tn->index && READ_ONCE(kloc_limits))
		kloc_memcg_count_limited();
}

static bool kloc_limit_choose_inactive(struct tiering_node *tn,
				       struct folio *folio)
{
	const struct knode *knode;
	bool inactive;

	rcu_read_lock();
	knode = kloc_knode_in(folio_mapping(folio));
	inactive = knode && !knode_inuse(knode);
	rcu_read_unlock();
	return inactive;
}

/* Take page cache of a cgroup, or of all: what is in use leaves last, if at all. */
static void kloc_limit_take(struct tiering_node *tn, struct tiering_batch *b,
			    struct mem_cgroup *group, bool in_use)
{
	if (!policy_lru_take(tn, b, group, TIERING_FILE,
			     kloc_limit_choose_inactive) && in_use)
		policy_lru_take(tn, b, group, TIERING_FILE, NULL);
}

/* Take what a cgroup, with those below it, has too much of. */
static void kloc_limit_fill_group(struct tiering_node *tn,
				  struct tiering_batch *b,
				  struct mem_cgroup *group)
{
	unsigned long max = kloc_memcg_max(group);

	if (max != KLOC_NO_LIMIT && kloc_memcg_used(group) > max &&
	    kloc_memcg_pages(group, NUMA_NO_NODE) > max)
		kloc_limit_take(tn, b, group, true);
}

/**
 * kloc_limit_fill() - what is above a limit leaves a node
 * @tn: the node
 * @b: the batch
 *
 * Context: the daemon; may sleep.
 * Return: pages in @b.
 */
long kloc_limit_fill(struct tiering_node *tn, struct tiering_batch *b)
{
	struct mem_cgroup *group;
	unsigned long id = 0;

	if (!READ_ONCE(kloc_limits))
		return 0;
	b->why = TIERING_DEMOTED_LIMIT;
	if (kloc_node_pages(tn->nid) > READ_ONCE(kloc_node_max[tn->nid]))
		/* Slabs that nobody uses leave before page cache in use. */
		kloc_limit_take(tn, b, NULL, !tiering_slabs_are_looked_at(tn));
	while (!b->pages && (group = kloc_memcg_next_limited(&id))) {
		kloc_limit_fill_group(tn, b, group);
		mem_cgroup_put(group);
	}
	return b->pages;
}

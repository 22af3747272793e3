// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: limits of what may be in fast memory, for a node and for a
 * cgroup.
 *
 * A limited node is like one that is so small: new pages, promotions and the
 * thread that keeps room go by what the limit leaves. What a group has more than
 * it may is demoted here: first its pages of contexts that are not in use, then
 * its oldest.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/math.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/vmstat.h>

#include "kloc.h"

/* Contexts that are taken from the kmap at a time, and looked at for a group. */
#define KNODES		16
#define LOOK_AT		1024

/* Values of kloc_limits. */
enum {
	NONE,			/* nothing is limited */
	SEEN,			/* there was a limit when that was looked at */
	CHANGED,		/* it has to be looked at again */
};

unsigned int kloc_limits;
unsigned long kloc_node_max[MAX_NUMNODES] = {
	[0 ... MAX_NUMNODES - 1] = KLOC_NO_LIMIT,
};

/**
 * kloc_limit_changed() - a limit was set or taken away
 */
void kloc_limit_changed(void)
{
	/* After the limit itself. */
	smp_store_release(&kloc_limits, CHANGED);
}

/**
 * kloc_file_pages() - how much page cache is on a node?
 * @nid: the node
 *
 * Return: pages.
 */
unsigned long kloc_file_pages(int nid)
{
	return node_page_state(NODE_DATA(nid), NR_ACTIVE_FILE) +
	       node_page_state(NODE_DATA(nid), NR_INACTIVE_FILE);
}

/* Called by kloc_limit_room(). */
long __kloc_limit_room(int nid, long room)
{
	unsigned long max = READ_ONCE(kloc_node_max[nid]);

	if (max == KLOC_NO_LIMIT)
		return room;
	return min(room, kloc_limited_room(max, kloc_file_pages(nid),
					   kloc_settings.reserve));
}

/**
 * kloc_limit_is_why() - do pages have to leave a node because of its limit?
 * @nid: the node
 *
 * Return: true if there would be room without it.
 */
bool kloc_limit_is_why(int nid)
{
	long reserve = kloc_settings.reserve, room;

	if (!READ_ONCE(kloc_limits))
		return false;
	room = kloc_headroom(nid, cpumask_of(raw_smp_processor_id()));
	return room >= reserve && kloc_limit_room(nid, room) < reserve;
}

/* Look at what groups have. Return: whether any is limited. */
static bool look_at_groups(void)
{
	struct mem_cgroup *group = NULL;
	bool any = false;

	while ((group = mem_cgroup_iter(NULL, group, NULL))) {
		any |= kloc_memcg_refresh(group);
		cond_resched();
	}
	return any;
}

static bool any_node(void)
{
	int nid;

	for (nid = 0; nid < MAX_NUMNODES; nid++)
		if (READ_ONCE(kloc_node_max[nid]) != KLOC_NO_LIMIT)
			return true;
	return false;
}

/**
 * kloc_limit_look() - look at which limits there are, and what groups have
 * @node: whose thread asks; one of them does it for all
 */
void kloc_limit_look(struct kloc_node *node)
{
	if (!node->ages || !READ_ONCE(kloc_limits))
		return;
	/* A limit that is set meanwhile is looked at the next time. */
	cmpxchg(&kloc_limits, CHANGED, SEEN);
	if (!look_at_groups() && !any_node())
		cmpxchg(&kloc_limits, SEEN, NONE);
}

/*
 * Demote a group's pages of one context. The pages of a file are most often all
 * of one group: where the first ones are not, the others are not looked at.
 */
static unsigned long demote_context(struct kloc_node *node,
				    struct knode *knode,
				    struct mem_cgroup *group,
				    unsigned long pages)
{
	struct kloc_walk walk = { .knode = knode, .nid = node->nid };
	struct folio *folios[KLOC_BATCH];
	unsigned long moved = 0;
	unsigned int found, its;

	while (!walk.done && moved < pages && !node->slow_full &&
	       kloc_may_move(node)) {
		found = itr_knode_cache(&walk, folios);
		its = kloc_memcg_select(group, folios, found);
		if (found && !its)
			break;
		moved += kloc_move(node, &walk, KLOC_DEMOTED_LIMIT, 0, folios,
				   its);
	}
	return moved;
}

/* Demote a group's pages of contexts that are not in use, the coldest first. */
static unsigned long demote_cold(struct kloc_node *node,
				 struct mem_cgroup *group, unsigned long pages)
{
	struct knode *knodes[KNODES], *last = NULL;
	unsigned int i, count, looked_at = 0;
	unsigned long moved = 0;

	do {
		count = kmap_get_cold(&kloc_kmap, last, knodes, KNODES);
		if (last)
			knode_put(last);
		last = count ? knodes[count - 1] : NULL;
		for (i = 0; i < count; i++) {
			if (moved < pages && kloc_has_kind(knodes[i]))
				moved += demote_context(node, knodes[i], group,
							pages - moved);
			if (knodes[i] != last)
				knode_put(knodes[i]);
		}
		looked_at += count;
	} while (count && looked_at < LOOK_AT && moved < pages &&
		 kloc_may_move(node));
	if (last)
		knode_put(last);
	return moved;
}

static unsigned long above(unsigned long used, unsigned long max)
{
	return used > max ? used - max : 0;
}

/* Demote what a group has too much on a node. */
static void limit_group(struct kloc_node *node, struct mem_cgroup *group)
{
	unsigned long max = kloc_memcg_max(group), used, here, most, moved = 0;

	if (max == KLOC_NO_LIMIT)
		return;
	used = kloc_memcg_pages(group, NUMA_NO_NODE);
	here = kloc_memcg_pages(group, node->nid);
	/* What is not in use leaves in time for what comes. */
	most = max - min(max, kloc_limit_slack(max, kloc_settings.reserve));
	if (used <= most || !here)
		return;
	/* Other nodes' threads demote what is there. */
	if (kloc_settings.mode == KLOC_MIGRATE)
		moved = demote_cold(node, group,
				    mult_frac(used - most, here, used));
	if (above(used, max + moved))
		kloc_demote_oldest(node, group, here - min(here, moved),
				   mult_frac(used - max - moved, here, used));
}

/**
 * kloc_limit() - demote what is above the limits
 * @node: that it is on
 */
void kloc_limit(struct kloc_node *node)
{
	struct mem_cgroup *group = NULL;
	unsigned long max, used;

	if (!READ_ONCE(kloc_limits))
		return;
	while ((group = mem_cgroup_iter(NULL, group, NULL))) {
		limit_group(node, group);
		if (!kloc_may_move(node)) {
			mem_cgroup_iter_break(NULL, group);
			return;
		}
	}
	/* Contexts could not bring it down. */
	max = READ_ONCE(kloc_node_max[node->nid]);
	used = kloc_file_pages(node->nid);
	if (above(used, max))
		kloc_demote_oldest(node, NULL, used, used - max);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: the oldest folios of all cgroups in turn.
 */
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/sched.h>

#include "policy_lru.h"

/* The largest number of checks of old ends of LRU lists, in a call. */
#define POLICY_LRU_LOOKS	128

/* The largest number of cgroups for each check. Most may have empty lists. */
#define POLICY_LRU_GROUPS	8

/**
 * policy_lru_take_few() - take some of the oldest folios of a node
 * @tn: the node
 * @b: the batch
 * @root: take from this cgroup and its descendants; NULL for all
 * @kind: TIERING_ANON, or TIERING_FILE for all page cache
 * @choose: selects folios, NULL for all
 * @most: the largest number of checks of old ends of LRU lists, 32 folios each
 *
 * Memory cgroups take turns, as in reclaim. A call checks a bounded number of them, 8
 * for each check; the next call continues with the next cgroup.
 *
 * Context: may sleep.
 * Return: pages in @b.
 */
long policy_lru_take_few(struct tiering_node *tn, struct tiering_batch *b,
			 struct mem_cgroup *root, enum tiering_kind kind,
			 tiering_choose_t choose, unsigned int most)
{
	struct mem_cgroup_reclaim_cookie cookie = {
		.pgdat = NODE_DATA(tn->nid),
	};
	struct mem_cgroup *memcg = mem_cgroup_iter(root, NULL, &cookie);
	unsigned int looks = 0, groups = 0;

	do {
		struct lruvec *lruvec = mem_cgroup_lruvec(memcg, cookie.pgdat);

		/*
		 * Skip a protected cgroup: its folios would only become the youngest.
		 */
		while (!tiering_spares(b, memcg) &&
		       looks < most && !tiering_batch_full(b) &&
		       tiering_take_lru(tn, b, lruvec, kind, choose)) {
			looks++;
			cond_resched();
		}
		cond_resched();
		if (looks == most || ++groups == most * POLICY_LRU_GROUPS ||
		    tiering_batch_full(b)) {
			mem_cgroup_iter_break(root, memcg);
			break;
		}
	} while ((memcg = mem_cgroup_iter(root, memcg, &cookie)));
	return b->pages;
}

/**
 * policy_lru_take() - take the oldest folios of a node
 * @tn: the node
 * @b: the batch
 * @root: as for policy_lru_take_few()
 * @kind: as for policy_lru_take_few()
 * @choose: as for policy_lru_take_few()
 *
 * Context: may sleep.
 * Return: pages in @b.
 */
long policy_lru_take(struct tiering_node *tn, struct tiering_batch *b,
		     struct mem_cgroup *root, enum tiering_kind kind,
		     tiering_choose_t choose)
{
	return policy_lru_take_few(tn, b, root, kind, choose, POLICY_LRU_LOOKS);
}

/**
 * policy_lru_skip() - leave out the cgroup whose turn it is
 * @tn: the node
 *
 * Context: may sleep.
 */
void policy_lru_skip(struct tiering_node *tn)
{
	struct mem_cgroup_reclaim_cookie cookie = {
		.pgdat = NODE_DATA(tn->nid),
	};
	struct mem_cgroup *memcg = mem_cgroup_iter(NULL, NULL, &cookie);

	mem_cgroup_iter_break(NULL, memcg);
}

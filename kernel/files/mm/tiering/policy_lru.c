// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: what is oldest, of all groups in turn.
 */
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mmzone.h>

#include "policy_lru.h"

/* Looks at the old end of a group's lists, at most. */
#define POLICY_LRU_LOOKS	128

/**
 * policy_lru_take() - take the oldest folios of a node
 * @tn: the node
 * @b: the batch
 * @root: group whose they are, with all below it; NULL for any
 * @kind: TIERING_ANON, or TIERING_FILE for all page cache
 * @choose: says which, NULL for all
 *
 * Memory cgroups take turns, as in reclaim.
 *
 * Context: may sleep.
 * Return: pages in @b.
 */
long policy_lru_take(struct tiering_node *tn, struct tiering_batch *b,
		     struct mem_cgroup *root, enum tiering_kind kind,
		     tiering_choose_t choose)
{
	struct mem_cgroup_reclaim_cookie cookie = {
		.pgdat = NODE_DATA(tn->nid),
	};
	struct mem_cgroup *memcg = mem_cgroup_iter(root, NULL, &cookie);
	unsigned int looks;

	do {
		struct lruvec *lruvec = mem_cgroup_lruvec(memcg, cookie.pgdat);

		for (looks = 0; looks < POLICY_LRU_LOOKS; looks++)
			if (tiering_batch_full(b) ||
			    !tiering_take_lru(tn, b, lruvec, kind, choose))
				break;
		if (tiering_batch_full(b)) {
			mem_cgroup_iter_break(root, memcg);
			break;
		}
	} while ((memcg = mem_cgroup_iter(root, memcg, &cookie)));
	return b->pages;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: the placement of data of the network.
 *
 * Who sends or receives is in use by definition, so new data of sockets goes to fast
 * memory (KLOCs, section 4.2.3). Devices know the physical addresses of these pages:
 * they can never move.
 */
#include <linux/cpuset.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/tiering_net.h>
#include <linux/topology.h>

#include "internal.h"

DEFINE_STATIC_KEY_FALSE(tiering_net_key);

/*
 * Get the fast node that is nearest to this CPU; NUMA_NO_NODE if the memory policy or
 * the cpuset of the task decides. What interrupts allocate belongs to no task.
 */
static int tiering_net_nid(void)
{
	const struct tiering_node *tn;
	int nid = NUMA_NO_NODE;

	if (in_task() && current->mempolicy)
		return NUMA_NO_NODE;
	rcu_read_lock();
	tn = rcu_dereference(tiering_near[numa_node_id()]);
	if (tn && (!in_task() || node_isset(tn->nid, cpuset_current_mems_allowed)))
		nid = tn->nid;
	rcu_read_unlock();
	return nid;
}

/*
 * Test whether a node has room for data of the network. It takes from the reserve that
 * page cache leaves: the data is used now, and mostly freed soon. It does not wake
 * kswapd, which would compact memory for its large pages.
 */
static bool tiering_net_has_room(int nid, unsigned int order)
{
	return nid != NUMA_NO_NODE && tiering_may_alloc_kernel(nid, order, TIERING_BATCH);
}

/* Called by tiering_alloc_net(). */
struct page *__tiering_alloc_net(gfp_t gfp, unsigned int order)
{
	int nid = tiering_net_nid();
	struct page *page = NULL;

	if (nid == NUMA_NO_NODE)
		return NULL;
	if (tiering_net_has_room(nid, order))
		page = __alloc_pages(tiering_free_only(gfp) | __GFP_THISNODE, order,
				     nid, NULL);
	if (page)
		tiering_count(TIERING_PLACED_FAST, TIERING_SOCKET, 1L << order);
	return page;
}

/* Called by tiering_count_net(). Another fast node may have had room. */
void __tiering_count_net(const struct page *page, unsigned int order)
{
	if (tiering_net_nid() == NUMA_NO_NODE)
		return;
	tiering_count(tiering_is_slow(page_to_nid(page)) ? TIERING_PLACED_ELSEWHERE :
							   TIERING_PLACED_FAST,
		      TIERING_SOCKET, 1L << order);
}

/* Called by tiering_gives_up_net(). */
bool __tiering_gives_up_net(struct page *page)
{
	return tiering_is_slow(page_to_nid(page)) &&
	       tiering_net_has_room(tiering_net_nid(), compound_order(page));
}

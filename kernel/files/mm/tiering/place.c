// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: where new pages go.
 */
#include <linux/cpuset.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/shmem_fs.h>
#include <linux/tiering.h>
#include <linux/tiering_slab.h>
#include <linux/topology.h>

#include "../internal.h"
#include "../kloc/kloc.h"
#include "tiering.h"

/*
 * The first tries take what is free. Reclaim, and errors that the caller wants to
 * hear of, are for the allocation that comes after them.
 */
static gfp_t tiering_gfp(gfp_t gfp)
{
	return (gfp & ~(__GFP_RECLAIM | __GFP_NOFAIL)) | __GFP_NOWARN |
	       __GFP_NOMEMALLOC;
}

/* Try one tier, as far as the cpuset of the task allows it. */
static struct page *tiering_try(gfp_t gfp, unsigned int order, int nid,
				const nodemask_t *tier)
{
	nodemask_t nodes = *tier;

	if (!in_interrupt())
		nodes_and(nodes, nodes, cpuset_current_mems_allowed);
	return nodes_empty(nodes) ? NULL :
	       __alloc_pages(gfp, order, nid, &nodes);
}

/*
 * Try all tiers but the one that comes last: that is left to the caller, who also
 * reclaims.
 */
static struct page *tiering_try_all(gfp_t gfp, unsigned int order, int nid,
				    const struct tiering_node *tn,
				    enum tiering_place place)
{
	bool up = place == TIERING_BOTTOM_FIRST;
	int slow = READ_ONCE(tn->slow);
	const nodemask_t *tiers;
	struct page *page = NULL;
	unsigned int i, count;

	if (place == TIERING_LOCAL)
		return NULL;
	/* In a tier, the node comes first that is nearest to this one. */
	if (up && slow != NUMA_NO_NODE)
		nid = slow;
	gfp = tiering_gfp(gfp);
	count = tiering_tiers(&tiers);
	for (i = 0; i + 1 < count && !page; i++)
		page = tiering_try(gfp, order, nid,
				   &tiers[up ? count - 1 - i : i]);
	return page;
}

/**
 * tiering_alloc_pages() - allocate pages where the selected policy wants them
 * @gfp: allocation flags
 * @order: there are 2^order pages
 * @nid: the node that they would come from without a policy
 *
 * Only for allocations that no memory policy directs. It does not reclaim and does
 * not wake kswapd.
 *
 * Context: any.
 * Return: the first page, or NULL if the caller must allocate as without a policy.
 */
struct page *tiering_alloc_pages(gfp_t gfp, unsigned int order, int nid)
{
	struct tiering_alloc alloc = { .gfp = gfp, .order = order };
	const struct tiering_policy *policy;
	struct tiering_node *tn;
	struct page *page = NULL;

	rcu_read_lock();
	policy = rcu_dereference(tiering_selected);
	tn = rcu_dereference(tiering_near[numa_node_id()]);
	if (policy && policy->place && tn)
		page = tiering_try_all(gfp, order, nid, tn,
				       policy->place(tn, &alloc));
	rcu_read_unlock();
	return page;
}

/**
 * tiering_is_stream() - are pages read one after another?
 * @ra: state of the read-ahead that they are for, NULL for none
 *
 * Return: true if its window is as large as can be.
 */
bool tiering_is_stream(const struct file_ra_state *ra)
{
	return ra && ra->ra_pages && ra->size >= ra->ra_pages;
}

static void tiering_count_place(enum tiering_place place, enum tiering_kind kind,
				const struct page *page, unsigned int pages)
{
	enum tiering_event event = TIERING_PLACED_ELSEWHERE;

	if (place == TIERING_LOCAL)
		return;
	if (page)
		event = place == TIERING_TOP_FIRST ? TIERING_PLACED_FAST :
						     TIERING_PLACED_SLOW;
	tiering_count(event, kind, pages);
}

/* Called by tiering_alloc_folio(). */
struct folio *__tiering_alloc_folio(struct address_space *mapping, gfp_t gfp,
				    unsigned int order,
				    const struct file_ra_state *ra)
{
	struct tiering_alloc alloc = {
		.gfp = gfp,
		.order = order,
		.stream = tiering_is_stream(ra),
	};
	const struct tiering_policy *policy;
	enum tiering_place place = TIERING_LOCAL;
	unsigned int pages = 1 << order;
	struct mem_cgroup *charged = NULL;
	struct tiering_node *tn;
	struct page *page = NULL;

	/* What a task has asked for wins. */
	if (!mapping->host || kloc_has_none(mapping->host) ||
	    current->mempolicy || cpuset_do_page_mem_spread())
		return NULL;

	rcu_read_lock();
	policy = rcu_dereference(tiering_selected);
	tn = rcu_dereference(tiering_near[numa_node_id()]);
	alloc.knode = kloc_knode_of(mapping->host);
	if (policy && policy->place && tn && alloc.knode) {
		place = policy->place(tn, &alloc);
		/* What lies on the lists of anonymous memory is not counted. */
		if (place == TIERING_TOP_FIRST && READ_ONCE(kloc_limits) &&
		    !shmem_mapping(mapping) &&
		    !(kloc_limit_node(tn->nid, pages) &&
		      kloc_memcg_charge(pages, &charged)))
			place = TIERING_BOTTOM_FIRST;
		page = tiering_try_all(gfp | __GFP_COMP, order, numa_node_id(),
				       tn, place);
		if (!page && charged)
			kloc_memcg_uncharge(charged, pages);
		tiering_count_place(place, kloc_kind(alloc.knode), page, pages);
	}
	rcu_read_unlock();
	return page ? page_rmappable_folio(page) : NULL;
}

/**
 * tiering_alloc_cold_slab() - allocate the first page of a slab whose objects will not be
 * used much
 * @gfp: allocation flags
 * @pages: how many the slab will have, which are allocated on the same node
 *
 * Context: a task.
 * Return: the page, in a lower tier; NULL if the caller must allocate it as without a
 * policy.
 */
struct page *tiering_alloc_cold_slab(gfp_t gfp, unsigned int pages)
{
	struct tiering_alloc alloc = { .gfp = gfp, .cold = true };
	enum tiering_place place = TIERING_LOCAL;
	const struct tiering_policy *policy;
	struct tiering_node *tn;
	struct page *page = NULL;

	if (current->mempolicy)
		return NULL;
	rcu_read_lock();
	policy = rcu_dereference(tiering_selected);
	tn = rcu_dereference(tiering_near[numa_node_id()]);
	if (policy && policy->place && tn) {
		place = policy->place(tn, &alloc);
		page = tiering_try_all(gfp, 0, numa_node_id(), tn, place);
		tiering_count_place(place, TIERING_SLAB, page, pages);
	}
	rcu_read_unlock();
	return page;
}

/*
 * The fast node that page tables and stacks of this task should be on: both are used
 * often, and can never move. NUMA_NO_NODE if the task
 * has a memory policy of its own.
 */
static int tiering_kernel_nid(void)
{
	const struct tiering_node *tn;
	int nid = NUMA_NO_NODE;

	if (in_interrupt() || current->mempolicy)
		return NUMA_NO_NODE;
	rcu_read_lock();
	tn = rcu_dereference(tiering_near[numa_node_id()]);
	if (tn && node_isset(tn->nid, cpuset_current_mems_allowed))
		nid = tn->nid;
	rcu_read_unlock();
	return nid;
}

static void tiering_count_kernel(bool fast, long pages)
{
	tiering_count(fast ? TIERING_PLACED_FAST : TIERING_PLACED_ELSEWHERE,
		      TIERING_KERNEL, pages);
}

/*
 * Called by tiering_alloc_table(). It takes what is free down to the lowest watermark,
 * where others leave for slow memory earlier, and has kswapd make no room: there may be
 * nothing that can leave, and each process would ask for it again.
 */
struct page *__tiering_alloc_table(gfp_t gfp, unsigned int order)
{
	int nid = tiering_kernel_nid();
	struct page *page;

	if (nid == NUMA_NO_NODE)
		return NULL;
	page = __alloc_pages(tiering_gfp(gfp) | __GFP_THISNODE, order, nid, NULL);
	tiering_count_kernel(page, 1L << order);
	return page;
}

/* Called by tiering_stack_nid(). Who allocates a stack may reclaim, but not for this. */
int __tiering_stack_nid(void)
{
	int nid = tiering_kernel_nid();

	if (nid == NUMA_NO_NODE || tiering_room_to_min(nid) > TIERING_BATCH)
		return nid;
	tiering_count_stack(false);
	return NUMA_NO_NODE;
}

/**
 * tiering_count_stack() - a kernel stack was allocated where the policy wanted it, or not
 * @fast: it was
 */
void tiering_count_stack(bool fast)
{
	tiering_count_kernel(fast, THREAD_SIZE / PAGE_SIZE);
}

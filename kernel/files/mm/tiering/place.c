// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: the placement of new pages.
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
#include "internal.h"

/**
 * tiering_free_only() - get the flags of the first tries, which only take free pages
 * @gfp: the flags of the caller
 *
 * Reclaim, reserves and warnings are left to the caller's allocation after them.
 *
 * Return: the flags.
 */
gfp_t tiering_free_only(gfp_t gfp)
{
	return (gfp & ~(__GFP_RECLAIM | __GFP_NOFAIL | __GFP_HIGH)) |
	       __GFP_NOWARN | __GFP_NOMEMALLOC;
}

/* Get the nodes of a tier that the cpuset of the task allows. */
static nodemask_t tiering_allowed(const nodemask_t *tier)
{
	nodemask_t nodes = *tier;

	if (!in_interrupt())
		nodes_and(nodes, nodes, cpuset_current_mems_allowed);
	return nodes;
}

/* Try the nodes of a tier that the cpuset of the task allows. */
static struct page *tiering_try(gfp_t gfp, unsigned int order, int nid,
				const nodemask_t *tier)
{
	nodemask_t nodes = tiering_allowed(tier);

	return nodes_empty(nodes) ? NULL :
	       __alloc_pages(gfp, order, nid, &nodes);
}

/*
 * Try all tiers except the last, which is left to the caller's allocation and reclaim.
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
	gfp_t wake;

	if (place == TIERING_LOCAL)
		return NULL;
	/* Within a tier, the nearest node to @nid comes first. */
	if (up && slow != NUMA_NO_NODE)
		nid = slow;
	/* Wake kswapd of slow memory here: the caller may find room in fast memory. */
	wake = up ? gfp & __GFP_KSWAPD_RECLAIM : 0;
	gfp = tiering_free_only(gfp);
	count = tiering_tiers(&tiers);
	for (i = 0; i + 1 < count && !page; i++) {
		page = tiering_try(gfp | wake, order, nid,
				   &tiers[up ? count - 1 - i : i]);
		wake = 0;
	}
	return page;
}

/* Get the event of an allocation that the policy wanted in a tier; -1 for others. */
static int tiering_place_event(enum tiering_place place, const struct page *page)
{
	bool slow = place == TIERING_BOTTOM_FIRST;

	if (place == TIERING_LOCAL)
		return -1;
	if (!page || tiering_is_slow(page_to_nid(page)) != slow)
		return TIERING_PLACED_ELSEWHERE;
	return slow ? TIERING_PLACED_SLOW : TIERING_PLACED_FAST;
}

static void tiering_count_place(enum tiering_place place, enum tiering_kind kind,
				const struct page *page, unsigned int pages)
{
	int event = tiering_place_event(place, page);

	if (event >= 0)
		tiering_count(event, kind, pages);
}

/**
 * tiering_alloc_pages() - allocate pages where the selected policy wants them
 * @gfp: allocation flags
 * @order: order of the allocation
 * @nid: preferred node without a policy
 * @is_user: the pages are for an address space of a process, or for tmpfs
 *
 * Only for allocations without a memory policy. Does not reclaim.
 *
 * Context: any.
 * Return: the first page, or NULL if the caller must allocate as without a policy.
 */
struct page *tiering_alloc_pages(gfp_t gfp, unsigned int order, int nid, bool is_user)
{
	struct tiering_alloc alloc = {
		.kind = is_user ? TIERING_ANON :
			gfp & __GFP_MOVABLE ? TIERING_FILE : TIERING_KERNEL,
	};
	const struct tiering_policy *policy;
	enum tiering_place place;
	struct tiering_node *tn;
	struct page *page = NULL;

	rcu_read_lock();
	policy = rcu_dereference(tiering_selected);
	tn = rcu_dereference(tiering_near[numa_node_id()]);
	if (policy && policy->place && tn) {
		place = policy->place(tn, &alloc);
		page = tiering_try_all(gfp, order, nid, tn, place);
		tiering_count_place(place, alloc.kind, page, 1U << order);
	}
	rcu_read_unlock();
	return page;
}

/*
 * Set the kind of page cache. Returns false if no policy places it: the mapping has no
 * context, or would get none, as shared anonymous memory.
 */
static bool tiering_set_kind(const struct tiering_policy *policy,
			     const struct address_space *mapping,
			     struct tiering_alloc *alloc)
{
	if (alloc->knode) {
		alloc->kind = tiering_grouping->kind(alloc->knode);
		return true;
	}
	alloc->kind = tiering_mapping_kind(mapping);
	return !(policy->needs & TIERING_KNODES) && tiering_grouping->eligible(mapping);
}

/* Called by tiering_alloc_folio(). */
struct folio *__tiering_alloc_folio(struct address_space *mapping, gfp_t gfp,
				    unsigned int order, enum ra_class class)
{
	struct tiering_alloc alloc = { };
	const struct tiering_policy *policy;
	enum tiering_place place;
	unsigned int pages = 1 << order;
	struct tiering_node *tn;
	struct page *page = NULL;
	bool limited;

	/* A task's own memory policy wins. */
	if (current->mempolicy || cpuset_do_page_mem_spread())
		return NULL;

	rcu_read_lock();
	policy = rcu_dereference(tiering_selected);
	tn = rcu_dereference(tiering_near[numa_node_id()]);
	alloc.knode = tiering_grouping->of(mapping);
	if (policy && policy->place && tn &&
	    tiering_set_kind(policy, mapping, &alloc)) {
		if (policy->needs & TIERING_READAHEAD)
			alloc.class = class;
		place = policy->place(tn, &alloc);
		/*
		 * Page cache of tmpfs, on the lists of anonymous memory, does not
		 * count.
		 */
		limited = place == TIERING_TOP_FIRST && !shmem_mapping(mapping);
		if (limited && !tiering_limit_may_add(tn->nid, pages))
			place = TIERING_BOTTOM_FIRST;
		page = tiering_try_all(gfp | __GFP_COMP, order, numa_node_id(),
				       tn, place);
		/* Another node of the tier has a limit of its own. */
		if (limited && page && page_to_nid(page) != tn->nid &&
		    place == TIERING_TOP_FIRST &&
		    !tiering_limit_node(page_to_nid(page), pages)) {
			__free_pages(page, order);
			place = TIERING_BOTTOM_FIRST;
			page = tiering_try_all(gfp | __GFP_COMP, order,
					       numa_node_id(), tn, place);
		}
		tiering_count_place(place, alloc.kind, page, pages);
	}
	rcu_read_unlock();
	return page ? page_rmappable_folio(page) : NULL;
}

/**
 * tiering_alloc_cold_slab() - allocate the first page of a slab for cold objects
 * @gfp: allocation flags
 * @event: set to the argument of tiering_count_cold_slab(), which the caller calls when
 *	it has all pages of the slab; not set if there is nothing to count
 *
 * Context: a task.
 * Return: the page, in a lower tier; NULL if the caller must allocate it as without a
 * policy.
 */
struct page *tiering_alloc_cold_slab(gfp_t gfp, int *event)
{
	struct tiering_alloc alloc = { .kind = TIERING_SLAB, .cold = true };
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
		*event = tiering_place_event(place, page);
	}
	rcu_read_unlock();
	return page;
}

/**
 * tiering_count_cold_slab() - count the pages of a slab that is complete
 * @event: from tiering_alloc_cold_slab()
 * @pages: the number of pages
 */
void tiering_count_cold_slab(int event, unsigned int pages)
{
	tiering_count(event, TIERING_SLAB, pages);
}

/*
 * Get the fast node for page tables and stacks of this task: both are used often, and
 * can never move. NUMA_NO_NODE if the task's memory policy or cpuset decides.
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
 * Called by tiering_alloc_table(). Takes free pages down to WMARK_MIN, while page cache
 * stops at a higher watermark. Does not wake kswapd: there may be nothing to demote,
 * and each process would wake it again.
 */
struct page *__tiering_alloc_table(gfp_t gfp, unsigned int order)
{
	int nid = tiering_kernel_nid();
	struct page *page;

	if (nid == NUMA_NO_NODE)
		return NULL;
	page = __alloc_pages(tiering_free_only(gfp) | __GFP_THISNODE, order, nid, NULL);
	tiering_count_kernel(page, 1L << order);
	return page;
}

/* Called by tiering_stack_nid(). A full node is not worth the reclaim of the caller. */
int __tiering_stack_nid(void)
{
	int nid = tiering_kernel_nid();

	if (nid == NUMA_NO_NODE || tiering_may_alloc_kernel(nid, 0, TIERING_BATCH))
		return nid;
	tiering_count_stack(false);
	return NUMA_NO_NODE;
}

/**
 * tiering_count_stack() - count the allocation of a kernel stack
 * @fast: the stack is on the node that the policy wanted
 */
void tiering_count_stack(bool fast)
{
	tiering_count_kernel(fast, THREAD_SIZE / PAGE_SIZE);
}

#ifdef CONFIG_TIERING_KUNIT_TEST
#include "tests/place-kunit.h"
#endif

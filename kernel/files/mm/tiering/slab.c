// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: slabs that can move, see Documentation/mm/reloc.rst.
 *
 * A policy decides for a whole page of objects; a use of one object is a use of its
 * page. Moving a batch stops all CPUs for a moment, so only daemons move slabs.
 */
#include <linux/array_size.h>
#include <linux/memory-tiers.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/reloc.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/tiering_slab.h>
#include <linux/topology.h>

#include "internal.h"
#include "page.h"

/*
 * A page with this many moves is not demoted again for a while: its copies were wasted.
 */
#define TIERING_SLAB_MOVES	2

/* The largest number of objects of a context that are moved with it. */
#define TIERING_SLABS_OF_CONTEXT	8

/* Test whether slabs can move and their kind is not excluded. */
static bool tiering_slabs_take_part(void)
{
	return reloc_is_enabled() && tiering_takes_part(TIERING_SLAB);
}

/* Called by tiering_slabs_begin(). */
bool __tiering_slabs_begin(const struct address_space *mapping,
			   enum ra_class class)
{
	struct tiering_alloc alloc = {
		.kind = TIERING_SLAB,
		.lookup = !mapping,
	};
	const struct tiering_policy *policy;
	struct tiering_node *tn;
	bool cold = false;

	/* A caller further up has begun already. */
	if (!tiering_slabs_take_part() || current->slabs_cold)
		return false;
	/* Objects without a context are placed as without a policy. */
	if (!tiering_grouping->covers(mapping))
		return false;
	rcu_read_lock();
	policy = rcu_dereference(tiering_selected);
	tn = rcu_dereference(tiering_near[numa_node_id()]);
	alloc.knode = tiering_grouping->find(mapping);
	if (policy && policy->slab_new_cold && tn) {
		if (policy->needs & TIERING_READAHEAD)
			alloc.class = class;
		cold = policy->slab_new_cold(tn, &alloc);
	}
	rcu_read_unlock();
	current->slabs_cold = cold;
	return cold;
}

static bool tiering_slab_is_cold(const struct reloc_page *page, void *data)
{
	struct tiering_node *tn = data;

	return page->nid == tn->nid && page->use.moves < TIERING_SLAB_MOVES &&
	       tn->policy->slab_cold(tn, page->use.history);
}

static bool tiering_slab_is_hot(const struct reloc_page *page, void *data)
{
	struct tiering_node *tn = data;

	return tn->policy->slab_hot(tn, page->use.history) && tiering_is_slow(page->nid);
}

static void tiering_slabs_migrate(struct tiering_node *tn, void **addrs,
				  unsigned int count, int nid,
				  enum tiering_reason why,
				  struct reloc_result *result)
{
	if (!count || nid == NUMA_NO_NODE)
		return;
	reloc_try_move(addrs, count, nid, why + 1, result);
	tn->budget -= (s64)result->moved * PAGE_SIZE;
	tiering_count(TIERING_MOVED + why, TIERING_SLAB, result->moved);
	tiering_count(TIERING_NOT_MIGRATED, TIERING_SLAB,
		      result->late + result->no_memory);
}

/**
 * tiering_slab_stay_over() - count a wasted copy of a slab page that moves or is freed
 * @page: record of the page
 * @freed: the page is freed; else it moves again
 */
void tiering_slab_stay_over(const struct reloc_page *page, bool freed)
{
	/* Without a policy that moves slabs, no scan makes records older. */
	if (!static_branch_unlikely(&tiering_slabs_key) ||
	    tiering_copy_has_paid(&page->use, page->age))
		return;
	tiering_count((freed ? TIERING_FREED : TIERING_RETURNED) + page->use.reason - 1,
		      TIERING_SLAB, 1);
}

/*
 * Choose the node to demote slabs to: the nearest one with room, or any lower one;
 * NUMA_NO_NODE if none has room.
 */
static int tiering_slabs_target(const struct tiering_node *tn)
{
	int nid = next_demotion_node(tn->nid), other;
	nodemask_t below;

	if (nid == NUMA_NO_NODE || tiering_may_alloc_kernel(nid, 0, TIERING_SLABS_MOST))
		return nid;
	node_get_allowed_targets(NODE_DATA(tn->nid), &below);
	for_each_node_mask(other, below)
		if (tiering_may_alloc_kernel(other, 0, TIERING_SLABS_MOST))
			return other;
	return NUMA_NO_NODE;
}

/* Move some chosen pages, from @cursor on. Return: false if the arena was searched. */
static bool tiering_slabs_move(struct tiering_node *tn, reloc_choose_t choose,
			       unsigned long *cursor, int nid,
			       enum tiering_reason why)
{
	void *addrs[TIERING_SLABS_MOST];
	struct reloc_result result = { };
	unsigned int found;

	/* This scan has searched the whole arena. */
	if (*cursor >= RELOC_SIZE)
		return false;
	found = reloc_find(choose, tn, cursor, addrs, TIERING_SLABS_MOST);
	tiering_slabs_migrate(tn, addrs, found, nid, why, &result);
	if (result.no_memory)
		*cursor = RELOC_SIZE;
	return true;
}

static bool tiering_slab_is_on_slow_node(const void *object)
{
	int nid = reloc_nid_now(object);

	return nid != NUMA_NO_NODE && tiering_is_slow(nid);
}

/*
 * Choose idle pages in fast memory, which have not come back a moment ago: others would
 * take places in the batch.
 */
static bool tiering_slab_may_leave(const void *object)
{
	int nid = reloc_nid_now(object);

	return nid != NUMA_NO_NODE && !tiering_is_slow(nid) && reloc_is_idle(object) &&
	       reloc_moves(object) < TIERING_SLAB_MOVES;
}

/* Queue the pages of a context's chosen objects, up to TIERING_SLABS_MOST. */
static void tiering_slabs_add(struct tiering_node *tn, struct tiering_slabs *slabs,
			      const struct knode *knode,
			      bool (*choose)(const void *object))
{
	void *addrs[TIERING_SLABS_OF_CONTEXT];
	unsigned int count;

	if (!tiering_slabs_take_part() || !(tn->policy->needs & TIERING_SLABS))
		return;
	count = tiering_grouping->walk_slab(knode, choose, addrs, ARRAY_SIZE(addrs));
	spin_lock(&tn->lock);
	count = min(count, TIERING_SLABS_MOST - slabs->count);
	memcpy(&slabs->addrs[slabs->count], addrs, count * sizeof(*addrs));
	slabs->count += count;
	spin_unlock(&tn->lock);
}

/**
 * tiering_slabs_leave() - queue the slab pages of a context for demotion
 * @tn: the node
 * @knode: the context, whose objects the caller has not used in this scan
 *
 * Other contexts have objects on the same pages. Pages with a recent use stay, and so do
 * those that came back a moment ago.
 *
 * Context: the caller holds no lock that is taken with interrupts off.
 */
void tiering_slabs_leave(struct tiering_node *tn, const struct knode *knode)
{
	tiering_slabs_add(tn, &tn->slabs_leave, knode, tiering_slab_may_leave);
}

/**
 * tiering_slabs_come() - queue the slab pages of a context for promotion
 * @tn: the node
 * @knode: the context
 *
 * Context: as tiering_slabs_leave().
 */
void tiering_slabs_come(struct tiering_node *tn, const struct knode *knode)
{
	tiering_slabs_add(tn, &tn->slabs_come, knode, tiering_slab_is_on_slow_node);
}

/* Move the queued pages to a node. Drop them if @nid is NUMA_NO_NODE. */
static void tiering_slabs_move_noted(struct tiering_node *tn, struct tiering_slabs *slabs,
				     int nid, enum tiering_reason why)
{
	struct reloc_result result = { };
	struct tiering_slabs noted;

	if (!READ_ONCE(slabs->count))
		return;
	spin_lock(&tn->lock);
	noted = *slabs;
	slabs->count = 0;
	spin_unlock(&tn->lock);
	tiering_slabs_migrate(tn, noted.addrs, noted.count, nid, why, &result);
}

/**
 * tiering_slabs_are_looked_at() - test whether this scan still searches slabs to demote
 * @tn: the node
 *
 * Return: false if this scan has searched the whole arena, or if slabs may not move.
 */
bool tiering_slabs_are_looked_at(const struct tiering_node *tn)
{
	return tiering_slabs_take_part() && tn->policy->needs & TIERING_SLABS &&
	       READ_ONCE(tn->slabs_cold) < RELOC_SIZE;
}

/**
 * tiering_slabs_turn() - demote and promote some slab pages
 * @tn: the node, whose policy has the need TIERING_SLABS
 *
 * Context: the daemon of @tn; may sleep.
 * Return: true if this scan may find more pages to move.
 */
bool tiering_slabs_turn(struct tiering_node *tn)
{
	int slow, fast = NUMA_NO_NODE;
	bool more = false;

	if (!tiering_slabs_take_part())
		return false;
	slow = tiering_slabs_target(tn);
	/* Page cache need not wait for slabs to leave in this scan. */
	if (slow == NUMA_NO_NODE)
		WRITE_ONCE(tn->slabs_cold, RELOC_SIZE);
	tiering_slabs_move_noted(tn, &tn->slabs_leave, slow, TIERING_DEMOTED_INACTIVE);
	if (tiering_may_promote_kernel(tn->nid, TIERING_SLABS_MOST) &&
	    tiering_limit_node(tn->nid, TIERING_SLABS_MOST))
		fast = tn->nid;
	tiering_slabs_move_noted(tn, &tn->slabs_come, fast, TIERING_PROMOTED_ACTIVE);
	if (tiering_is_short(tn->nid))
		more = tiering_slabs_move(tn, tiering_slab_is_cold, &tn->slabs_cold,
					  slow, TIERING_DEMOTED_UNUSED);
	else if (!tiering_limit_node(tn->nid, 0))
		more = tiering_slabs_move(tn, tiering_slab_is_cold, &tn->slabs_cold,
					  slow, TIERING_DEMOTED_LIMIT);
	if (fast != NUMA_NO_NODE)
		more |= tiering_slabs_move(tn, tiering_slab_is_hot, &tn->slabs_hot, fast,
					   TIERING_PROMOTED_USED);
	return more;
}

/**
 * tiering_slabs_period() - end a scan of slabs
 * @tn: the node, whose policy has the need TIERING_SLABS
 *
 * Context: the daemon of @tn; may sleep.
 */
void tiering_slabs_period(struct tiering_node *tn)
{
	if (READ_ONCE(tn->counts))
		reloc_age();
	tn->slabs_cold = 0;
	tn->slabs_hot = 0;
}

#if defined(CONFIG_TIERING_KUNIT_TEST) && defined(CONFIG_RELOC_SLAB)
#include "tests/slab-kunit.h"
#endif

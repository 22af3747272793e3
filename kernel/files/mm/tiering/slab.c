// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: slabs that can move, see Documentation/mm/reloc.rst.
 *
 * What a policy is asked is for a whole page of objects, of which any may have been
 * used. Moving a batch stops all CPUs for a moment, so it is done by daemons alone.
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

#include "../kloc/kloc.h"
#include "tiering.h"

/*
 * A page that has left by its use and come back stays for a while. That it left was for
 * nothing, and its copy has stopped all CPUs.
 */
#define TIERING_SLAB_MOVES	2

/* Objects of a context that are looked at. */
#define TIERING_SLABS_OF_CONTEXT	8

/* Can slabs move, and may they? */
static bool tiering_slabs_take_part(void)
{
	return reloc_is_enabled() && READ_ONCE(kloc_settings.kinds) & BIT(TIERING_SLAB);
}

/* Called by tiering_slabs_begin(). */
bool __tiering_slabs_begin(const struct address_space *mapping,
			   const struct file_ra_state *ra)
{
	struct tiering_alloc alloc = {
		.stream = tiering_is_stream(ra),
		.lookup = !mapping,
	};
	const struct tiering_policy *policy;
	struct tiering_node *tn;
	bool cold = false;

	/* Who called the caller has begun already. */
	if (!tiering_slabs_take_part() || current->slabs_cold)
		return false;
	/* What was not asked for is as without a policy. */
	if (mapping && mapping->host ? kloc_has_none(mapping->host) : !kloc_chosen())
		return false;
	rcu_read_lock();
	policy = rcu_dereference(tiering_selected);
	tn = rcu_dereference(tiering_near[numa_node_id()]);
	alloc.knode = kloc_knode_in(mapping);
	if (policy && policy->slab_new_cold && tn)
		cold = policy->slab_new_cold(tn, &alloc);
	rcu_read_unlock();
	current->slabs_cold = cold;
	return cold;
}

static bool tiering_slab_is_cold(const struct reloc_page *page, void *data)
{
	struct tiering_node *tn = data;

	return page->nid == tn->nid && page->moves < TIERING_SLAB_MOVES &&
	       tn->policy->slab_cold(tn, page->history);
}

static bool tiering_slab_is_hot(const struct reloc_page *page, void *data)
{
	struct tiering_node *tn = data;

	return tn->policy->slab_hot(tn, page->history) && !node_is_toptier(page->nid);
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
 * tiering_slab_stay_over() - a page of a slab is moved again, or freed
 * @page: what is known of it
 * @freed: it is freed
 */
void tiering_slab_stay_over(const struct reloc_page *page, bool freed)
{
	enum tiering_reason why = page->why - 1;

	/* Nobody has moved it for a policy, or its age is not counted now. */
	if (!page->why || !static_branch_unlikely(&tiering_slabs_key))
		return;
	if (why >= TIERING_PROMOTED_ACTIVE ? page->uses >= TIERING_USES_TO_PAY :
					     page->age > TIERING_SOON)
		return;
	tiering_count((freed ? TIERING_FREED : TIERING_RETURNED) + why, TIERING_SLAB, 1);
}

/* Move some of the pages that are chosen, from where the last ones were found on. */
static bool tiering_slabs_move(struct tiering_node *tn, reloc_choose_t choose,
			       unsigned long *cursor, int nid,
			       enum tiering_reason why)
{
	void *addrs[TIERING_SLABS_MOST];
	struct reloc_result result = { };
	unsigned int found;

	/* All was looked at in this scan. */
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

	return nid != NUMA_NO_NODE && !node_is_toptier(nid);
}

/* Pages that are in slow memory already would be in the way of the others. */
static bool tiering_slab_may_leave(const void *object)
{
	int nid = reloc_nid_now(object);

	return nid != NUMA_NO_NODE && node_is_toptier(nid) && reloc_is_idle(object);
}

/* Note the pages of a context's objects that are chosen, as long as there is room. */
static void tiering_slabs_add(struct tiering_node *tn, struct tiering_slabs *slabs,
			      const struct knode *knode,
			      bool (*choose)(const void *object))
{
	void *addrs[TIERING_SLABS_OF_CONTEXT];
	unsigned int count;

	if (!tiering_slabs_take_part() || !(tn->policy->needs & TIERING_SLABS))
		return;
	count = itr_knode_slab(knode, choose, addrs, ARRAY_SIZE(addrs));
	spin_lock(&tn->lock);
	count = min(count, TIERING_SLABS_MOST - slabs->count);
	memcpy(&slabs->addrs[slabs->count], addrs, count * sizeof(*addrs));
	slabs->count += count;
	spin_unlock(&tn->lock);
}

/**
 * tiering_slabs_leave() - the slab objects of a context should leave a node
 * @tn: the node
 * @knode: the context, which was not looked at yet
 *
 * Objects of others are on the same pages. Pages of which any was used lately stay.
 *
 * Context: may hold no lock that is taken with interrupts off.
 */
void tiering_slabs_leave(struct tiering_node *tn, const struct knode *knode)
{
	tiering_slabs_add(tn, &tn->slabs_leave, knode, tiering_slab_may_leave);
}

/**
 * tiering_slabs_come() - the slab objects of a context should come to a node
 * @tn: the node
 * @knode: the context
 *
 * Context: as tiering_slabs_leave().
 */
void tiering_slabs_come(struct tiering_node *tn, const struct knode *knode)
{
	tiering_slabs_add(tn, &tn->slabs_come, knode, tiering_slab_is_on_slow_node);
}

/* Move those that were noted. They stay where they are if @nid is NUMA_NO_NODE. */
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
 * tiering_slabs_are_looked_at() - may there be slabs that should leave a node?
 * @tn: the node
 *
 * Return: false if all were looked at in this scan, or none may move.
 */
bool tiering_slabs_are_looked_at(const struct tiering_node *tn)
{
	return tiering_slabs_take_part() && tn->policy->needs & TIERING_SLABS &&
	       READ_ONCE(tn->slabs_cold) < RELOC_SIZE;
}

/**
 * tiering_slabs_turn() - demote some pages of slabs, and promote some
 * @tn: the node, whose policy has the need TIERING_SLABS
 *
 * Context: the daemon of @tn; may sleep.
 * Return: whether there may be more to do in this scan.
 */
bool tiering_slabs_turn(struct tiering_node *tn)
{
	bool more = false;

	if (!tiering_slabs_take_part())
		return false;
	tiering_slabs_move_noted(tn, &tn->slabs_leave, READ_ONCE(tn->slow),
				 TIERING_DEMOTED_INACTIVE);
	tiering_slabs_move_noted(tn, &tn->slabs_come,
				 kloc_limit_node(tn->nid, TIERING_SLABS_MOST) ?
				 tn->nid : NUMA_NO_NODE, TIERING_PROMOTED_ACTIVE);
	if (tiering_is_short(tn->nid))
		more = tiering_slabs_move(tn, tiering_slab_is_cold, &tn->slabs_cold,
					  READ_ONCE(tn->slow),
					  TIERING_DEMOTED_UNUSED);
	else if (!kloc_limit_node(tn->nid, 0))
		more = tiering_slabs_move(tn, tiering_slab_is_cold, &tn->slabs_cold,
					  READ_ONCE(tn->slow),
					  TIERING_DEMOTED_LIMIT);
	if (tiering_room_to_fill(tn->nid) > TIERING_SLABS_MOST &&
	    kloc_limit_node(tn->nid, TIERING_SLABS_MOST))
		more |= tiering_slabs_move(tn, tiering_slab_is_hot, &tn->slabs_hot,
					   tn->nid, TIERING_PROMOTED_USED);
	return more;
}

/**
 * tiering_slabs_period() - a scan is over
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

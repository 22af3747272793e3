// SPDX-License-Identifier: GPL-2.0
/*
 * The policy kloc-flat, a control for kloc without contexts: placement, promotion and
 * early demotion go by page. Its distance to kloc is the benefit of grouping pages by
 * file.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/init.h>
#include <linux/rcupdate.h>

#include "policy_kloc.h"
#include "policy_lru.h"

/* Number of the last eight scans in which a page must be used for promotion. */
static struct policy_kloc_copies policy_kloc_flat_uses = {
	.first = TIERING_PROMOTED_USED,
	.last = TIERING_PROMOTED_USED,
	.least = 2,
	.most = 9,	/* never */
};

static unsigned int policy_kloc_flat_scans;

static int policy_kloc_flat_select(void)
{
	policy_kloc_flat_scans = 0;
	policy_kloc_copies_forget(&policy_kloc_flat_uses);
	return 0;
}

static enum tiering_place policy_kloc_flat_place(struct tiering_node *tn,
						 const struct tiering_alloc *alloc)
{
	if (!tiering_takes_part(alloc->kind))
		return tiering_may_fill(tn->nid) ? TIERING_TOP_FIRST : TIERING_LOCAL;
	return policy_kloc_place_used(tn, alloc->class);
}

/* Test whether the kind of a folio is not excluded. Context: as tiering_kind_of(). */
static bool policy_kloc_flat_takes_part(struct folio *folio)
{
	return tiering_takes_part(tiering_kind_of(folio));
}

static bool policy_kloc_flat_used(struct tiering_node *tn, struct folio *folio,
				  unsigned int history)
{
	return hweight_long(history) >= READ_ONCE(policy_kloc_flat_uses.value) &&
	       policy_kloc_flat_takes_part(folio);
}

static void policy_kloc_flat_period(struct tiering_node *tn)
{
	/* One daemon adapts the threshold. */
	if (READ_ONCE(tn->counts) && ++policy_kloc_flat_scans % TIERING_SOON == 0)
		policy_kloc_copies_adapt(&policy_kloc_flat_uses);
}

static bool policy_kloc_flat_choose(struct tiering_node *tn, struct folio *folio)
{
	bool takes_part;

	rcu_read_lock();
	takes_part = policy_kloc_flat_takes_part(folio);
	rcu_read_unlock();
	return takes_part && policy_kloc_choose_unused(tn, folio);
}

static long policy_kloc_flat_make_room(struct tiering_node *tn,
				       struct tiering_batch *b, long want)
{
	b->why = TIERING_DEMOTED_OLD;
	return policy_lru_take(tn, b, NULL, TIERING_FILE, policy_kloc_flat_choose);
}

static long policy_kloc_flat_fill_demote(struct tiering_node *tn,
					 struct tiering_batch *b, long want)
{
	if (!tiering_is_short(tn->nid) || !tiering_in_background(tn))
		return 0;
	return policy_kloc_flat_make_room(tn, b, want);
}

static long policy_kloc_flat_fill_promote(struct tiering_node *tn,
					  struct tiering_batch *b, long room)
{
	b->why = TIERING_PROMOTED_USED;
	tiering_take_hot(tn, b);
	return b->pages;
}

static struct tiering_policy policy_kloc_flat = {
	.name		= "kloc-flat",
	.needs		= TIERING_FILES | TIERING_USES | TIERING_MOVES |
			  TIERING_ROOM | TIERING_TABLES | TIERING_NET |
			  TIERING_READAHEAD,
	.init		= policy_kloc_flat_select,
	.place		= policy_kloc_flat_place,
	.used		= policy_kloc_flat_used,
	.period		= policy_kloc_flat_period,
	.fill_demote	= policy_kloc_flat_fill_demote,
	.fill_promote	= policy_kloc_flat_fill_promote,
	.make_room	= policy_kloc_flat_make_room,
};

static int __init policy_kloc_flat_init(void)
{
	return tiering_register(&policy_kloc_flat);
}
late_initcall(policy_kloc_flat_init);

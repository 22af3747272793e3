// SPDX-License-Identifier: GPL-2.0
/*
 * The policy migration-only: cold pages are demoted, so that fast memory always has
 * room for new pages (an earlier draft of KLOCs, table 3, "Migration-only"). No page is
 * promoted.
 *
 * A folio is cold if it is at the old end of an LRU list and was unused since the last
 * check. Anonymous memory and page cache are demoted in proportion to their sizes.
 */
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/vmstat.h>

#include "policy_lru.h"

static bool policy_migration_only_choose(struct tiering_node *tn,
					 struct folio *folio)
{
	if (folio_mapped(folio))
		return !tiering_was_referenced(folio);
	return !folio_test_clear_referenced(folio);
}

/* Choose the kind whose demotions are below its share. */
static enum tiering_kind policy_migration_only_kind(struct tiering_node *tn)
{
	struct pglist_data *pgdat = NODE_DATA(tn->nid);
	unsigned long anon = node_page_state(pgdat, NR_ACTIVE_ANON) +
			     node_page_state(pgdat, NR_INACTIVE_ANON);
	unsigned long file = node_page_state(pgdat, NR_ACTIVE_FILE) +
			     node_page_state(pgdat, NR_INACTIVE_FILE);
	unsigned long credit = (unsigned long)READ_ONCE(tn->priv);
	bool is_anon;

	credit += 1024 * anon / max(anon + file, 1UL);
	is_anon = credit >= 1024;
	/* The daemon and kswapd may both ask; one of their changes is lost then. */
	WRITE_ONCE(tn->priv, (void *)(credit - (is_anon ? 1024 : 0)));
	return is_anon ? TIERING_ANON : TIERING_FILE;
}

static long policy_migration_only_fill(struct tiering_node *tn,
				       struct tiering_batch *b, long want)
{
	enum tiering_kind kind;

	if (want <= 0)
		return 0;
	b->why = TIERING_DEMOTED_OLD;
	kind = policy_migration_only_kind(tn);
	if (policy_lru_take(tn, b, NULL, kind, policy_migration_only_choose))
		return b->pages;
	/* No cold folio was found. Try the other kind. */
	kind = kind == TIERING_ANON ? TIERING_FILE : TIERING_ANON;
	return policy_lru_take(tn, b, NULL, kind, policy_migration_only_choose);
}

static struct tiering_policy policy_migration_only = {
	.name		= "migration-only",
	.needs		= TIERING_MOVES | TIERING_ROOM,
	.fill_demote	= policy_migration_only_fill,
	/* Demote before kswapd evicts pages that could be demoted. */
	.make_room	= policy_migration_only_fill,
};

static int __init policy_migration_only_init(void)
{
	return tiering_register(&policy_migration_only);
}
late_initcall(policy_migration_only_init);

// SPDX-License-Identifier: GPL-2.0
/*
 * The policy migration-only: what is cold leaves fast memory, so that there is always
 * room for what is new (an earlier draft of KLOCs, table 3, "Migration-only"). Nothing
 * comes back.
 *
 * Cold is what is at the old end of the LRU lists, and was not used since it was looked
 * at the last time. Anonymous memory and page cache leave by the shares that they have.
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

/* The kind that has had less than its share of what has left. */
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
	/* All that was looked at is in use. The other kind may have what is not. */
	kind = kind == TIERING_ANON ? TIERING_FILE : TIERING_ANON;
	return policy_lru_take(tn, b, NULL, kind, policy_migration_only_choose);
}

static struct tiering_policy policy_migration_only = {
	.name		= "migration-only",
	.needs		= TIERING_MOVES | TIERING_ROOM,
	.fill_demote	= policy_migration_only_fill,
	/* Else kswapd may be first, and evict what could be demoted. */
	.make_room	= policy_migration_only_fill,
};

static int __init policy_migration_only_init(void)
{
	return tiering_register(&policy_migration_only);
}
late_initcall(policy_migration_only_init);

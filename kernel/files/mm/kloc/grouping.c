// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: the grouping that assigns pages to contexts for the core of memory
 * tiers. Contexts are on while the selected policy needs them.
 */
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/rcupdate.h>

#include "kloc.h"

DEFINE_STATIC_KEY_FALSE(kloc_key);

/* Knodes may be created. Set to false before all knodes are removed. */
bool kloc_ready;

struct kloc_settings kloc_settings;

static void kloc_start(void)
{
	static_branch_enable_cpuslocked(&kloc_key);
	WRITE_ONCE(kloc_ready, true);
}

/*
 * Remove all contexts, those of open files included. Knodes are created under RCU, so
 * after a grace period there are no new ones. Then each knode is removed with its
 * inode, or here.
 */
static void kloc_stop(void)
{
	WRITE_ONCE(kloc_ready, false);
	synchronize_rcu();
	knode_kill_all();
	static_branch_disable_cpuslocked(&kloc_key);
	/* Wait for hooks that passed the key before and still use a dead knode. */
	synchronize_rcu();
}

static bool kloc_covers(const struct address_space *mapping)
{
	return mapping && mapping->host ? !kloc_has_none(mapping->host) :
					  kloc_chosen();
}

static struct knode *kloc_of(struct address_space *mapping)
{
	struct inode *inode = mapping->host;

	return inode && kloc_is_on() && !kloc_has_none(inode) ?
	       kloc_knode_of(inode) : NULL;
}

static const struct tiering_grouping kloc_grouping = {
	.start		= kloc_start,
	.stop		= kloc_stop,
	.node_added	= knode_all_set_fast,
	.covers		= kloc_covers,
	.eligible	= kloc_is_eligible,
	.of		= kloc_of,
	.find		= kloc_knode_in,
	.kind		= kloc_kind,
	.add		= knode_add_obj,
	.note		= knode_note_pages,
	.walk		= itr_knode_cache,
	.walk_slab	= itr_knode_slab,
};

static int __init kloc_grouping_init(void)
{
	tiering_register_grouping(&kloc_grouping);
	return 0;
}
subsys_initcall(kloc_grouping_init);

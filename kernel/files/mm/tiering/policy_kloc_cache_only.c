// SPDX-License-Identifier: GPL-2.0
/*
 * The policy kloc-cache-only, a control for kloc: contexts of page cache move as under
 * kloc, and slabs do not. Its distance to kloc is the benefit of moving slabs.
 */
#include <linux/init.h>

#include "policy_kloc.h"

static struct tiering_policy policy_kloc_cache_only = {
	.name		= "kloc-cache-only",
	.needs		= POLICY_KLOC_NEEDS | TIERING_ROOM,
	.place		= policy_kloc_place,
	.fill_demote	= policy_kloc_fill_demote,
	.make_room	= policy_kloc_make_room,
	POLICY_KLOC_OPERATIONS,
};

static int __init policy_kloc_cache_only_init(void)
{
	return tiering_register(&policy_kloc_cache_only);
}
late_initcall(policy_kloc_cache_only_init);

// SPDX-License-Identifier: GPL-2.0
/*
 * The policy kloc-allactive, a control for kloc: no context counts as inactive. New
 * pages go to fast memory, often used pages are promoted, and reclaim demotes by the
 * LRU lists. Its distance to kloc is the benefit of knowing active from inactive
 * contexts.
 */
#include <linux/init.h>

#include "policy_kloc.h"

static struct tiering_policy policy_kloc_allactive = {
	.name	= "kloc-allactive",
	.needs	= POLICY_KLOC_NEEDS | TIERING_SLABS,
	.place	= policy_kloc_place_active,
	POLICY_KLOC_OPERATIONS,
	POLICY_KLOC_SLAB_OPERATIONS,
};

static int __init policy_kloc_allactive_init(void)
{
	return tiering_register(&policy_kloc_allactive);
}
late_initcall(policy_kloc_allactive_init);

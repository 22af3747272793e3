// SPDX-License-Identifier: GPL-2.0
/*
 * The policy kloc-allactive, a control for kloc: no context counts as inactive. New
 * pages go to fast memory, pages that are used often are promoted, and what leaves is
 * what the kernel's LRU lists say. It says what it is worth to know who is in use.
 */
#include <linux/init.h>

#include "policy_kloc.h"

static struct tiering_policy policy_kloc_allactive = {
	.name		= "kloc-allactive",
	.needs		= TIERING_FILES | TIERING_USES | TIERING_MOVES |
			  TIERING_KNODES,
	.init_node	= policy_kloc_init_node,
	.exit_node	= policy_kloc_exit_node,
	.place		= policy_kloc_place_active,
	.used		= policy_kloc_used,
	.knode_event	= policy_kloc_knode_event,
	.period		= policy_kloc_period,
	.fill_promote	= policy_kloc_fill_promote,
};

static int __init policy_kloc_allactive_init(void)
{
	return tiering_register(&policy_kloc_allactive);
}
late_initcall(policy_kloc_allactive_init);

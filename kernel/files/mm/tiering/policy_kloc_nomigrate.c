// SPDX-License-Identifier: GPL-2.0
/*
 * The policy kloc-nomigrate, a control for kloc: contexts decide the placement of
 * pages, as under kloc, and no page moves. It measures the benefit of placement alone
 * (KLOCs, "KLOCs-nomigration").
 */
#include <linux/init.h>

#include "policy_kloc.h"

static struct tiering_policy policy_kloc_nomigrate = {
	.name		= "kloc-nomigrate",
	/* Its daemons end scans, so that contexts age; they move nothing. */
	.needs		= TIERING_FILES | TIERING_KNODES | TIERING_TABLES |
			  TIERING_NET | TIERING_MOVES | TIERING_READAHEAD,
	.init		= policy_kloc_select,
	.init_node	= policy_kloc_init_node,
	.exit_node	= policy_kloc_exit_node,
	.place		= policy_kloc_place,
	.period		= policy_kloc_period,
};

static int __init policy_kloc_nomigrate_init(void)
{
	return tiering_register(&policy_kloc_nomigrate);
}
late_initcall(policy_kloc_nomigrate_init);

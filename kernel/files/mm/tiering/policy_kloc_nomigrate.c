// SPDX-License-Identifier: GPL-2.0
/*
 * The policy kloc-nomigrate: pages are placed by their contexts, as under kloc, and
 * stay there. It says what placement alone is worth (KLOCs, "KLOCs-nomigration").
 */
#include <linux/init.h>

#include "policy_kloc.h"

static struct tiering_policy policy_kloc_nomigrate = {
	.name	= "kloc-nomigrate",
	.needs	= TIERING_FILES | TIERING_KNODES | TIERING_TABLES,
};

static int __init policy_kloc_nomigrate_init(void)
{
	policy_kloc_nomigrate.place = policy_kloc.place;
	return tiering_register(&policy_kloc_nomigrate);
}
late_initcall(policy_kloc_nomigrate_init);

// SPDX-License-Identifier: GPL-2.0
/*
 * The policy kloc-allactive, a control for kloc: no context counts as inactive. New
 * pages go to fast memory, pages that are used often are promoted, and what leaves is
 * what the kernel's LRU lists say. It says what it is worth to know who is in use.
 */
#include <linux/init.h>

#include "policy_kloc.h"

static struct tiering_policy policy_kloc_allactive;

static int __init policy_kloc_allactive_init(void)
{
	policy_kloc_allactive = policy_kloc;
	policy_kloc_allactive.name = "kloc-allactive";
	policy_kloc_allactive.needs &= ~TIERING_ROOM;
	policy_kloc_allactive.attrs = NULL;
	policy_kloc_allactive.place = policy_kloc_place_active;
	policy_kloc_allactive.fill_demote = NULL;
	policy_kloc_allactive.make_room = NULL;
	return tiering_register(&policy_kloc_allactive);
}
late_initcall(policy_kloc_allactive_init);

// SPDX-License-Identifier: GPL-2.0
/*
 * The policy remote-first, a control for dram-first: new pages prefer slow memory.
 */
#include <linux/init.h>

#include "policy.h"

static enum tiering_place
policy_remote_first_place(struct tiering_node *tn,
			  const struct tiering_alloc *alloc)
{
	return TIERING_BOTTOM_FIRST;
}

static struct tiering_policy policy_remote_first = {
	.name = "remote-first",
	.needs = TIERING_PLACES,
	.place = policy_remote_first_place,
};

static int __init policy_remote_first_init(void)
{
	return tiering_register(&policy_remote_first);
}
late_initcall(policy_remote_first_init);

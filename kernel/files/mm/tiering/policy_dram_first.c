// SPDX-License-Identifier: GPL-2.0
/*
 * The policy dram-first: new pages prefer fast memory of any node to slow memory,
 * however near (AutoTiering, USENIX ATC 2021). Without a policy, the kernel goes by
 * distance, and prefers slow memory of this socket to DRAM of the other one.
 *
 * The policy only places pages, and moves none.
 */
#include <linux/init.h>

#include "policy.h"

static enum tiering_place policy_dram_first_place(struct tiering_node *tn,
						  const struct tiering_alloc *alloc)
{
	return TIERING_TOP_FIRST;
}

static struct tiering_policy policy_dram_first = {
	.name = "dram-first",
	.needs = TIERING_PLACES,
	.place = policy_dram_first_place,
};

static int __init policy_dram_first_init(void)
{
	return tiering_register(&policy_dram_first);
}
late_initcall(policy_dram_first_init);

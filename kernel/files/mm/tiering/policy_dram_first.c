// SPDX-License-Identifier: GPL-2.0
/*
 * The policy dram-first: fast memory of any node comes before slow memory, however
 * near that is (AutoTiering, USENIX ATC 2021). The kernel goes by distance alone, so
 * that slow memory of this socket comes before DRAM of the other one.
 *
 * Nothing is moved. Placement is the whole policy.
 */
#include <linux/init.h>

#include "tiering.h"

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

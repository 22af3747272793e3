// SPDX-License-Identifier: GPL-2.0
/*
 * The policy naive: new pages go to fast memory until it is full, and then to slow
 * memory. No page moves (KLOCs, ASPLOS 2021, "Naive").
 *
 * The kernel does the same without a policy. Unlike dram-first, the kernel prefers near
 * nodes: fast memory of another node comes in the order of distances.
 */
#include <linux/init.h>

#include "policy.h"

static struct tiering_policy policy_naive = {
	.name = "naive",
	.needs = TIERING_TIERS,
};

static int __init policy_naive_init(void)
{
	return tiering_register(&policy_naive);
}
late_initcall(policy_naive_init);

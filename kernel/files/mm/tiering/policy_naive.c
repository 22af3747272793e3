// SPDX-License-Identifier: GPL-2.0
/*
 * The policy naive: what the kernel allocates goes to fast memory until that is full,
 * and then to slow memory. Nothing is moved (KLOCs, ASPLOS 2021, "Naive").
 *
 * That is what the kernel does without a policy. Unlike dram-first it stays on the node
 * that is near: fast memory of another node is used where the kernel would use it, in
 * the order of distances.
 */
#include <linux/init.h>

#include "tiering.h"

static struct tiering_policy policy_naive = {
	.name = "naive",
	.needs = TIERING_TIERS,
};

static int __init policy_naive_init(void)
{
	return tiering_register(&policy_naive);
}
late_initcall(policy_naive_init);

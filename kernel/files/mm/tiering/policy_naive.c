// SPDX-License-Identifier: GPL-2.0
/*
 * The policy naive: what the kernel allocates goes to fast memory until that is full,
 * and then to slow memory. Nothing is moved (KLOCs, ASPLOS 2021, "Naive").
 *
 * Unlike dram-first it stays on the node that is near: fast memory of another node is
 * used where the kernel would use it, in the order of distances.
 */
#include <linux/init.h>

#include "tiering.h"

static enum tiering_place policy_naive_place(struct tiering_node *tn,
					     const struct tiering_alloc *alloc)
{
	return TIERING_LOCAL;
}

static struct tiering_policy policy_naive = {
	.name = "naive",
	.needs = TIERING_PLACES,
	.place = policy_naive_place,
};

static int __init policy_naive_init(void)
{
	return tiering_register(&policy_naive);
}
late_initcall(policy_naive_init);

// SPDX-License-Identifier: GPL-2.0
/*
 * The policy kloc-random, a control for kloc: to make room, contexts are demoted as a
 * whole, chosen at random whether they are active or not. Its distance to kloc is the
 * benefit of choosing by age.
 */
#include <linux/init.h>

#include "../kloc/kloc.h"
#include "policy_kloc.h"

static long policy_kloc_random_make_room(struct tiering_node *tn,
					 struct tiering_batch *b, long want)
{
	b->why = TIERING_DEMOTED_RANDOM;
	return policy_kloc_take_for_room(tn, b, knode_get_random);
}

static struct tiering_policy policy_kloc_random = {
	.name		= "kloc-random",
	.needs		= POLICY_KLOC_NEEDS | TIERING_ROOM | TIERING_SLABS,
	.place		= policy_kloc_place,
	.make_room	= policy_kloc_random_make_room,
	POLICY_KLOC_OPERATIONS,
	POLICY_KLOC_SLAB_OPERATIONS,
};

static int __init policy_kloc_random_init(void)
{
	return tiering_register(&policy_kloc_random);
}
late_initcall(policy_kloc_random_init);

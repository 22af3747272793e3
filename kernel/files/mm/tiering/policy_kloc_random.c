// SPDX-License-Identifier: GPL-2.0
/*
 * The policy kloc-random, a control for kloc: contexts leave as a whole to make room,
 * but any, whether they are in use or not. It says what the age of a context is worth.
 */
#include <linux/init.h>

#include "../kloc/kloc.h"
#include "policy_kloc.h"

static long policy_kloc_random_make_room(struct tiering_node *tn,
					 struct tiering_batch *b, long want)
{
	b->why = TIERING_DEMOTED_RANDOM;
	return policy_kloc_take_for_room(tn, b, kmap_get_random);
}

static struct tiering_policy policy_kloc_random;

static int __init policy_kloc_random_init(void)
{
	policy_kloc_random = policy_kloc;
	policy_kloc_random.name = "kloc-random";
	policy_kloc_random.attrs = NULL;
	policy_kloc_random.fill_demote = NULL;
	policy_kloc_random.make_room = policy_kloc_random_make_room;
	return tiering_register(&policy_kloc_random);
}
late_initcall(policy_kloc_random_init);

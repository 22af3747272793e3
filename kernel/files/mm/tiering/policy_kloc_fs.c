// SPDX-License-Identifier: GPL-2.0
/*
 * The policy kloc-fs, a control for kloc: contexts of files as under kloc, and data of
 * the network is placed as without a policy. Its distance to kloc is the benefit of
 * placing that data.
 */
#include <linux/init.h>

#include "policy_kloc.h"

static struct tiering_policy policy_kloc_fs = {
	.name		= "kloc-fs",
	.needs		= (POLICY_KLOC_NEEDS & ~TIERING_NET) | TIERING_ROOM | TIERING_SLABS,
	.place		= policy_kloc_place,
	.fill_demote	= policy_kloc_fill_demote,
	.make_room	= policy_kloc_make_room,
	POLICY_KLOC_OPERATIONS,
	POLICY_KLOC_SLAB_OPERATIONS,
};

static int __init policy_kloc_fs_init(void)
{
	return tiering_register(&policy_kloc_fs);
}
late_initcall(policy_kloc_fs_init);

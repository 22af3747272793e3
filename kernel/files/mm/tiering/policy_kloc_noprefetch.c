// SPDX-License-Identifier: GPL-2.0
/*
 * The policy kloc-noprefetch, a control for kloc: the class of a readahead window does not
 * count. New pages that a stream will read once are placed as others of their context, and
 * new slab objects of such pages as other objects. Its distance to kloc is the benefit of
 * the hints of readahead (KLOCs, draft, sections 5.5 and 6.5).
 */
#include <linux/init.h>

#include "policy_kloc.h"

static struct tiering_policy policy_kloc_noprefetch = {
	.name		= "kloc-noprefetch",
	.needs		= (POLICY_KLOC_NEEDS & ~TIERING_READAHEAD) | TIERING_ROOM |
			  TIERING_SLABS,
	.place		= policy_kloc_place,
	.fill_demote	= policy_kloc_fill_demote,
	.make_room	= policy_kloc_make_room,
	POLICY_KLOC_OPERATIONS,
	POLICY_KLOC_SLAB_OPERATIONS,
};

static int __init policy_kloc_noprefetch_init(void)
{
	return tiering_register(&policy_kloc_noprefetch);
}
late_initcall(policy_kloc_noprefetch_init);

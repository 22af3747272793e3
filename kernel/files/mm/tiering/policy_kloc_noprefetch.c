// SPDX-License-Identifier: GPL-2.0
/*
 * The policy kloc-noprefetch, a control for kloc: what readahead prefetches for a stream
 * begins in slow memory while fast memory is short. kloc places it as other pages of its
 * file, in fast memory while the file is in use, as an earlier draft of the paper does
 * (sections 5.5 and 6.5). Its distance to kloc is the benefit of that.
 */
#include <linux/init.h>

#include "../kloc/kloc.h"
#include "policy_kloc.h"

static enum tiering_place
policy_kloc_noprefetch_place(struct tiering_node *tn, const struct tiering_alloc *alloc)
{
	if (alloc->class == RA_CLASS_STREAM && alloc->knode &&
	    kloc_takes_part(alloc->knode) && tiering_is_short(tn->nid))
		return TIERING_BOTTOM_FIRST;
	return policy_kloc_place(tn, alloc);
}

static struct tiering_policy policy_kloc_noprefetch = {
	.name		= "kloc-noprefetch",
	.needs		= POLICY_KLOC_NEEDS | TIERING_ROOM | TIERING_SLABS,
	.place		= policy_kloc_noprefetch_place,
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

// SPDX-License-Identifier: GPL-2.0
/*
 * The policy kloc-cache-only: contexts of page cache, as under kloc, while slabs stay
 * where they are. It says what it is worth to move slabs.
 */
#include <linux/init.h>

#include "policy_kloc.h"

static struct tiering_policy policy_kloc_cache_only;

static int __init policy_kloc_cache_only_init(void)
{
	policy_kloc_cache_only = policy_kloc;
	policy_kloc_cache_only.name = "kloc-cache-only";
	policy_kloc_cache_only.needs &= ~TIERING_SLABS;
	policy_kloc_cache_only.attrs = NULL;
	return tiering_register(&policy_kloc_cache_only);
}
late_initcall(policy_kloc_cache_only_init);

// SPDX-License-Identifier: GPL-2.0
/*
 * The policy kloc-cap, a control for kloc without contexts: page cache above a share of
 * fast memory is demoted, the oldest first. Its distance to kloc is the benefit of
 * contexts, beyond the benefit of a smaller page cache.
 */
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/vmstat.h>

#include "policy_lru.h"

/* The largest share of page cache in a node, per cent. */
static unsigned long policy_kloc_cap_share = 50;

static long policy_kloc_cap_excess(const struct tiering_node *tn)
{
	struct pglist_data *pgdat = NODE_DATA(tn->nid);
	unsigned long most = mult_frac(node_present_pages(tn->nid),
				       READ_ONCE(policy_kloc_cap_share), 100);

	return (long)(node_page_state(pgdat, NR_ACTIVE_FILE) +
		      node_page_state(pgdat, NR_INACTIVE_FILE)) - (long)most;
}

static long policy_kloc_cap_fill_demote(struct tiering_node *tn,
					struct tiering_batch *b, long want)
{
	if (policy_kloc_cap_excess(tn) <= 0)
		return 0;
	b->why = TIERING_DEMOTED_LIMIT;
	return policy_lru_take(tn, b, NULL, TIERING_FILE, NULL);
}

TIERING_NUMBER(share, policy_kloc_cap_share, 1, 1, 100);

static struct attribute *policy_kloc_cap_attrs[] = {
	&share_number.attr.attr,
	NULL,
};

static const struct attribute_group policy_kloc_cap_group = {
	.attrs = policy_kloc_cap_attrs,
};

static struct tiering_policy policy_kloc_cap = {
	.name		= "kloc-cap",
	.needs		= TIERING_MOVES,
	.attrs		= &policy_kloc_cap_group,
	.fill_demote	= policy_kloc_cap_fill_demote,
};

static int __init policy_kloc_cap_init(void)
{
	return tiering_register(&policy_kloc_cap);
}
late_initcall(policy_kloc_cap_init);

// SPDX-License-Identifier: GPL-2.0
/*
 * The policy thermostat-kloc: Thermostat's bound holds for page cache as well, by context.
 *
 * What costs least for a page leaves, whether it is anonymous memory or a file, and all of it
 * together costs what the budget allows. Page cache belongs to no cgroup's budget, but
 * to that of all other memory; on a machine with several sockets, it leaves the first fast
 * node only.
 */
#include <linux/init.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>

#include "policy_thermostat.h"

static long thermostat_kloc_fill_demote(struct tiering_node *tn, struct tiering_batch *b,
					long want)
{
	struct policy_thermostat *t = tn->priv;

	if (policy_thermostat_fill_demote(tn, b, want) || b->more)
		return b->pages;
	b->why = TIERING_DEMOTED_INACTIVE;
	mutex_lock(&t->lock);
	policy_thermostat_contexts_demote(tn, b, t->contexts);
	mutex_unlock(&t->lock);
	return b->pages;
}

static long thermostat_kloc_fill_promote(struct tiering_node *tn, struct tiering_batch *b,
					 long room)
{
	struct policy_thermostat *t = tn->priv;

	if (policy_thermostat_fill_promote(tn, b, room) || b->more)
		return b->pages;
	/* Regions wait for the room of a huge page, which page cache would take bit by bit. */
	if (room < TIERING_REGION_PAGES && policy_thermostat_waits(tn))
		return 0;
	/* A node may have a limit of page cache. */
	b->room = min(room, tiering_limit_room(tn->nid));
	if (b->room <= 0)
		return 0;
	b->why = TIERING_PROMOTED_ACTIVE;
	mutex_lock(&t->lock);
	policy_thermostat_contexts_promote(tn, b, t->contexts);
	mutex_unlock(&t->lock);
	if (b->pages || b->more)
		return b->pages;
	b->why = TIERING_PROMOTED_USED;
	tiering_take_hot(tn, b);
	return b->pages;
}

static bool thermostat_kloc_waits(struct tiering_node *tn)
{
	const struct policy_thermostat *t = tn->priv;

	return policy_thermostat_waits(tn) ||
	       policy_thermostat_contexts_wait(t->contexts);
}

static int thermostat_kloc_init_node(struct tiering_node *tn)
{
	struct policy_thermostat *t;
	int error = policy_thermostat_init_node(tn);

	if (error)
		return error;
	t = tn->priv;
	t->contexts = policy_thermostat_contexts_make(tn);
	if (t->contexts)
		return 0;
	policy_thermostat_exit_node(tn);
	return -ENOMEM;
}

static void thermostat_kloc_exit_node(struct tiering_node *tn)
{
	struct policy_thermostat *t = tn->priv;

	policy_thermostat_contexts_free(tn, t->contexts);
	policy_thermostat_exit_node(tn);
}

static struct tiering_policy policy_thermostat_kloc = {
	.name		= "thermostat-kloc",
	.needs		= TIERING_MOVES | TIERING_VISITS | TIERING_KNODES | TIERING_USES |
			  TIERING_COUNTS,
	.init_node	= thermostat_kloc_init_node,
	.exit_node	= thermostat_kloc_exit_node,
	.used		= policy_thermostat_contexts_used,
	.count_use	= policy_thermostat_contexts_count_use,
	.period		= policy_thermostat_period,
	.fill_demote	= thermostat_kloc_fill_demote,
	.fill_promote	= thermostat_kloc_fill_promote,
	.waits		= thermostat_kloc_waits,
};

static int __init policy_thermostat_kloc_init(void)
{
	return tiering_register(&policy_thermostat_kloc);
}
late_initcall(policy_thermostat_kloc_init);

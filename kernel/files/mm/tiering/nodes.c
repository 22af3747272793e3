// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: the nodes that take part, and the order of tiers.
 */
#include <linux/memory-tiers.h>
#include <linux/mmzone.h>
#include <linux/nodemask.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/srcu.h>

#include "../kloc/kloc.h"
#include "tiering.h"

/**
 * struct tiering_order - the tiers of the machine
 * @rcu: for freeing it
 * @count: how many there are
 * @tiers: nodes of each, the highest tier first
 */
struct tiering_order {
	struct rcu_head rcu;
	unsigned int count;
	nodemask_t tiers[] __counted_by(count);
};

static struct tiering_order __rcu *tiering_order;

/* The node of the highest tier that is nearest to each node, NULL without one. */
struct tiering_node __rcu *tiering_near[MAX_NUMNODES];

/* Those that take part. Changed by who selects a policy, or follows hotplug. */
static struct tiering_node *tiering_nodes[MAX_NUMNODES];

static bool tiering_is_fast(int nid)
{
	return node_state(nid, N_MEMORY) && node_is_toptier(nid) &&
	       next_demotion_node(nid) != NUMA_NO_NODE;
}

/* How many nodes are in tiers below that of a node? It says which tier is higher. */
static unsigned int tiering_nodes_below(int nid)
{
	nodemask_t below;

	node_get_allowed_targets(NODE_DATA(nid), &below);
	return nodes_weight(below);
}

static struct tiering_order *tiering_order_make(void)
{
	nodemask_t left = node_states[N_MEMORY];
	struct tiering_order *order;
	unsigned int below;
	int nid;

	order = kzalloc(struct_size(order, tiers, nodes_weight(left)),
			GFP_KERNEL);
	while (order && !nodes_empty(left)) {
		nodemask_t *tier;

		/* First, as it says how many there are. */
		order->count++;
		tier = &order->tiers[order->count - 1];
		below = 0;
		for_each_node_mask(nid, left)
			below = max(below, tiering_nodes_below(nid));
		for_each_node_mask(nid, left)
			if (tiering_nodes_below(nid) == below)
				node_set(nid, *tier);
		nodes_andnot(left, left, *tier);
	}
	return order;
}

static int tiering_order_update(void)
{
	struct tiering_order *new = tiering_order_make(), *old;

	if (!new)
		return -ENOMEM;
	old = rcu_replace_pointer(tiering_order, new, true);
	if (old)
		kfree_rcu(old, rcu);
	return 0;
}

/**
 * tiering_tiers() - the tiers of the machine
 * @tiers: filled in with the nodes of each, the highest tier first
 *
 * Context: RCU read-side critical section, while a policy is selected.
 * Return: how many tiers there are.
 */
unsigned int tiering_tiers(const nodemask_t **tiers)
{
	const struct tiering_order *order = rcu_dereference(tiering_order);

	if (!order)
		return 0;
	*tiers = order->tiers;
	return order->count;
}

/* Of those that take part. One that is about to be taken down is none of them. */
static struct tiering_node *tiering_nearest(int nid)
{
	struct tiering_node *best = NULL;
	int other;

	for_each_online_node(other)
		if (tiering_nodes[other] && tiering_is_fast(other) &&
		    (!best || node_distance(nid, other) <
			      node_distance(nid, best->nid)))
			best = tiering_nodes[other];
	return best;
}

/* Tell each node which node of the highest tier is nearest to it. */
static void tiering_nodes_publish(void)
{
	int nid;

	for (nid = 0; nid < MAX_NUMNODES; nid++)
		rcu_assign_pointer(tiering_near[nid],
				   node_online(nid) ? tiering_nearest(nid) : NULL);
}

/* All nodes count in the scans of one of them, which may have to be another one now. */
static void tiering_choose_counter(void)
{
	bool chosen = false;
	int nid;

	for (nid = 0; nid < MAX_NUMNODES; nid++) {
		if (!tiering_nodes[nid])
			continue;
		WRITE_ONCE(tiering_nodes[nid]->counts, !chosen);
		chosen = true;
	}
}

/**
 * tiering_wake_all() - have the daemons of all nodes look at the settings
 *
 * Context: any.
 */
void tiering_wake_all(void)
{
	struct tiering_node *tn;
	int nid;

	rcu_read_lock();
	for_each_online_node(nid) {
		tn = rcu_dereference(tiering_near[nid]);
		if (tn)
			tiering_wake(tn);
	}
	rcu_read_unlock();
}

/* Take a node down that nobody finds any more. */
static void tiering_node_del(const struct tiering_policy *policy, int nid)
{
	struct tiering_node *tn = tiering_nodes[nid];

	tiering_daemon_stop(tn);
	kloc_node_hide(nid);
	if (policy->exit_node)
		policy->exit_node(tn);
	kfree(tn);
	tiering_nodes[nid] = NULL;
}

/* The first index that no node has. */
static unsigned int tiering_free_index(void)
{
	unsigned int index = 0;
	int nid;

	for (nid = 0; nid < MAX_NUMNODES; nid++) {
		if (tiering_nodes[nid] && tiering_nodes[nid]->index == index) {
			index++;
			nid = -1;
		}
	}
	return index;
}

static int tiering_node_add(const struct tiering_policy *policy, int nid)
{
	struct tiering_node *tn = kzalloc_node(sizeof(*tn), GFP_KERNEL, nid);
	int error;

	if (!tn)
		return -ENOMEM;
	tn->nid = nid;
	tn->index = tiering_free_index();
	tn->slow = next_demotion_node(nid);
	tn->policy = policy;
	init_waitqueue_head(&tn->wait);
	spin_lock_init(&tn->lock);
	error = policy->init_node ? policy->init_node(tn) : 0;
	if (error) {
		kfree(tn);
		return error;
	}
	tiering_nodes[nid] = tn;
	if (policy->needs & TIERING_KNODES)
		error = kloc_node_show(nid);
	/* It may run before anybody else finds the node. */
	if (!error && policy->needs & TIERING_MOVES)
		error = tiering_daemon_start(tn);
	if (error)
		tiering_node_del(policy, nid);
	return error;
}

/**
 * tiering_nodes_start() - set up the nodes that take part
 * @policy: which will be selected
 *
 * Context: the locks of selection are held.
 * Return: 0; -ENODEV if the machine has only one tier; or an error. After an error
 * tiering_nodes_hide() and tiering_nodes_stop() clean up.
 */
int tiering_nodes_start(const struct tiering_policy *policy)
{
	int nid, error = tiering_order_update();

	for_each_online_node(nid)
		if (!error && tiering_is_fast(nid))
			error = tiering_node_add(policy, nid);
	if (!error && !tiering_nearest(first_online_node))
		error = -ENODEV;
	if (!error) {
		tiering_choose_counter();
		tiering_nodes_publish();
	}
	return error;
}

/**
 * tiering_nodes_hide() - nobody finds a node from now on, but who has found it
 */
void tiering_nodes_hide(void)
{
	int nid;

	for (nid = 0; nid < MAX_NUMNODES; nid++)
		RCU_INIT_POINTER(tiering_near[nid], NULL);
}

/**
 * tiering_nodes_stop() - take down all nodes
 * @policy: which was selected
 *
 * Context: the locks of selection are held; a grace period after
 * tiering_nodes_hide().
 */
void tiering_nodes_stop(const struct tiering_policy *policy)
{
	int nid;

	for (nid = 0; nid < MAX_NUMNODES; nid++)
		if (tiering_nodes[nid])
			tiering_node_del(policy, nid);
}

/* Take down the nodes that have no memory any more, or no tier below them. */
static void tiering_nodes_prune(const struct tiering_policy *policy,
				struct srcu_struct *srcu)
{
	nodemask_t gone = NODE_MASK_NONE;
	int nid;

	for (nid = 0; nid < MAX_NUMNODES; nid++) {
		if (!tiering_nodes[nid] || tiering_is_fast(nid))
			continue;
		node_set(nid, gone);
	}
	if (nodes_empty(gone))
		return;
	/* The others are found all the time: contexts note what they have there. */
	tiering_nodes_publish();
	synchronize_rcu();
	synchronize_srcu(srcu);
	for_each_node_mask(nid, gone)
		tiering_node_del(policy, nid);
}

/* Add the nodes that can take part and do not yet. Return: which were added. */
static nodemask_t tiering_nodes_add(const struct tiering_policy *policy)
{
	nodemask_t added = NODE_MASK_NONE;
	int nid;

	for_each_online_node(nid) {
		if (tiering_nodes[nid] || !tiering_is_fast(nid))
			continue;
		if (tiering_node_add(policy, nid))
			pr_warn("tiering: node %d takes no part\n", nid);
		else
			node_set(nid, added);
	}
	return added;
}

/**
 * tiering_nodes_update() - follow a change of the nodes or of the tiers
 * @policy: which is selected
 * @srcu: that keeps the nodes
 *
 * A node that cannot be set up takes no part.
 *
 * Context: the locks of selection are held.
 */
void tiering_nodes_update(const struct tiering_policy *policy,
			  struct srcu_struct *srcu)
{
	nodemask_t added;
	int nid;

	tiering_order_update();
	tiering_nodes_prune(policy, srcu);
	for_each_online_node(nid)
		if (tiering_nodes[nid])
			WRITE_ONCE(tiering_nodes[nid]->slow,
				   next_demotion_node(nid));
	added = tiering_nodes_add(policy);
	tiering_choose_counter();
	tiering_nodes_publish();
	if (nodes_empty(added) || !(policy->needs & TIERING_KNODES))
		return;
	/* Whoever did not find the node could not note which contexts have pages there. */
	synchronize_rcu();
	for_each_node_mask(nid, added)
		kmap_set_fast(tiering_nodes[nid]->index);
}

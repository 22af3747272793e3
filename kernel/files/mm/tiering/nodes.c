// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: the nodes that take part, and the order of tiers.
 */
#include <linux/cpuset.h>
#include <linux/log2.h>
#include <linux/memory-tiers.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/nodemask.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/srcu.h>

#include "internal.h"

/**
 * struct tiering_order - the tiers of the machine
 * @rcu: for kfree_rcu()
 * @count: number of tiers
 * @fast: index of the tier of fast memory
 * @tiers: nodes of each tier, the highest tier first
 */
struct tiering_order {
	struct rcu_head rcu;
	unsigned int count;
	unsigned int fast;
	nodemask_t tiers[] __counted_by(count);
};

static struct tiering_order __rcu *tiering_order;

/* The nodes of the tier of fast memory, and of all tiers below it. */
static nodemask_t tiering_fast_nodes, tiering_slow_nodes;

/* For each node, the nearest node of fast memory; NULL for none. */
struct tiering_node __rcu *tiering_near[MAX_NUMNODES];

/* The nodes that take part. Protected by the locks of selection, see tiering_lock(). */
static struct tiering_node *tiering_nodes[MAX_NUMNODES];

/* Finds the nodes of all tiers below that of a node. */
typedef void (*tiering_below_t)(int nid, nodemask_t *below);

static void tiering_below(int nid, nodemask_t *below)
{
	node_get_allowed_targets(NODE_DATA(nid), below);
}

/**
 * tiering_is_fast() - test whether a node is in the tier of fast memory
 * @nid: the node
 *
 * Context: any, while a selected policy needs nodes.
 * Return: true if the node is in that tier.
 */
bool tiering_is_fast(int nid)
{
	return node_isset(nid, tiering_fast_nodes);
}

/**
 * tiering_is_slow() - test whether a node is in a tier below fast memory
 * @nid: the node
 *
 * !node_is_toptier() differs: it is false for all tiers down to the lowest one with
 * CPUs, even if faster memory is above that tier and pages can be promoted to it.
 *
 * Context: any, while a selected policy needs nodes.
 * Return: true if the node is in a lower tier.
 */
bool tiering_is_slow(int nid)
{
	return node_isset(nid, tiering_slow_nodes);
}

/*
 * Fast memory is the lowest tier of the candidates. A higher tier, such as HBM beside
 * DRAM, is for applications that ask for it: policies place no pages there, and move
 * none away.
 */
static nodemask_t tiering_choose_fast(const nodemask_t *candidates,
				      tiering_below_t find_below)
{
	nodemask_t fast = *candidates, below;
	int nid;

	for_each_node_mask(nid, *candidates) {
		find_below(nid, &below);
		if (nodes_intersects(below, *candidates))
			node_clear(nid, fast);
	}
	return fast;
}

static nodemask_t tiering_find_fast(void)
{
	nodemask_t candidates = NODE_MASK_NONE;
	int nid;

	for_each_node_state(nid, N_MEMORY)
		if (node_is_toptier(nid) && next_demotion_node(nid) != NUMA_NO_NODE)
			node_set(nid, candidates);
	return tiering_choose_fast(&candidates, tiering_below);
}

/* Count the nodes in tiers below that of a node. A higher tier has more of them. */
static unsigned int tiering_nodes_below(int nid, tiering_below_t find_below)
{
	nodemask_t below;

	find_below(nid, &below);
	return nodes_weight(below);
}

static struct tiering_order *tiering_order_make(const nodemask_t *nodes,
						const nodemask_t *fast,
						tiering_below_t find_below)
{
	nodemask_t left = *nodes;
	struct tiering_order *order;
	unsigned int below;
	int nid;

	order = kzalloc(struct_size(order, tiers, nodes_weight(left)),
			GFP_KERNEL);
	while (order && !nodes_empty(left)) {
		nodemask_t *tier;

		/* Count first: @tiers is __counted_by(count). */
		order->count++;
		tier = &order->tiers[order->count - 1];
		below = 0;
		for_each_node_mask(nid, left)
			below = max(below, tiering_nodes_below(nid, find_below));
		for_each_node_mask(nid, left)
			if (tiering_nodes_below(nid, find_below) == below)
				node_set(nid, *tier);
		if (nodes_intersects(*tier, *fast))
			order->fast = order->count - 1;
		nodes_andnot(left, left, *tier);
	}
	return order;
}

/* Copy bit by bit: readers take no lock, and must not miss a bit that stays set. */
static void tiering_set_nodes(nodemask_t *nodes, const nodemask_t *to)
{
	int nid;

	for (nid = 0; nid < MAX_NUMNODES; nid++) {
		if (node_isset(nid, *to))
			node_set(nid, *nodes);
		else
			node_clear(nid, *nodes);
	}
}

static int tiering_order_update(void)
{
	nodemask_t fast = tiering_find_fast(), slow = NODE_MASK_NONE;
	struct tiering_order *new, *old;
	unsigned int i;

	/* Without memory, all stays as it was, until nodes change again. */
	new = tiering_order_make(&node_states[N_MEMORY], &fast, tiering_below);
	if (!new)
		return -ENOMEM;
	tiering_set_nodes(&tiering_fast_nodes, &fast);
	for (i = new->fast + 1; i < new->count; i++)
		nodes_or(slow, slow, new->tiers[i]);
	tiering_set_nodes(&tiering_slow_nodes, &slow);
	old = rcu_replace_pointer(tiering_order, new, true);
	if (old)
		kfree_rcu(old, rcu);
	return 0;
}

/**
 * tiering_tiers() - get the tier of fast memory and the tiers below it
 * @tiers: filled in with the nodes of each tier, the highest tier first
 *
 * Context: RCU read-side critical section, while a policy is selected.
 * Return: the number of tiers.
 */
unsigned int tiering_tiers(const nodemask_t **tiers)
{
	const struct tiering_order *order = rcu_dereference(tiering_order);

	if (!order)
		return 0;
	*tiers = &order->tiers[order->fast];
	return order->count - order->fast;
}

/* Gets the distance of two nodes. */
typedef int (*tiering_distance_t)(int from, int to);

/* Tests whether a node has room for some pages. */
typedef bool (*tiering_has_room_t)(int nid, unsigned int pages);

static int tiering_distance(int from, int to)
{
	return node_distance(from, to);
}

/* kswapd's mark must hold after the move, as in migrate_balanced_pgdat(). */
static bool tiering_has_room(int nid, unsigned int pages)
{
	return tiering_is_balanced(nid, ilog2(pages));
}

/**
 * struct tiering_wish - a folio that should be on a better node
 * @nid: node of the folio
 * @cpu_nid: node of the CPU that uses it
 * @pages: number of its pages
 * @allowed: nodes that it may be on
 * @distance: gets the distance of two nodes
 * @has_room: tests whether a node has room
 */
struct tiering_wish {
	int nid;
	int cpu_nid;
	unsigned int pages;
	const nodemask_t *allowed;
	tiering_distance_t distance;
	tiering_has_room_t has_room;
};

/* Find the nearest node of a tier with room that is nearer than @than. */
static int tiering_nearest_in(const nodemask_t *tier, const struct tiering_wish *wish,
			      int than)
{
	int best = than, nid;

	for_each_node_mask(nid, *tier) {
		if (best != NUMA_NO_NODE && wish->distance(wish->cpu_nid, nid) >=
					    wish->distance(wish->cpu_nid, best))
			continue;
		if (node_isset(nid, *wish->allowed) && wish->has_room(nid, wish->pages))
			best = nid;
	}
	return best == than ? NUMA_NO_NODE : best;
}

/*
 * Find the best node: in a higher tier than the folio's, or nearer to the CPU in the
 * same tier. A folio above all tiers, in HBM, is on a node that someone asked for.
 */
static int tiering_best(const nodemask_t *tiers, unsigned int count,
			const struct tiering_wish *wish)
{
	unsigned int own, i;
	int nid;

	for (own = 0; own < count && !node_isset(wish->nid, tiers[own]); own++)
		;
	if (own == count)
		return NUMA_NO_NODE;
	for (i = 0; i < own; i++) {
		nid = tiering_nearest_in(&tiers[i], wish, NUMA_NO_NODE);
		if (nid != NUMA_NO_NODE)
			return nid;
	}
	return tiering_nearest_in(&tiers[own], wish, wish->nid);
}

/**
 * tiering_better_node() - find a better node with room for a folio
 * @folio: the folio
 * @cpu_nid: node of the CPU that uses the folio
 *
 * The highest tier comes first, and in it the node that is nearest to the CPU
 * (AutoTiering, slide "Exploiting access tier first and then locality": CPM provides
 * alternatives if the nearest node of fast memory is full). Looks at each node once.
 *
 * Context: a task, in an RCU read-side critical section, while a policy is selected.
 * Return: the node, which the cpuset of the task allows; NUMA_NO_NODE if none is better.
 */
int tiering_better_node(struct folio *folio, int cpu_nid)
{
	const struct tiering_wish wish = {
		.nid = folio_nid(folio),
		.cpu_nid = cpu_nid,
		.pages = folio_nr_pages(folio),
		.allowed = &cpuset_current_mems_allowed,
		.distance = tiering_distance,
		.has_room = tiering_has_room,
	};
	const nodemask_t *tiers;
	unsigned int count = tiering_tiers(&tiers);

	return tiering_best(tiers, count, &wish);
}

/**
 * tiering_fast_nid() - find the node of fast memory that is nearest to this CPU
 *
 * Context: RCU read-side critical section, of any kind.
 * Return: the node; NUMA_NO_NODE while no selected policy needs nodes.
 */
int tiering_fast_nid(void)
{
	const struct tiering_node *tn;

	tn = rcu_dereference_check(tiering_near[numa_node_id()],
				   rcu_read_lock_any_held());
	return tn ? tn->nid : NUMA_NO_NODE;
}

/**
 * tiering_node_index() - get the index of the fast node that is nearest to a node
 * @nid: the node
 *
 * Context: RCU read-side critical section, of any kind.
 * Return: the index; -1 while no selected policy needs nodes.
 */
int tiering_node_index(int nid)
{
	const struct tiering_node *tn;

	tn = rcu_dereference_check(tiering_near[nid], rcu_read_lock_any_held());
	return tn ? tn->index : -1;
}

/* Find the nearest node that takes part, except nodes that are about to be removed. */
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

/* Set the nearest node of fast memory of each node. */
static void tiering_nodes_publish(void)
{
	int nid;

	for (nid = 0; nid < MAX_NUMNODES; nid++)
		rcu_assign_pointer(tiering_near[nid],
				   node_online(nid) ? tiering_nearest(nid) : NULL);
}

/*
 * Choose the one node whose daemon advances the global scan. It stays the one while it
 * exists: two daemons must not do this at a time.
 */
static void tiering_choose_counter(void)
{
	struct tiering_node *first = NULL;
	int nid;

	for (nid = 0; nid < MAX_NUMNODES; nid++) {
		if (!tiering_nodes[nid])
			continue;
		if (tiering_nodes[nid]->counts)
			return;
		if (!first)
			first = tiering_nodes[nid];
	}
	if (first)
		WRITE_ONCE(first->counts, true);
}

/**
 * tiering_wake_all() - wake the daemons of all nodes, for changed settings
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

/* Remove a node that hooks do not find any more. */
static void tiering_node_del(const struct tiering_policy *policy, int nid)
{
	struct tiering_node *tn = tiering_nodes[nid];

	tiering_daemon_stop(tn);
	tiering_limit_folder_remove(nid);
	if (policy->exit_node)
		policy->exit_node(tn);
	kfree(tn);
	tiering_nodes[nid] = NULL;
}

/* Find the lowest free index. */
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
	mutex_init(&tn->making_room);
	error = policy->init_node ? policy->init_node(tn) : 0;
	if (error) {
		kfree(tn);
		return error;
	}
	tiering_nodes[nid] = tn;
	if (policy->needs & TIERING_FILES)
		error = tiering_limit_folder_add(nid);
	/* The daemon may run before hooks find the node. */
	if (!error && policy->needs & TIERING_MOVES)
		error = tiering_daemon_start(tn);
	if (error)
		tiering_node_del(policy, nid);
	return error;
}

/**
 * tiering_nodes_start() - set up the nodes that take part
 * @policy: the policy to be selected
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
 * tiering_nodes_hide() - hide all nodes from hooks; wait for a grace period after it
 */
void tiering_nodes_hide(void)
{
	int nid;

	for (nid = 0; nid < MAX_NUMNODES; nid++)
		RCU_INIT_POINTER(tiering_near[nid], NULL);
}

/**
 * tiering_nodes_stop() - remove all nodes
 * @policy: the policy that was selected
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

/* Remove the nodes that are not fast memory any more. */
static void tiering_nodes_prune(const struct tiering_policy *policy)
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
	/* Keep the other nodes visible: contexts note their pages there meanwhile. */
	tiering_nodes_publish();
	synchronize_rcu();
	synchronize_srcu(&tiering_srcu);
	for_each_node_mask(nid, gone)
		tiering_node_del(policy, nid);
}

/* Add the nodes that have become fast memory. Return: the added nodes. */
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
 * @policy: the selected policy
 *
 * A node that cannot be set up takes no part.
 *
 * Context: the locks of selection are held.
 */
void tiering_nodes_update(const struct tiering_policy *policy)
{
	nodemask_t added;
	int nid;

	tiering_order_update();
	tiering_nodes_prune(policy);
	for_each_online_node(nid)
		if (tiering_nodes[nid])
			WRITE_ONCE(tiering_nodes[nid]->slow,
				   next_demotion_node(nid));
	added = tiering_nodes_add(policy);
	tiering_choose_counter();
	tiering_nodes_publish();
	if (nodes_empty(added) || !(policy->needs & TIERING_KNODES))
		return;
	/*
	 * Hooks that did not find the node could not note the pages of contexts there.
	 */
	synchronize_rcu();
	for_each_node_mask(nid, added)
		tiering_grouping->node_added(tiering_nodes[nid]->index);
}

#ifdef CONFIG_TIERING_KUNIT_TEST
#include "tests/nodes-kunit.h"
#endif

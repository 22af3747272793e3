// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: on and off.
 */
#include <linux/cpu.h>
#include <linux/init.h>
#include <linux/memory-tiers.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/nodemask.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "kloc.h"

DEFINE_STATIC_KEY_FALSE(kloc_key);
DEFINE_STATIC_KEY_FALSE(kloc_pages_key);

bool kloc_ready;
struct kloc_node *kloc_near[MAX_NUMNODES];

struct kloc_settings kloc_settings = {
	.mode = KLOC_MIGRATE,
	.kinds = BIT(KLOC_KINDS) - 1,
	.scan_us = USEC_PER_SEC,
	.inactive_age = 8,
	.promote_heat = 2,
	.promote_pages = SZ_1M / PAGE_SIZE,
	.stream_bytes = SZ_64M,
	.pin = 16,
};

static DEFINE_MUTEX(kloc_mutex);

static bool is_fast(int nid)
{
	return node_state(nid, N_MEMORY) && node_is_toptier(nid) &&
	       next_demotion_node(nid) != NUMA_NO_NODE;
}

static struct kloc_node *new_node(int nid)
{
	struct kloc_node *node = kzalloc_node(sizeof(*node), GFP_KERNEL, nid);
	unsigned int i;

	if (!node)
		return NULL;
	node->nid = nid;
	node->slow = next_demotion_node(nid);
	node->promoted_level = 1;
	/* What was used once has to show first that it is used again. */
	for (i = 1; i < KLOC_TRIALS; i++)
		kloc_trial_begin(&node->trials[i], i != 1);
	init_waitqueue_head(&node->wait);
	spin_lock_init(&node->lock);
	return node;
}

/* The fast node that is nearest to another. */
static int nearest(int nid, const nodemask_t *fast)
{
	int other, best = first_node(*fast);

	for_each_node_mask(other, *fast)
		if (node_distance(nid, other) < node_distance(nid, best))
			best = other;
	return best;
}

/*
 * Tell all other nodes which fast node is theirs. Fast memory that came while
 * KLOC was on has none, and takes no part until it is switched on again.
 */
static void tell_others(const nodemask_t *fast)
{
	int nid;

	for_each_online_node(nid)
		if (!node_isset(nid, *fast))
			WRITE_ONCE(kloc_near[nid], is_fast(nid) ? NULL :
				   kloc_near[nearest(nid, fast)]);
}

/* Start the thread of each fast node, and tell all nodes which is theirs. */
static int start_nodes(void)
{
	nodemask_t fast = NODE_MASK_NONE;
	struct kloc_node *node;
	int nid, error;

	for_each_online_node(nid) {
		if (!is_fast(nid))
			continue;
		node = new_node(nid);
		if (!node)
			return -ENOMEM;
		node->ages = nodes_empty(fast);
		/* Who went by the key when it was on before may find it at once. */
		smp_store_release(&kloc_near[nid], node);
		error = kloc_thread_start(node);
		if (error)
			return error;
		node_set(nid, fast);
	}
	if (nodes_empty(fast))
		return -ENODEV;

	tell_others(&fast);
	return 0;
}

/* Stop the threads, when nobody finds the nodes any more. */
static void stop_nodes(struct kloc_node **nodes)
{
	int nid;

	for (nid = 0; nid < MAX_NUMNODES; nid++)
		if (nodes[nid])
			kloc_thread_stop(nodes[nid]);
}

static void free_nodes(struct kloc_node **nodes)
{
	int nid;

	for (nid = 0; nid < MAX_NUMNODES; nid++)
		kfree(nodes[nid]);
}

/*
 * Whoever makes a knode, queues one or looks at a node does so under RCU, and
 * sees that it must not any more after a grace period. Then no knode is added
 * to the kmap, and each goes with its inode or here.
 */
static void switch_off(void)
{
	static struct kloc_node *nodes[MAX_NUMNODES];
	struct kloc_node *node;
	int nid;

	kloc_nodes_hide();
	WRITE_ONCE(kloc_ready, false);
	for (nid = 0; nid < MAX_NUMNODES; nid++) {
		node = kloc_near[nid];
		/* Each of them once: others only have it as the nearest. */
		nodes[nid] = node && node->nid == nid ? node : NULL;
		WRITE_ONCE(kloc_near[nid], NULL);
	}
	synchronize_rcu();

	stop_nodes(nodes);
	knode_kill_all(&kloc_kmap);
	static_branch_disable_cpuslocked(&kloc_pages_key);
	static_branch_disable_cpuslocked(&kloc_key);
	/*
	 * Whoever went by a key before may still look at a page's bytes, or add
	 * to a list what is dead by now.
	 */
	synchronize_rcu();
	knode_lists_flush(&kloc_kmap);
	kloc_pages_free();
	free_nodes(nodes);
}

/* Part of the smallest fast node: what is allocated between two looks. */
static unsigned long default_reserve(void)
{
	unsigned long pages = ULONG_MAX;
	int nid;

	for_each_online_node(nid)
		if (is_fast(nid))
			pages = min(pages, node_present_pages(nid));
	return pages == ULONG_MAX ? 0 : pages / 96;
}

static int switch_on(void)
{
	int error = kloc_pages_alloc();

	if (error)
		return error;
	if (!kloc_settings.reserve)
		kloc_settings.reserve = default_reserve();
	error = start_nodes();
	if (!error)
		error = kloc_nodes_show();
	if (error) {
		switch_off();
		return error;
	}
	static_branch_enable_cpuslocked(&kloc_key);
	WRITE_ONCE(kloc_ready, true);
	return 0;
}

/**
 * kloc_enable() - switch KLOC on or off
 * @on: which
 *
 * Safe at any time, whatever files are in use.
 *
 * Return: 0, -ENODEV if there is one tier only, or -ENOMEM.
 */
int kloc_enable(bool on)
{
	int error = 0;

	/* The order in which memory hotplug takes these. */
	cpus_read_lock();
	get_online_mems();
	mutex_lock(&kloc_mutex);
	if (on && !static_key_enabled(&kloc_key))
		error = switch_on();
	else if (!on && static_key_enabled(&kloc_key))
		switch_off();
	mutex_unlock(&kloc_mutex);
	put_online_mems();
	cpus_read_unlock();
	return error;
}

static void note_uses(struct work_struct *work)
{
	cpus_read_lock();
	mutex_lock(&kloc_mutex);
	if (static_key_enabled(&kloc_key) &&
	    !static_key_enabled(&kloc_pages_key))
		static_branch_enable_cpuslocked(&kloc_pages_key);
	mutex_unlock(&kloc_mutex);
	cpus_read_unlock();
}

static DECLARE_WORK(note_uses_work, note_uses);

/**
 * kloc_note_uses() - from now on it has to be known which pages are used
 *
 * Until KLOC is switched off. It takes some time to begin: whoever switches it off
 * waits for the threads that call this, so these cannot wait for the same locks.
 */
void kloc_note_uses(void)
{
	if (!static_key_enabled(&kloc_pages_key))
		schedule_work(&note_uses_work);
}

/**
 * kloc_nodes_changed() - a node has got memory, or has none any more
 *
 * Context: memory hotplug is locked, so that KLOC is not switched meanwhile.
 */
void kloc_nodes_changed(void)
{
	nodemask_t fast = NODE_MASK_NONE;
	int nid;

	for_each_online_node(nid) {
		struct kloc_node *node = kloc_near[nid];

		if (!node || node->nid != nid)
			continue;
		WRITE_ONCE(node->slow, next_demotion_node(nid));
		node_set(nid, fast);
	}
	if (!nodes_empty(fast))
		tell_others(&fast);
}

static int __init kloc_init(void)
{
	int error = kloc_sysfs_init();

	return error ?: kloc_hotplug_init();
}
subsys_initcall(kloc_init);

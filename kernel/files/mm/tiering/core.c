// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: which there are, and which is selected.
 *
 * The hooks find the selected policy under RCU. To select another one, the core first
 * takes the policy away from them and waits until nobody runs it; only then are its
 * nodes taken down and its exit called. So the operations of two policies never run
 * at the same time, and a policy that fails to start leaves none selected.
 */
#include <linux/cpu.h>
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/memory.h>
#include <linux/memory_hotplug.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/reloc.h>
#include <linux/srcu.h>
#include <linux/string.h>
#include <linux/tiering.h>
#include <linux/tiering_slab.h>
#include <linux/workqueue.h>

#include "../kloc/kloc.h"
#include "tiering.h"

DEFINE_STATIC_KEY_FALSE(tiering_places_key);
DEFINE_STATIC_KEY_FALSE(tiering_files_key);
DEFINE_STATIC_KEY_FALSE(tiering_uses_key);
DEFINE_STATIC_KEY_FALSE(tiering_room_key);
DEFINE_STATIC_KEY_FALSE(tiering_kernel_key);
DEFINE_STATIC_KEY_FALSE(tiering_slabs_key);

const struct tiering_policy __rcu *tiering_selected;

/* Where the policy may sleep, this keeps it, and the nodes. */
DEFINE_STATIC_SRCU(tiering_srcu);

static LIST_HEAD(tiering_policies);

/* Of the list and of the selection. Hooks and daemons never take it. */
static DEFINE_MUTEX(tiering_mutex);

static const struct tiering_policy *tiering_selected_locked(void)
{
	return rcu_dereference_protected(tiering_selected,
					 lockdep_is_held(&tiering_mutex));
}

static const struct tiering_policy *tiering_find(const char *name)
{
	const struct tiering_policy *policy;

	list_for_each_entry(policy, &tiering_policies, list)
		if (sysfs_streq(policy->name, name))
			return policy;
	return NULL;
}

/**
 * tiering_next_policy() - iterate over the policies
 * @policy: the one before, NULL for the first one
 *
 * Policies are registered at boot and stay, so no lock is needed.
 *
 * Return: the policy, NULL at the end.
 */
struct tiering_policy *tiering_next_policy(struct tiering_policy *policy)
{
	struct list_head *next = policy ? policy->list.next :
					  tiering_policies.next;

	return next == &tiering_policies ? NULL :
	       list_entry(next, struct tiering_policy, list);
}

static void tiering_enable_hooks(const struct tiering_policy *policy)
{
	if (policy->needs & TIERING_PLACES)
		static_branch_enable_cpuslocked(&tiering_places_key);
	if (policy->needs & TIERING_FILES)
		static_branch_enable_cpuslocked(&tiering_files_key);
	if (policy->needs & TIERING_USES)
		static_branch_enable_cpuslocked(&tiering_uses_key);
	if (policy->needs & TIERING_ROOM)
		static_branch_enable_cpuslocked(&tiering_room_key);
	if (policy->needs & TIERING_TABLES)
		static_branch_enable_cpuslocked(&tiering_kernel_key);
	if (policy->needs & TIERING_SLABS)
		static_branch_enable_cpuslocked(&tiering_slabs_key);
	reloc_hold_demoted(policy->needs & TIERING_SLABS);
}

static void tiering_disable_hooks(void)
{
	static_branch_disable_cpuslocked(&tiering_places_key);
	static_branch_disable_cpuslocked(&tiering_files_key);
	static_branch_disable_cpuslocked(&tiering_uses_key);
	static_branch_disable_cpuslocked(&tiering_room_key);
	static_branch_disable_cpuslocked(&tiering_kernel_key);
	static_branch_disable_cpuslocked(&tiering_slabs_key);
	reloc_hold_demoted(false);
}

static void tiering_stop(const struct tiering_policy *policy)
{
	rcu_assign_pointer(tiering_selected, NULL);
	tiering_disable_hooks();
	tiering_nodes_hide();
	/* Whoever is in a hook may still run the policy, or look at a node. */
	synchronize_rcu();
	synchronize_srcu(&tiering_srcu);
	tiering_nodes_stop(policy);
	if (policy->needs & TIERING_KNODES)
		kloc_stop();
	tiering_pages_stop();
	if (policy->exit)
		policy->exit();
}

static int tiering_start(const struct tiering_policy *policy)
{
	int error = policy->init ? policy->init() : 0;

	if (error)
		return error;
	if (policy->needs & TIERING_USES)
		error = tiering_pages_start();
	/* The policy that changes nothing needs no tiers. */
	if (!error && policy->needs)
		error = tiering_nodes_start(policy);
	if (error) {
		tiering_stop(policy);
		return error;
	}
	rcu_assign_pointer(tiering_selected, policy);
	tiering_enable_hooks(policy);
	/* Last: of a page that comes when there are no hooks, a context does not know. */
	if (policy->needs & TIERING_KNODES)
		kloc_start();
	return 0;
}

/* In the order in which memory hotplug takes these locks. */
static void tiering_lock(void)
{
	cpus_read_lock();
	get_online_mems();
	mutex_lock(&tiering_mutex);
}

static void tiering_unlock(void)
{
	mutex_unlock(&tiering_mutex);
	put_online_mems();
	cpus_read_unlock();
}

/**
 * tiering_select() - select a policy
 * @name: of the policy; a newline at the end is ignored
 *
 * Nothing happens if it is selected already.
 *
 * Context: process context; may sleep.
 * Return: 0; -EINVAL if there is no such policy; -ENODEV if the machine has only one
 * tier; or what the policy's init returned. Unless the name is unknown, no policy is
 * selected after an error: hooks do nothing, as with "none".
 */
int tiering_select(const char *name)
{
	const struct tiering_policy *policy, *old;
	int error = 0;

	tiering_lock();
	policy = tiering_find(name);
	old = tiering_selected_locked();
	if (!policy) {
		error = -EINVAL;
	} else if (policy != old) {
		if (old)
			tiering_stop(old);
		error = tiering_start(policy);
	}
	tiering_unlock();
	return error;
}

/**
 * tiering_register() - make a policy known
 * @policy: the policy, which stays
 *
 * Context: at boot.
 * Return: 0; -EEXIST if another policy has its name; or an error of sysfs.
 */
int __init tiering_register(struct tiering_policy *policy)
{
	int error = 0;

	mutex_lock(&tiering_mutex);
	if (tiering_find(policy->name))
		error = -EEXIST;
	else
		error = tiering_sysfs_add(policy);
	if (!error)
		list_add_tail(&policy->list, &tiering_policies);
	mutex_unlock(&tiering_mutex);
	return error;
}

static void tiering_memory_work(struct work_struct *work)
{
	const struct tiering_policy *policy;

	tiering_lock();
	policy = tiering_selected_locked();
	if (policy && policy->needs & TIERING_USES)
		tiering_pages_update();
	if (policy && policy->needs)
		tiering_nodes_update(policy, &tiering_srcu);
	tiering_unlock();
}

static DECLARE_WORK(tiering_work, tiering_memory_work);

/*
 * Memory comes or goes. That changes how many pages nodes have, and which nodes take
 * part. Both are changed with locks that the caller has: so it is done a little later.
 */
static int tiering_memory_changed(struct notifier_block *self,
				  unsigned long action, void *data)
{
	if (action == MEM_ONLINE || action == MEM_OFFLINE)
		schedule_work(&tiering_work);
	return NOTIFY_OK;
}

/* Batches of which nothing could be moved, one after another, before it is given up. */
#define TIERING_FAILURES	4

static unsigned long tiering_make_room_by(const struct tiering_policy *policy,
					  struct tiering_node *tn)
{
	unsigned int failures = 0, moved;
	unsigned long all = 0;
	long want;

	while ((want = -tiering_room(tn->nid)) > 0 &&
	       failures < TIERING_FAILURES &&
	       rcu_access_pointer(tiering_selected) == policy) {
		struct tiering_batch b = { .folios = LIST_HEAD_INIT(b.folios) };

		if (!policy->make_room(tn, &b, want))
			break;
		moved = tiering_migrate(tn, &b);
		failures = moved ? 0 : failures + 1;
		all += moved;
		if (b.full)
			break;
		cond_resched();
	}
	return all;
}

/* Called by tiering_make_room(). */
unsigned long __tiering_make_room(int nid)
{
	const struct tiering_policy *policy;
	struct tiering_node *tn;
	unsigned long moved = 0;
	int index;

	index = srcu_read_lock(&tiering_srcu);
	policy = srcu_dereference(tiering_selected, &tiering_srcu);
	tn = srcu_dereference(tiering_near[nid], &tiering_srcu);
	if (policy && policy->make_room && tn && tn->nid == nid)
		moved = tiering_make_room_by(policy, tn);
	srcu_read_unlock(&tiering_srcu, index);
	return moved;
}

static int __init tiering_init(void)
{
	return hotplug_memory_notifier(tiering_memory_changed,
				       DEFAULT_CALLBACK_PRI);
}
subsys_initcall(tiering_init);

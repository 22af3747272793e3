// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: registration and selection of policies.
 *
 * The hooks find the selected policy under RCU. To select another one, the core first
 * hides the policy from the hooks and waits until no hook runs it; then it removes the
 * policy's nodes. So the operations of two policies never run at the same time, and no
 * policy is selected after one fails to start.
 */
#include <linux/cpu.h>
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/llist.h>
#include <linux/memory.h>
#include <linux/memory-tiers.h>
#include <linux/memory_hotplug.h>
#include <linux/mmzone.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/reloc.h>
#include <linux/srcu.h>
#include <linux/string.h>
#include <linux/tiering.h>
#include <linux/tiering_net.h>
#include <linux/tiering_slab.h>
#include <linux/workqueue.h>

#include "internal.h"

DEFINE_STATIC_KEY_FALSE(tiering_places_key);
DEFINE_STATIC_KEY_FALSE(tiering_files_key);
DEFINE_STATIC_KEY_FALSE(tiering_uses_key);
DEFINE_STATIC_KEY_FALSE(tiering_hints_key);
DEFINE_STATIC_KEY_FALSE(tiering_records_key);
DEFINE_STATIC_KEY_FALSE(tiering_room_key);
DEFINE_STATIC_KEY_FALSE(tiering_kernel_key);
DEFINE_STATIC_KEY_FALSE(tiering_slabs_key);

const struct tiering_policy __rcu *tiering_selected;
const struct tiering_grouping *tiering_grouping __ro_after_init;

/* Protects the policy and the nodes where the policy may sleep. */
DEFINE_SRCU(tiering_srcu);

static LIST_HEAD(tiering_policies);

/* Protects the list and the selection. Hooks and daemons never take this lock. */
static DEFINE_MUTEX(tiering_mutex);

/**
 * tiering_register_grouping() - register the grouping
 * @grouping: the grouping, which is never freed
 *
 * Context: at boot, before policies are registered.
 */
void __init tiering_register_grouping(const struct tiering_grouping *grouping)
{
	tiering_grouping = grouping;
}

/**
 * tiering_context_active() - tell the policy that a context has become active
 * @knode: the context
 *
 * Context: as for the operation knode_active.
 */
void tiering_context_active(struct knode *knode)
{
	const struct tiering_policy *policy;
	struct tiering_node *tn;

	rcu_read_lock();
	policy = rcu_dereference(tiering_selected);
	tn = rcu_dereference(tiering_near[numa_node_id()]);
	if (policy && policy->knode_active && tn)
		policy->knode_active(tn, knode);
	rcu_read_unlock();
}

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
 * @policy: the previous policy, NULL to begin
 *
 * Policies are registered at boot and never removed, so this needs no lock.
 *
 * Return: the next policy, NULL at the end.
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
	if (policy->needs & TIERING_RECORDS)
		static_branch_enable_cpuslocked(&tiering_records_key);
	if (policy->needs & TIERING_USES)
		static_branch_enable_cpuslocked(&tiering_uses_key);
	if (policy->needs & TIERING_COUNTS)
		static_branch_enable_cpuslocked(&tiering_counts_key);
	if (policy->needs & TIERING_HINTS)
		static_branch_enable_cpuslocked(&tiering_hints_key);
	if (policy->needs & TIERING_ROOM)
		static_branch_enable_cpuslocked(&tiering_room_key);
	if (policy->needs & TIERING_TABLES)
		static_branch_enable_cpuslocked(&tiering_kernel_key);
	if (policy->needs & TIERING_NET)
		static_branch_enable_cpuslocked(&tiering_net_key);
	if (policy->needs & TIERING_SLABS)
		static_branch_enable_cpuslocked(&tiering_slabs_key);
	reloc_hold_demoted(policy->needs & TIERING_SLABS);
}

static void tiering_disable_hooks(void)
{
	static_branch_disable_cpuslocked(&tiering_places_key);
	static_branch_disable_cpuslocked(&tiering_files_key);
	static_branch_disable_cpuslocked(&tiering_uses_key);
	static_branch_disable_cpuslocked(&tiering_counts_key);
	static_branch_disable_cpuslocked(&tiering_hints_key);
	static_branch_disable_cpuslocked(&tiering_records_key);
	static_branch_disable_cpuslocked(&tiering_room_key);
	static_branch_disable_cpuslocked(&tiering_kernel_key);
	static_branch_disable_cpuslocked(&tiering_net_key);
	static_branch_disable_cpuslocked(&tiering_slabs_key);
	reloc_hold_demoted(false);
}

static void tiering_stop(const struct tiering_policy *policy)
{
	rcu_assign_pointer(tiering_selected, NULL);
	tiering_disable_hooks();
	tiering_nodes_hide();
	/* Wait for hooks that run the policy or use a node. */
	synchronize_rcu();
	synchronize_srcu(&tiering_srcu);
	tiering_nodes_stop(policy);
	/*
	 * The nodes have opened what they had closed. NUMA balancing would take a visit
	 * before that for one of its own faults, and move the page.
	 */
	static_branch_disable_cpuslocked(&tiering_visits_key);
	if (policy->needs & TIERING_KNODES)
		tiering_grouping->stop();
	tiering_pages_stop();
}

/*
 * Let a kswapd run again that gave up after too many failures: the policy may let it
 * demote, and memory may have been freed since.
 */
static void tiering_revive_kswapd(void)
{
	int nid;

	for_each_node_state(nid, N_MEMORY)
		if (node_is_toptier(nid))
			WRITE_ONCE(NODE_DATA(nid)->kswapd_failures, 0);
}

static int tiering_start(const struct tiering_policy *policy,
			 struct llist_head *spares)
{
	int error = policy->init ? policy->init() : 0;

	if (error)
		return error;
	if (policy->needs & TIERING_RECORDS)
		error = tiering_pages_start(spares, policy->needs & TIERING_HINTS);
	/* Before the daemons, which close entries of page tables. */
	if (!error && policy->needs & TIERING_VISITS)
		static_branch_enable_cpuslocked(&tiering_visits_key);
	/* The policy "none" needs no tiers. */
	if (!error && policy->needs)
		error = tiering_nodes_start(policy);
	if (error) {
		tiering_stop(policy);
		return error;
	}
	rcu_assign_pointer(tiering_selected, policy);
	if (policy->needs)
		tiering_revive_kswapd();
	tiering_enable_hooks(policy);
	/*
	 * After the hooks: a context does not know pages that are added without them.
	 */
	if (policy->needs & TIERING_KNODES)
		tiering_grouping->start();
	return 0;
}

/* Take the locks in the order of memory hotplug. */
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
 * Selecting the selected policy has no effect.
 *
 * Context: process context; may sleep.
 * Return: 0; -EINVAL if there is no such policy; -ENODEV if the machine has only one
 * tier; or the error of the policy's init. After an error other than an unknown name,
 * no policy is selected: hooks do nothing, as with "none".
 */
int tiering_select(const char *name)
{
	/* Policies are never removed, so the search needs no lock. */
	const struct tiering_policy *policy = tiering_find(name), *old;
	LLIST_HEAD(spares);
	int error = 0;

	if (policy && policy->needs & TIERING_RECORDS &&
	    policy != rcu_access_pointer(tiering_selected))
		tiering_pages_prepare(&spares, policy->needs & TIERING_HINTS);
	tiering_lock();
	old = tiering_selected_locked();
	if (!policy) {
		error = -EINVAL;
	} else if (policy != old) {
		if (old)
			tiering_stop(old);
		error = tiering_start(policy, &spares);
	}
	tiering_unlock();
	tiering_pages_unprepare(&spares);
	return error;
}

/* Test whether a policy has exactly the operations that its needs imply. */
static bool tiering_is_consistent(const struct tiering_policy *policy)
{
	unsigned long needs = policy->needs;
	bool slabs = needs & TIERING_SLABS;

	return !policy->place == !(needs & (TIERING_PLACES | TIERING_FILES)) &&
	       !policy->used == !(needs & TIERING_USES) &&
	       !policy->make_room == !(needs & TIERING_ROOM) &&
	       !policy->hint_fault == !(needs & TIERING_HINTS) &&
	       !(policy->fill_demote || policy->fill_promote || policy->period) ==
	       !(needs & TIERING_MOVES) &&
	       !policy->count_use == !(needs & TIERING_COUNTS) &&
	       (!policy->knode_active || needs & TIERING_KNODES) &&
	       (!policy->waits || policy->fill_promote) &&
	       (!policy->hint_room || needs & TIERING_HINTS) &&
	       !policy->slab_cold == !slabs && !policy->slab_hot == !slabs &&
	       !policy->slab_new_cold == !slabs &&
	       (!(needs & (TIERING_SLABS | TIERING_VISITS)) || needs & TIERING_MOVES) &&
	       (needs & TIERING_RECORDS) != TIERING_RECORDS &&
	       (!(needs & TIERING_COUNTS) || needs & TIERING_USES) &&
	       (!(needs & TIERING_READAHEAD) || policy->place) &&
	       (!(needs & TIERING_KNODES) || tiering_grouping);
}

/**
 * tiering_register() - register a policy
 * @policy: the policy, which is never freed
 *
 * Context: at boot.
 * Return: 0; -EINVAL if its needs and its operations contradict; -EEXIST if another
 * policy has its name; or an error of sysfs.
 */
int __init tiering_register(struct tiering_policy *policy)
{
	int error = 0;

	if (WARN(!tiering_is_consistent(policy),
		 "tiering: needs and operations of policy %s contradict\n",
		 policy->name))
		return -EINVAL;
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
	if (policy && policy->needs)
		tiering_nodes_update(policy);
	tiering_unlock();
}

static DECLARE_WORK(tiering_work, tiering_memory_work);

/*
 * Add or remove the records of memory that is hotplugged. The nodes that take part may
 * change, too: a work item updates them, as it needs locks that the caller holds.
 */
static int tiering_memory_changed(struct notifier_block *self,
				  unsigned long action, void *data)
{
	const struct memory_notify *memory = data;

	if (action == MEM_GOING_ONLINE)
		tiering_pages_online(memory->start_pfn, memory->nr_pages);
	if (action == MEM_CANCEL_ONLINE || action == MEM_OFFLINE)
		tiering_pages_offline(memory->start_pfn, memory->nr_pages);
	if (action == MEM_ONLINE || action == MEM_OFFLINE)
		schedule_work(&tiering_work);
	return NOTIFY_OK;
}

/* Consecutive batches without a moved folio before tiering_make_room_by() gives up. */
#define TIERING_FAILURES	4

/* The largest number of batches in a call, so that kswapd gets back to its waiters. */
#define TIERING_ROOM_BATCHES	8

/* Demote batches until the node has room. Return: true if more batches may help. */
static bool tiering_make_room_by(const struct tiering_policy *policy,
				 struct tiering_node *tn, unsigned long *moved)
{
	unsigned int failures = 0, i;

	for (i = 0; i < TIERING_ROOM_BATCHES && failures < TIERING_FAILURES; i++) {
		struct tiering_batch b = {
			.folios = LIST_HEAD_INIT(b.folios),
			.room = LONG_MAX,
		};
		long want = tiering_missing(tn->nid);
		unsigned int pages;

		if (want <= 0 || rcu_access_pointer(tiering_selected) != policy)
			return false;
		if (!policy->make_room(tn, &b, want) && !b.more)
			return false;
		pages = tiering_migrate(tn, &b);
		*moved += pages;
		if (b.full)
			return false;
		failures = pages ? 0 : failures + 1;
		cond_resched();
	}
	return failures < TIERING_FAILURES;
}

/* Called by tiering_make_room(). */
bool __tiering_make_room(int nid, unsigned long *nr_reclaimed)
{
	const struct tiering_policy *policy;
	struct tiering_node *tn;
	unsigned long moved = 0;
	bool more = false;
	int index;

	index = srcu_read_lock(&tiering_srcu);
	policy = srcu_dereference(tiering_selected, &tiering_srcu);
	tn = srcu_dereference(tiering_near[nid], &tiering_srcu);
	if (policy && policy->make_room && tn && tn->nid == nid) {
		/*
		 * kswapd looks next whether the zones have room, without CPUs' lists: here
		 * they count, and free pages on this one would be room enough.
		 */
		tiering_drain_free(nid);
		more = tiering_make_room_by(policy, tn, &moved);
		if (moved)
			tiering_drain_free(nid);
	}
	srcu_read_unlock(&tiering_srcu, index);
	*nr_reclaimed += moved;
	/* Leave the node to reclaim if nothing was demoted. */
	return more && moved;
}

static int __init tiering_init(void)
{
	return hotplug_memory_notifier(tiering_memory_changed,
				       DEFAULT_CALLBACK_PRI);
}
subsys_initcall(tiering_init);

#ifdef CONFIG_TIERING_KUNIT_TEST
#include "tests/register-kunit.h"
#endif

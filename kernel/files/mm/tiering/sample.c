// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: the uses of page cache, and accessed bits of mapped folios.
 */
#include <linux/cpuset.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/page_idle.h>
#include <linux/pagemap.h>
#include <linux/pgtable.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/rmap.h>
#include <linux/tiering.h>

#include "page.h"
#include "internal.h"

/*
 * Queue a folio for promotion. A folio that is dropped here is queued at a later use.
 */
static bool tiering_hot_add(struct tiering_node *tn, struct folio *folio)
{
	unsigned int count;
	bool fits;

	if (READ_ONCE(tn->hot_count) == TIERING_HOT || !spin_trylock(&tn->lock))
		return false;
	count = tn->hot_count;
	fits = count < TIERING_HOT;
	if (fits) {
		tn->hot[(tn->hot_first + count) % TIERING_HOT] = folio_pfn(folio);
		WRITE_ONCE(tn->hot_count, ++count);
	}
	spin_unlock(&tn->lock);
	/* Waking the daemon for each folio would cost more than a promotion saves. */
	if (count == TIERING_BATCH)
		tiering_wake(tn);
	return fits;
}

/**
 * tiering_queue_hot() - queue a folio for promotion by the daemon
 * @tn: the node to promote to
 * @folio: the folio, in slow memory
 *
 * Does nothing if the cpuset of the task does not allow the node, or the queue is full.
 *
 * Context: a task, in an RCU read-side critical section; not in interrupts.
 * Return: true if the folio waits in the queue.
 */
bool tiering_queue_hot(struct tiering_node *tn, struct folio *folio)
{
	return node_isset(tn->nid, cpuset_current_mems_allowed) &&
	       tiering_hot_add(tn, folio);
}

/* Record the first use of a folio in this scan. */
static noinline void tiering_note_use(struct folio *folio)
{
	const struct tiering_policy *policy;
	unsigned int history;
	struct tiering_node *tn;

	if (folio_test_anon(folio) || folio_test_unevictable(folio))
		return;
	rcu_read_lock();
	history = tiering_page_use(folio);
	policy = rcu_dereference(tiering_selected);
	if (history && tiering_is_slow(folio_nid(folio))) {
		tn = rcu_dereference(tiering_near[folio_nid(folio)]);
		/* Do not promote for a task that must not use memory of that node. */
		if (policy && policy->used && tn && !current->mempolicy &&
		    node_isset(tn->nid, cpuset_current_mems_allowed) &&
		    policy->used(tn, folio, history))
			tiering_hot_add(tn, folio);
	}
	rcu_read_unlock();
}

DEFINE_STATIC_KEY_FALSE(tiering_counts_key);

/* Uses on this CPU since one was counted. */
static DEFINE_PER_CPU(unsigned int, tiering_uses);

/* Test whether a use is one that is counted. */
static bool tiering_use_counts(void)
{
	if (!static_branch_unlikely(&tiering_counts_key) ||
	    this_cpu_inc_return(tiering_uses) < TIERING_USES_EACH)
		return false;
	this_cpu_write(tiering_uses, 0);
	return true;
}

/* Count a use, and those on this CPU that it stands for. */
static noinline void tiering_count_use(struct folio *folio)
{
	const struct tiering_policy *policy;

	rcu_read_lock();
	policy = rcu_dereference(tiering_selected);
	if (policy && policy->count_use && !folio_test_anon(folio))
		policy->count_use(folio);
	rcu_read_unlock();
}

/* Called by tiering_folio_used(). */
void __tiering_folio_used(struct folio *folio)
{
	bool noted, counted;

	/*
	 * The fast path of most uses. Disabled preemption is an RCU read-side section.
	 */
	preempt_disable();
	noted = tiering_page_is_noted(folio);
	counted = tiering_use_counts();
	preempt_enable();
	if (counted)
		tiering_count_use(folio);
	if (!noted)
		tiering_note_use(folio);
}

/* Called by tiering_folio_added(). */
void __tiering_folio_added(struct folio *folio)
{
	struct knode *knode;

	tiering_page_new(folio);
	rcu_read_lock();
	knode = tiering_grouping->of(folio->mapping);
	if (knode)
		tiering_grouping->add(knode, folio);
	rcu_read_unlock();
}

/**
 * tiering_note_move() - record the move of a folio
 * @src: the old folio
 * @dst: the new folio, locked
 * @why: reason of the move; TIERING_REASONS if no policy asked for it
 */
void tiering_note_move(struct folio *src, struct folio *dst, enum tiering_reason why)
{
	struct knode *knode;

	/* Only hint faults have records of anonymous memory. */
	if (folio_test_anon(dst) && !tiering_is_hinting())
		return;
	tiering_page_move(src, dst, why);
	if (folio_test_anon(dst))
		return;
	rcu_read_lock();
	knode = tiering_grouping->find(folio_mapping(dst));
	if (knode)
		tiering_grouping->note(knode, folio_nid(dst));
	rcu_read_unlock();
}

/* Called by tiering_folio_moved(). */
void __tiering_folio_moved(struct folio *src, struct folio *dst)
{
	tiering_note_move(src, dst, TIERING_REASONS);
}

/* Called by tiering_folio_freed(). */
void __tiering_folio_freed(struct folio *folio)
{
	tiering_page_freed(folio);
}

/* Called by tiering_folio_split(). */
void __tiering_folio_split(struct folio *folio, unsigned long pages)
{
	if (!folio_test_anon(folio) || tiering_is_hinting())
		tiering_page_split(folio, pages);
}

/* The largest number of mappings to check. A folio with more of them counts as used. */
#define TIERING_MAPPINGS	64

/**
 * struct tiering_young - accessed bits of a folio
 * @young: an accessed bit was set
 * @looks: number of mappings checked
 */
struct tiering_young {
	bool young;
	unsigned int looks;
};

/* Clear the accessed bits of one mapping. Return: true to go on with the next one. */
static bool tiering_take_young(struct folio *folio, struct vm_area_struct *vma,
			       unsigned long address, void *arg)
{
	DEFINE_FOLIO_VMA_WALK(walk, folio, vma, address, 0);
	struct tiering_young *found = arg;

	while (page_vma_mapped_walk(&walk)) {
		if (walk.pte)
			found->young |= ptep_clear_young_notify(vma, walk.address,
								walk.pte);
		else if (IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE))
			found->young |= pmdp_clear_young_notify(vma, walk.address,
								walk.pmd);
	}
	return !found->young && ++found->looks < TIERING_MAPPINGS;
}

/*
 * Lock the anon_vma: only the lock keeps it alive when the last process unmaps the
 * folio. Only try the lock: kswapd must not wait for a change of mappings.
 */
static struct rmap_walk_control tiering_young_control(struct tiering_young *found)
{
	return (struct rmap_walk_control) {
		.arg = found,
		.try_lock = true,
		.rmap_one = tiering_take_young,
		.anon_lock = folio_lock_anon_vma_read,
	};
}

/**
 * tiering_was_referenced() - test and clear the accessed bits of a mapped folio
 * @folio: the folio; the caller holds a reference
 *
 * For folios on their LRU lists. folio_referenced() is for folios that reclaim has
 * isolated.
 *
 * Context: may sleep.
 * Return: true if the folio was used since the last call, or if a lock is contended.
 */
bool tiering_was_referenced(struct folio *folio)
{
	struct tiering_young found = { };
	struct rmap_walk_control control = tiering_young_control(&found);

	if (!folio_trylock(folio))
		return true;
	/* The folio may have been truncated before it was locked. */
	if (folio->mapping && folio_mapped(folio))
		rmap_walk(folio, &control);
	folio_unlock(folio);
	/* Keep the use visible for reclaim, whose accessed bits were cleared here. */
	if (found.young)
		folio_set_young(folio);
	return found.young || found.looks == TIERING_MAPPINGS || control.contended;
}

#ifdef CONFIG_TIERING_KUNIT_TEST
#include "tests/sample-kunit.h"
#endif

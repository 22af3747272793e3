// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: which folios are used.
 */
#include <linux/cpuset.h>
#include <linux/memory-tiers.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/page_idle.h>
#include <linux/pagemap.h>
#include <linux/pgtable.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/rmap.h>
#include <linux/tiering.h>

#include "../kloc/kloc.h"
#include "page.h"
#include "tiering.h"

/* Remember a folio that is to be promoted. It will be used again if this fails. */
static void tiering_hot_add(struct tiering_node *tn, struct folio *folio)
{
	unsigned int count;

	if (READ_ONCE(tn->hot_count) == TIERING_HOT || !spin_trylock(&tn->lock))
		return;
	count = tn->hot_count;
	if (count < TIERING_HOT) {
		tn->hot[(tn->hot_first + count) % TIERING_HOT] = folio_pfn(folio);
		WRITE_ONCE(tn->hot_count, ++count);
	}
	spin_unlock(&tn->lock);
	/* Waking the daemon for each would cost more than is won. */
	if (count == TIERING_BATCH)
		tiering_wake(tn);
}

/* Note that a folio is used for the first time in this scan. */
static noinline void tiering_note_use(struct folio *folio)
{
	const struct tiering_policy *policy;
	unsigned int history;
	struct tiering_node *tn;

	if (folio_test_anon(folio) || folio_test_unevictable(folio))
		return;
	rcu_read_lock();
	history = tiering_page_use(folio);
	if (history && !node_is_toptier(folio_nid(folio))) {
		policy = rcu_dereference(tiering_selected);
		tn = rcu_dereference(tiering_near[folio_nid(folio)]);
		/* It is not promoted for a task that may not have memory there. */
		if (policy && policy->used && tn &&
		    node_isset(tn->nid, cpuset_current_mems_allowed) &&
		    policy->used(tn, folio, history))
			tiering_hot_add(tn, folio);
	}
	rcu_read_unlock();
}

/* Called by tiering_folio_used(). */
void __tiering_folio_used(struct folio *folio)
{
	bool noted;

	/* Most uses end here, so it is as short as can be. RCU waits for it, too. */
	preempt_disable();
	noted = tiering_page_is_noted(folio);
	preempt_enable();
	if (!noted)
		tiering_note_use(folio);
}

/* Called by tiering_folio_added(). */
void __tiering_folio_added(struct folio *folio)
{
	struct inode *inode = folio->mapping->host;
	struct knode *knode;

	tiering_page_new(folio);
	rcu_read_lock();
	knode = inode && kloc_is_on() ? kloc_knode_of(inode) : NULL;
	if (knode)
		knode_add_obj(knode, folio);
	rcu_read_unlock();
}

/* Called by tiering_folio_moved(). */
void __tiering_folio_moved(struct folio *src, struct folio *dst)
{
	struct knode *knode;

	if (folio_test_anon(dst))
		return;
	tiering_page_move(src, dst, TIERING_REASONS);
	rcu_read_lock();
	knode = kloc_knode_in(folio_mapping(dst));
	if (knode)
		knode_note_pages(knode, folio_nid(dst));
	rcu_read_unlock();
}

/* Called by tiering_folio_freed(). */
void __tiering_folio_freed(struct folio *folio)
{
	tiering_page_freed(folio);
}

/* Called by tiering_folio_split(). */
void __tiering_folio_split(struct folio *folio, unsigned long pages)
{
	if (!folio_test_anon(folio))
		tiering_page_split(folio, pages);
}

/* Take the accessed bits of one mapping of a folio. */
static bool tiering_take_young(struct folio *folio, struct vm_area_struct *vma,
			       unsigned long address, void *arg)
{
	DEFINE_FOLIO_VMA_WALK(walk, folio, vma, address, 0);
	bool *young = arg;

	while (page_vma_mapped_walk(&walk)) {
		if (walk.pte)
			*young |= ptep_clear_young_notify(vma, walk.address,
							  walk.pte);
		else if (IS_ENABLED(CONFIG_TRANSPARENT_HUGEPAGE))
			*young |= pmdp_clear_young_notify(vma, walk.address,
							  walk.pmd);
	}
	return true;
}

/**
 * tiering_was_referenced() - was a mapped folio used since this was asked last?
 * @folio: the folio, which the caller has a reference to
 *
 * folio_referenced() is for folios that reclaim has isolated; this is for folios that
 * are on their LRU lists.
 *
 * Context: may sleep.
 * Return: true if it was, or if that cannot be told now.
 */
bool tiering_was_referenced(struct folio *folio)
{
	bool young = false;
	struct rmap_walk_control control = {
		.rmap_one = tiering_take_young,
		.arg = &young,
	};

	if (!folio_trylock(folio))
		return true;
	/* It may have been truncated meanwhile. */
	if (folio->mapping && folio_mapped(folio))
		rmap_walk(folio, &control);
	folio_unlock(folio);
	/* Its bits say no longer that it was: reclaim looks at this flag, too. */
	if (young)
		folio_set_young(folio);
	return young;
}

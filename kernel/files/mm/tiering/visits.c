// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: how often memory is visited (Thermostat, ASPLOS 2017,
 * section 3.3).
 *
 * A watched entry of a page table is closed: it becomes inaccessible, as by a scan of
 * NUMA balancing. The next use is a fault, which counts a visit and opens this one entry.
 * A policy closes open entries again in rounds. The rate of an entry is the number of its
 * visits divided by the time that it was closed. This needs one fault a round at most,
 * and does not saturate: the time to the first visit is measured.
 *
 * The entries of a huge page are one entry, which is watched first. A region that may be
 * cold is split, and some of its accessed pages are watched (section 3.2).
 *
 * Thermostat counts misses of the TLB instead. An inaccessible entry is safe wherever the
 * kernel knows NUMA balancing, and an entry that is forgotten costs one fault.
 */
#include <linux/delay.h>
#include <linux/freezer.h>
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/ksm.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/mmu_notifier.h>
#include <linux/page_idle.h>
#include <linux/pgtable.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/rhashtable.h>
#include <linux/sched/clock.h>
#include <linux/sched/mm.h>
#include <linux/sort.h>
#include <linux/spinlock.h>
#include <linux/tiering.h>
#include <linux/userfaultfd_k.h>

#include <asm/tlb.h>

#include "../internal.h"
#include "internal.h"

/* Times in watches are in units of 1024 ns. */
#define TIERING_TICK		1024ULL

/* Regions for which the lock of their address space is held at a time. */
#define TIERING_PASS		32

/* Times that tiering_regions_stop() tries to lock address spaces, once a millisecond. */
#define TIERING_STOPS		20

DEFINE_STATIC_KEY_FALSE(tiering_visits_key);

static struct rhashtable tiering_regions;

static const struct rhashtable_params tiering_regions_params = {
	.head_offset = offsetof(struct tiering_region, hash),
	.key_offset = offsetof(struct tiering_region, at),
	.key_len = sizeof(struct tiering_region_key),
	.automatic_shrinking = true,
};

/**
 * struct tiering_pass - a walk over regions of an address space
 * @mm: the address space, locked for reading; NULL for none
 * @tlb: the flush of its TLB entries at the end
 * @count: number of regions so far
 * @may_close: MMU notifiers know that entries of this region are closed
 */
struct tiering_pass {
	struct mm_struct *mm;
	struct mmu_gather tlb;
	unsigned int count;
	bool may_close;
};

/* Does a step for a region, whose mapping has the lock for reading. */
typedef void (*tiering_step_t)(struct tiering_pass *pass, struct vm_area_struct *vma,
			       struct tiering_region *region);

static u32 tiering_ticks(void)
{
	return local_clock() / TIERING_TICK;
}

/* Get the address of a watched page. */
static unsigned long tiering_watch_addr(const struct tiering_region *region,
					const struct tiering_watch *watch)
{
	return region->at.addr + ((unsigned long)watch->index << PAGE_SHIFT);
}

/* Find the watch of a page, NULL for none. Watches are in the order of their pages. */
static struct tiering_watch *tiering_watch_find(struct tiering_region *region,
						unsigned int index)
{
	unsigned int low = 0, high = region->watched;

	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (region->watches[middle].index == index)
			return &region->watches[middle];
		if (region->watches[middle].index < index)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/*
 * Count a visit of an entry that was closed for @active since the last round, not counting
 * pauses. Return: false if the watch did not close the entry.
 */
static bool tiering_watch_visit(struct tiering_watch *watch, u32 active)
{
	if (!watch->is_closed)
		return false;
	/* At least a unit: what is hottest is visited in less. */
	watch->closed = min_t(u64, (u64)watch->closed + max(active, 1U), U32_MAX);
	watch->visits++;
	watch->is_closed = false;
	return true;
}

/* Note that an entry is closed from now on, or still: for @active since the last round. */
static void tiering_watch_closed(struct tiering_watch *watch, u32 now, u32 active)
{
	if (watch->is_closed)
		watch->closed = min_t(u64, (u64)watch->closed + active, U32_MAX);
	watch->since = now;
	watch->is_closed = true;
}

/*
 * Get the time since an entry was closed or was last seen closed, ns. 0 if it is negative:
 * the clocks of two CPUs may differ.
 */
static u64 tiering_watch_since(const struct tiering_watch *watch, u32 now)
{
	return max((s32)(now - watch->since), 0) * TIERING_TICK;
}

/* Note in a round that an entry is closed. */
static void tiering_watch_round(const struct tiering_region *region,
				struct tiering_watch *watch)
{
	u32 now = tiering_ticks();
	u64 since = tiering_watch_since(watch, now);

	tiering_watch_closed(watch, now,
			     tiering_space_active(region->space, since) / TIERING_TICK);
}

/* Get the time since the last round in which this task was running. */
static u32 tiering_watch_active(const struct tiering_watch *watch)
{
	return tiering_task_active(tiering_watch_since(watch, tiering_ticks())) /
	       TIERING_TICK;
}

/*
 * Called by tiering_visited(). An entry that was closed and is not watched any more does not
 * count, but is not for NUMA balancing either, which might move the folio.
 */
bool __tiering_visited(struct vm_area_struct *vma, unsigned long addr, bool is_huge)
{
	struct tiering_region_key key = {
		.mm = vma->vm_mm,
		.addr = addr & PMD_MASK,
	};
	enum tiering_stage stage = is_huge ? TIERING_WHOLE : TIERING_PAGES;
	struct tiering_region *region;
	struct tiering_watch *watch;
	bool is_ours = false;

	rcu_read_lock();
	region = rhashtable_lookup(&tiering_regions, &key, tiering_regions_params);
	if (region) {
		spin_lock(&region->lock);
		is_ours = region->stage == stage;
		watch = is_huge ? region->watches :
		       tiering_watch_find(region, (addr - key.addr) >> PAGE_SHIFT);
		if (is_ours && watch)
			tiering_watch_visit(watch, tiering_watch_active(watch));
		spin_unlock(&region->lock);
	}
	rcu_read_unlock();
	return is_ours;
}

/* Called by tiering_is_counted(). */
bool __tiering_is_counted(struct mm_struct *mm, unsigned long addr)
{
	struct tiering_region_key key = { .mm = mm, .addr = addr & PMD_MASK };
	bool is_counted;

	rcu_read_lock();
	is_counted = rhashtable_lookup(&tiering_regions, &key, tiering_regions_params);
	rcu_read_unlock();
	return is_counted;
}

/**
 * tiering_vma_counts() - test whether the visits of a mapping can be counted
 * @vma: the mapping
 *
 * Private anonymous memory counts, which is accessible, not locked, of no memory policy
 * of its own, and whose faults no program handles.
 *
 * Context: the mapping does not change meanwhile.
 * Return: true if they can.
 */
bool tiering_vma_counts(struct vm_area_struct *vma)
{
	return vma_is_anonymous(vma) && vma_is_accessible(vma) &&
	       !(vma->vm_flags & (VM_LOCKED | VM_SPECIAL | VM_HUGETLB)) &&
	       !userfaultfd_armed(vma) && !vma_policy(vma);
}

/* Test whether the use of a page says something about one address space alone. */
static bool tiering_folio_counts(struct folio *folio)
{
	return folio && folio_test_anon(folio) && !folio_test_ksm(folio) &&
	       !folio_maybe_dma_pinned(folio) && !folio_likely_mapped_shared(folio);
}

/**
 * tiering_region_add() - begin to count the visits of a region
 * @mm: the address space; the region keeps the structure alive, not the memory
 * @start: first address
 * @end: end of the region, in the same 2 MiB and the same mapping
 *
 * Context: may sleep.
 * Return: the region; NULL if it is counted already, or memory is short.
 */
struct tiering_region *tiering_region_add(struct mm_struct *mm, unsigned long start,
					  unsigned long end)
{
	struct tiering_region *region = kzalloc(sizeof(*region), TIERING_GFP);

	if (!region)
		return NULL;
	region->at.mm = mm;
	region->at.addr = start & PMD_MASK;
	region->start = start;
	region->end = end;
	spin_lock_init(&region->lock);
	INIT_LIST_HEAD(&region->list);
	region->space = tiering_space_get(mm);
	if (!region->space)
		goto failed;
	if (rhashtable_lookup_insert_fast(&tiering_regions, &region->hash,
					  tiering_regions_params))
		goto put;
	return region;
put:
	tiering_space_put(region->space);
failed:
	kfree(region);
	return NULL;
}

/**
 * tiering_region_free() - end the count of a region
 * @region: the region, in no list
 *
 * Entries that are closed open at their next use.
 */
void tiering_region_free(struct tiering_region *region)
{
	rhashtable_remove_fast(&tiering_regions, &region->hash, tiering_regions_params);
	/* Faults compare the pointer, and theirs is another address space from now on. */
	tiering_space_put(region->space);
	kfree_rcu(region, rcu);
}

static void tiering_region_set(struct tiering_region *region, enum tiering_stage stage,
			       unsigned int watched)
{
	region->watched = watched;
	region->stage = stage;
}

/* End all watches. */
static void tiering_region_unwatch(struct tiering_region *region)
{
	spin_lock(&region->lock);
	tiering_region_set(region, TIERING_UNWATCHED, 0);
	spin_unlock(&region->lock);
}

static void tiering_pass_leave(struct tiering_pass *pass)
{
	if (!pass->mm)
		return;
	tlb_finish_mmu(&pass->tlb);
	mmap_read_unlock(pass->mm);
	mmput_async(pass->mm);
	pass->mm = NULL;
}

/*
 * Lock the address space of a region. Never waits for the lock: whoever stops the daemon
 * holds locks that its holder may need. Return: false if the region has to wait.
 */
static bool tiering_pass_enter(struct tiering_pass *pass, struct tiering_region *region)
{
	struct mm_struct *mm = region->at.mm;

	if (pass->mm == mm && pass->count++ < TIERING_PASS)
		return true;
	tiering_pass_leave(pass);
	if (!mmget_not_zero(mm)) {
		region->is_gone = true;
		return false;
	}
	if (!mmap_read_trylock(mm)) {
		mmput_async(mm);
		return false;
	}
	tiering_space_round(region->space);
	tlb_gather_mmu(&pass->tlb, mm);
	pass->mm = mm;
	pass->count = 1;
	return true;
}

/* Open an entry that a watch has closed, as a hint fault does. */
static void tiering_open_pte(struct vm_area_struct *vma, unsigned long addr, pte_t *pte)
{
	pte_t old = ptep_get(pte), entry;

	if (!pte_present(old) || !pte_protnone(old))
		return;
	old = ptep_modify_prot_start(vma, addr, pte);
	entry = pte_modify(old, vma->vm_page_prot);
	if (!pte_write(entry) && vma_wants_manual_pte_write_upgrade(vma) &&
	    can_change_pte_writable(vma, addr, entry))
		entry = pte_mkwrite(entry, vma);
	ptep_modify_prot_commit(vma, addr, pte, old, entry);
}

static void tiering_open_pages(struct vm_area_struct *vma, struct tiering_region *region,
			       pmd_t *pmd)
{
	struct tiering_watch *watch;
	spinlock_t *ptl;	/* of the page table */
	pte_t *ptes;

	ptes = pte_offset_map_lock(vma->vm_mm, pmd, region->at.addr, &ptl);
	if (!ptes)
		return;
	__acquire(ptl);
	for (watch = region->watches; watch < region->watches + region->watched; watch++)
		tiering_open_pte(vma, tiering_watch_addr(region, watch),
				 ptes + watch->index);
	pte_unmap_unlock(ptes, ptl);
}

static void tiering_open_whole(struct vm_area_struct *vma, struct tiering_region *region,
			       pmd_t *pmd)
{
	spinlock_t *ptl = pmd_trans_huge_lock(pmd, vma);

	if (!ptl)
		return;
	__acquire(ptl);
	/* The first write is a fault, which finds that nobody shares the page. */
	if (pmd_present(*pmd) && pmd_protnone(*pmd))
		set_pmd_at(vma->vm_mm, region->at.addr, pmd,
			   pmd_modify(*pmd, vma->vm_page_prot));
	spin_unlock(ptl);
}

static void tiering_open(struct tiering_pass *pass, struct vm_area_struct *vma,
			 struct tiering_region *region)
{
	pmd_t *pmd = mm_find_pmd(vma->vm_mm, region->at.addr);

	if (pmd && region->stage == TIERING_WHOLE)
		tiering_open_whole(vma, region, pmd);
	else if (pmd && region->stage == TIERING_PAGES)
		tiering_open_pages(vma, region, pmd);
	tiering_region_unwatch(region);
}

/* Find the mapping of an address if an entry of it may be opened. */
static struct vm_area_struct *tiering_vma_to_open(struct mm_struct *mm, unsigned long addr)
{
	struct vm_area_struct *vma = vma_lookup(mm, addr);

	return vma && vma_is_anonymous(vma) && vma_is_accessible(vma) ? vma : NULL;
}

/* Open the entry of a page, whatever mapping it is in now. */
static void tiering_open_page(struct mm_struct *mm, unsigned long addr)
{
	struct vm_area_struct *vma = tiering_vma_to_open(mm, addr);
	pmd_t *pmd = vma ? mm_find_pmd(mm, addr) : NULL;
	spinlock_t *ptl;	/* of the page table */
	pte_t *pte;

	pte = pmd ? pte_offset_map_lock(mm, pmd, addr, &ptl) : NULL;
	if (!pte)
		return;
	__acquire(ptl);
	tiering_open_pte(vma, addr, pte);
	pte_unmap_unlock(pte, ptl);
}

/* Open the entry of a huge page. A change that leaves a part of its mapping has split it. */
static void tiering_open_huge(struct tiering_region *region)
{
	unsigned long addr = region->at.addr;
	struct vm_area_struct *vma = tiering_vma_to_open(region->at.mm, addr);
	pmd_t *pmd = vma ? mm_find_pmd(vma->vm_mm, addr) : NULL;

	if (pmd && vma->vm_end >= addr + PMD_SIZE)
		tiering_open_whole(vma, region, pmd);
}

/*
 * End the watches of a region whose mapping has changed. Nobody would count the visits of
 * its closed entries, and NUMA balancing would move their folios.
 */
static void tiering_region_lose(struct tiering_region *region)
{
	struct tiering_watch *watch = region->watches;

	region->is_gone = true;
	if (region->stage == TIERING_WHOLE)
		tiering_open_huge(region);
	else if (region->stage == TIERING_PAGES)
		for (; watch < region->watches + region->watched; watch++)
			tiering_open_page(region->at.mm,
					  tiering_watch_addr(region, watch));
	tiering_region_unwatch(region);
}

/* Find the mapping of a region. NULL if it has changed; then the region is gone. */
static struct vm_area_struct *tiering_region_vma(struct tiering_region *region)
{
	struct vm_area_struct *vma = vma_lookup(region->at.mm, region->start);

	if (vma && vma->vm_end >= region->end && tiering_vma_counts(vma))
		return vma;
	tiering_region_lose(region);
	return NULL;
}

/* Test whether a daemon should stop, or freeze: there may be many regions. */
static bool tiering_pass_ends(void)
{
	return current->flags & PF_KTHREAD &&
	       (kthread_should_stop() || freezing(current));
}

/*
 * Do a step for regions. Those of an address space should be neighbours in the list. Return:
 * whether a region waits.
 */
static bool tiering_pass(struct list_head *regions, tiering_step_t step)
{
	struct tiering_pass pass = { };
	struct tiering_region *region;
	bool waits = false;

	list_for_each_entry(region, regions, list) {
		struct vm_area_struct *vma;

		cond_resched();
		if (tiering_pass_ends())
			break;
		if (region->is_gone ||
		    (step == tiering_open && region->stage == TIERING_UNWATCHED))
			continue;
		if (!tiering_pass_enter(&pass, region)) {
			waits |= !region->is_gone;
			continue;
		}
		vma = tiering_region_vma(region);
		if (vma)
			step(&pass, vma, region);
	}
	tiering_pass_leave(&pass);
	return waits;
}

/* Close the entry of a huge page. Its lock is held. */
static void tiering_close_pmd(struct tiering_pass *pass, struct vm_area_struct *vma,
			      struct tiering_region *region, pmd_t *pmd)
{
	struct tiering_watch *watch = region->watches;
	unsigned long addr = region->at.addr;
	pmd_t old;

	if (!pmd_present(*pmd) || is_huge_zero_pmd(*pmd)) {
		watch->is_closed = false;
		return;
	}
	if (!pmd_protnone(*pmd)) {
		watch->is_closed = false;
		if (!pass->may_close || !tiering_folio_counts(pmd_folio(*pmd)))
			return;
		tlb_change_page_size(&pass->tlb, HPAGE_PMD_SIZE);
		/* Not to be cleared in between, see change_huge_pmd(). */
		old = pmdp_invalidate_ad(vma, addr, pmd);
		set_pmd_at(vma->vm_mm, addr, pmd, pmd_modify(old, PAGE_NONE));
		tlb_flush_pmd_range(&pass->tlb, addr, HPAGE_PMD_SIZE);
	}
	tiering_watch_round(region, watch);
}

static void tiering_close_whole(struct tiering_pass *pass, struct vm_area_struct *vma,
				struct tiering_region *region, pmd_t *pmd)
{
	spinlock_t *ptl = pmd_trans_huge_lock(pmd, vma);

	if (!ptl) {
		/* Somebody has split it, or it was never huge. */
		tiering_region_unwatch(region);
		return;
	}
	/* For sparse, which does not see the lock in the functions that take it. */
	__acquire(ptl);
	spin_lock(&region->lock);
	tiering_close_pmd(pass, vma, region, pmd);
	spin_unlock(&region->lock);
	spin_unlock(ptl);
}

/* Close the entry of a watched page. The lock of the page table is held. */
static void tiering_close_pte(struct tiering_pass *pass, struct vm_area_struct *vma,
			      struct tiering_region *region, struct tiering_watch *watch,
			      pte_t *pte)
{
	unsigned long addr = tiering_watch_addr(region, watch);
	pte_t old = ptep_get(pte);

	if (!pte_present(old)) {
		watch->is_closed = false;
		return;
	}
	if (!pte_protnone(old)) {
		watch->is_closed = false;
		if (!pass->may_close ||
		    !tiering_folio_counts(vm_normal_folio(vma, addr, old)))
			return;
		old = ptep_modify_prot_start(vma, addr, pte);
		ptep_modify_prot_commit(vma, addr, pte, old, pte_modify(old, PAGE_NONE));
		tlb_flush_pte_range(&pass->tlb, addr, PAGE_SIZE);
	}
	tiering_watch_round(region, watch);
}

static void tiering_close_pages(struct tiering_pass *pass, struct vm_area_struct *vma,
				struct tiering_region *region, pmd_t *pmd)
{
	struct tiering_watch *watch;
	spinlock_t *ptl;	/* of the page table */
	pte_t *ptes;

	ptes = pte_offset_map_lock(vma->vm_mm, pmd, region->at.addr, &ptl);
	if (!ptes) {
		/* It is a huge page again, or empty. */
		tiering_region_unwatch(region);
		return;
	}
	__acquire(ptl);
	tlb_change_page_size(&pass->tlb, PAGE_SIZE);
	flush_tlb_batched_pending(vma->vm_mm);
	arch_enter_lazy_mmu_mode();
	spin_lock(&region->lock);
	for (watch = region->watches; watch < region->watches + region->watched; watch++)
		tiering_close_pte(pass, vma, region, watch, ptes + watch->index);
	spin_unlock(&region->lock);
	arch_leave_lazy_mmu_mode();
	pte_unmap_unlock(ptes, ptl);
}

/* Test whether a watched page is open. Takes no lock: entries change meanwhile. */
static bool tiering_is_page_open(const struct tiering_region *region, pmd_t *pmd)
{
	pte_t *ptes = pte_offset_map(pmd, region->at.addr);
	bool is_open = false;
	unsigned int i;

	if (!ptes)
		return false;
	/* For sparse, as in tiering_close_whole(). */
	__acquire(RCU);
	for (i = 0; !is_open && i < region->watched; i++) {
		pte_t pte = ptep_get_lockless(ptes + region->watches[i].index);

		is_open = pte_present(pte) && !pte_protnone(pte);
	}
	pte_unmap(ptes);
	return is_open;
}

/* Test whether a watched entry is open. */
static bool tiering_is_open(const struct tiering_region *region, pmd_t *pmd)
{
	pmd_t entry = pmdp_get_lockless(pmd);

	return region->stage == TIERING_WHOLE ?
	       pmd_present(entry) && !pmd_protnone(entry) :
	       tiering_is_page_open(region, pmd);
}

static void tiering_close(struct tiering_pass *pass, struct vm_area_struct *vma,
			  struct tiering_region *region)
{
	pmd_t *pmd = mm_find_pmd(vma->vm_mm, region->at.addr);
	unsigned long end = region->at.addr + PMD_SIZE;
	struct mmu_notifier_range range;

	if (!pmd || region->stage == TIERING_UNWATCHED)
		return;
	/*
	 * Notifiers of a virtual machine have it fault again, and hold it up meanwhile. What
	 * opens after the test is closed in the next round.
	 */
	pass->may_close = !mm_has_notifiers(vma->vm_mm) || tiering_is_open(region, pmd);
	/* All that may be closed: a mapping may have grown since the region was found. */
	mmu_notifier_range_init(&range, MMU_NOTIFY_PROTECTION_VMA, 0, vma->vm_mm,
				max(region->at.addr, vma->vm_start),
				min(end, vma->vm_end));
	if (pass->may_close)
		mmu_notifier_invalidate_range_start(&range);
	tlb_start_vma(&pass->tlb, vma);
	if (region->stage == TIERING_WHOLE)
		tiering_close_whole(pass, vma, region, pmd);
	else
		tiering_close_pages(pass, vma, region, pmd);
	tlb_end_vma(&pass->tlb, vma);
	if (pass->may_close)
		mmu_notifier_invalidate_range_end(&range);
}

/**
 * tiering_regions_close() - close the watched entries that are open: a round
 * @regions: the regions; those of an address space should be neighbours in the list
 *
 * Sets is_gone of regions whose mapping is no more. A region whose address space is busy
 * waits for the next round.
 *
 * Context: may sleep.
 */
void tiering_regions_close(struct list_head *regions)
{
	tiering_pass(regions, tiering_close);
}

static void tiering_watch_whole(struct tiering_pass *pass, struct vm_area_struct *vma,
				struct tiering_region *region)
{
	pmd_t *pmd = mm_find_pmd(vma->vm_mm, region->at.addr);

	if (!pmd || !pmd_trans_huge(pmdp_get_lockless(pmd)))
		return;
	region->accessed = 1;
	spin_lock(&region->lock);
	memset(region->watches, 0, sizeof(region->watches));
	tiering_region_set(region, TIERING_WHOLE, 1);
	spin_unlock(&region->lock);
	tiering_close(pass, vma, region);
}

/**
 * tiering_regions_watch_whole() - watch the entries of huge pages
 * @regions: the regions; those of base pages stay unwatched
 *
 * Context: may sleep.
 */
void tiering_regions_watch_whole(struct list_head *regions)
{
	tiering_pass(regions, tiering_watch_whole);
}

/* Clear the accessed bit of a page, and keep it for reclaim. */
static void tiering_clear_accessed(struct tiering_pass *pass, struct vm_area_struct *vma,
				   unsigned long addr, pte_t *pte)
{
	struct folio *folio;

	if (!pte_present(ptep_get(pte)) || !ptep_clear_young_notify(vma, addr, pte))
		return;
	folio = vm_normal_folio(vma, addr, ptep_get(pte));
	if (folio)
		folio_set_young(folio);
	tlb_flush_pte_range(&pass->tlb, addr, PAGE_SIZE);
}

/* Let a page be written again: the closed entry of a huge page is split into read-only ones. */
static void tiering_allow_writes(struct vm_area_struct *vma, unsigned long addr, pte_t *pte)
{
	pte_t old = ptep_get(pte);

	if (!pte_present(old) || pte_protnone(old) || pte_write(old) ||
	    !vma_wants_manual_pte_write_upgrade(vma) ||
	    !can_change_pte_writable(vma, addr, old))
		return;
	old = ptep_modify_prot_start(vma, addr, pte);
	ptep_modify_prot_commit(vma, addr, pte, old, pte_mkwrite(old, vma));
}

static void tiering_split(struct tiering_pass *pass, struct vm_area_struct *vma,
			  struct tiering_region *region)
{
	pmd_t *pmd = mm_find_pmd(vma->vm_mm, region->at.addr);
	unsigned long addr = region->start;
	spinlock_t *ptl;	/* of the page table */
	pte_t *ptes;
	bool is_huge;

	if (!pmd)
		return;
	if (region->stage == TIERING_WHOLE)
		tiering_region_unwatch(region);
	is_huge = pmd_trans_huge(pmdp_get_lockless(pmd));
	region->is_split |= is_huge;
	split_huge_pmd(vma, pmd, addr);
	region->cleared = local_clock();
	ptes = pte_offset_map_lock(vma->vm_mm, pmd, addr, &ptl);
	if (!ptes)
		return;
	__acquire(ptl);
	tlb_start_vma(&pass->tlb, vma);
	tlb_change_page_size(&pass->tlb, PAGE_SIZE);
	flush_tlb_batched_pending(vma->vm_mm);
	for (pte_t *pte = ptes; addr < region->end; pte++, addr += PAGE_SIZE) {
		tiering_clear_accessed(pass, vma, addr, pte);
		if (is_huge)
			tiering_allow_writes(vma, addr, pte);
	}
	pte_unmap_unlock(ptes, ptl);
	tlb_end_vma(&pass->tlb, vma);
}

/**
 * tiering_regions_split() - map regions by base pages, and clear their accessed bits
 * @regions: the regions
 *
 * The folios stay large. Watches of pages go on.
 *
 * Context: may sleep.
 */
void tiering_regions_split(struct list_head *regions)
{
	tiering_pass(regions, tiering_split);
}

static int tiering_watch_compare(const void *a, const void *b)
{
	return (int)((const struct tiering_watch *)a)->index -
	       (int)((const struct tiering_watch *)b)->index;
}

/*
 * Get the least rate of a region of which some pages were accessed in a time: each of
 * them once. What is visited seldom is visited at another page each time, which watches
 * of the pages that were accessed before do not see.
 */
static unsigned long tiering_least_rate(unsigned int accessed, u64 ns)
{
	return div64_u64((u64)accessed * NSEC_PER_SEC, max(ns, TIERING_TICK));
}

/* Choose some of the accessed pages, each with the same chance. The lock is held. */
static void tiering_choose_pages(struct vm_area_struct *vma,
				 struct tiering_region *region, pte_t *ptes)
{
	unsigned long addr;
	unsigned int accessed = 0, place;
	pte_t *pte = ptes;

	memset(region->watches, 0, sizeof(region->watches));
	for (addr = region->start; addr < region->end; pte++, addr += PAGE_SIZE) {
		pte_t entry = ptep_get(pte);

		if (!pte_present(entry) ||
		    !(pte_young(entry) || mmu_notifier_test_young(vma->vm_mm, addr)))
			continue;
		place = accessed < TIERING_WATCHES ? accessed :
						     get_random_u32_below(accessed + 1);
		if (place < TIERING_WATCHES)
			region->watches[place].index =
				(addr - region->at.addr) >> PAGE_SHIFT;
		accessed++;
	}
	region->accessed = accessed;
	region->least = region->cleared ?
			tiering_least_rate(accessed, local_clock() - region->cleared) : 0;
	tiering_region_set(region, TIERING_PAGES, min(accessed, TIERING_WATCHES));
	sort(region->watches, region->watched, sizeof(*region->watches),
	     tiering_watch_compare, NULL);
}

static void tiering_watch_pages(struct tiering_pass *pass, struct vm_area_struct *vma,
				struct tiering_region *region)
{
	pmd_t *pmd = mm_find_pmd(vma->vm_mm, region->at.addr);
	struct tiering_watch *watch;
	spinlock_t *ptl;	/* of the page table */
	pte_t *ptes;

	ptes = pmd ? pte_offset_map_lock(vma->vm_mm, pmd, region->at.addr, &ptl) : NULL;
	if (!ptes) {
		/* It is still whole if its address space was busy at the split. */
		tiering_open(pass, vma, region);
		return;
	}
	__acquire(ptl);
	/* Those that are not chosen again would be faults that nobody counts. */
	for (watch = region->watches; watch < region->watches + region->watched; watch++)
		tiering_open_pte(vma, tiering_watch_addr(region, watch),
				 ptes + watch->index);
	spin_lock(&region->lock);
	tiering_choose_pages(vma, region,
			     ptes + ((region->start - region->at.addr) >> PAGE_SHIFT));
	spin_unlock(&region->lock);
	pte_unmap_unlock(ptes, ptl);
	tiering_close(pass, vma, region);
}

/**
 * tiering_regions_watch_pages() - watch some of the pages that were accessed since the
 * split
 * @regions: the regions; those that are huge pages again become unwatched
 *
 * Context: may sleep.
 */
void tiering_regions_watch_pages(struct list_head *regions)
{
	tiering_pass(regions, tiering_watch_pages);
}

/**
 * tiering_regions_open() - open all watched entries, and end the watches
 * @regions: the regions
 *
 * Entries of an address space that is busy open at their next use.
 *
 * Context: may sleep.
 */
void tiering_regions_open(struct list_head *regions)
{
	tiering_pass(regions, tiering_open);
}

/**
 * tiering_regions_stop() - open all watched entries, as a policy ends
 * @regions: the regions
 *
 * Waits a bounded time for address spaces that are busy. What is closed then opens at its
 * next use.
 *
 * Context: may sleep.
 */
void tiering_regions_stop(struct list_head *regions)
{
	unsigned int i;

	for (i = 0; i < TIERING_STOPS && tiering_pass(regions, tiering_open); i++)
		fsleep(USEC_PER_MSEC);
}

/* Get the visits of a watch, in a second. */
static u64 tiering_watch_rate(const struct tiering_watch *watch)
{
	return div64_u64((u64)watch->visits * NSEC_PER_SEC, watch->closed * TIERING_TICK);
}

/* Add the watches up. The lock is held. Return: false if nothing is known. */
static bool tiering_watches_rate(struct tiering_region *region)
{
	const struct tiering_watch *watch;
	unsigned int known = 0;
	u64 sum = 0;

	region->visits = 0;
	for (watch = region->watches; watch < region->watches + region->watched; watch++) {
		region->visits += watch->visits;
		if (!watch->closed)
			continue;
		known++;
		sum += tiering_watch_rate(watch);
	}
	if (!known && (region->stage != TIERING_PAGES || region->accessed)) {
		/* They were accessed, whatever else is not known. */
		if (region->stage == TIERING_PAGES)
			region->rate = max(region->rate, region->least);
		return false;
	}
	region->rate = known ? tiering_space_rate(region->space,
						  div_u64(sum * region->accessed, known)) : 0;
	if (region->stage == TIERING_PAGES)
		region->rate = max(region->rate, region->least);
	return true;
}

/**
 * tiering_region_rate() - calculate the rate of a region from its watches
 * @region: the region; sets @region->rate, and @region->visits to the visits since the
 *	last tiering_region_count()
 *
 * The watched pages stand for all pages that were accessed (Thermostat, section 3.2). The
 * rate is no less than what the accessed pages themselves say.
 *
 * Return: false if nothing is known: no entry was closed. @region->rate stays then.
 */
bool tiering_region_rate(struct tiering_region *region)
{
	bool is_known;

	spin_lock(&region->lock);
	is_known = tiering_watches_rate(region);
	spin_unlock(&region->lock);
	return is_known;
}

/**
 * tiering_region_count() - calculate the rate of a region, and begin anew
 * @region: as for tiering_region_rate()
 *
 * Return: as tiering_region_rate().
 */
bool tiering_region_count(struct tiering_region *region)
{
	struct tiering_watch *watch;
	bool is_known;

	spin_lock(&region->lock);
	is_known = tiering_watches_rate(region);
	for (watch = region->watches; watch < region->watches + region->watched; watch++) {
		watch->visits = 0;
		watch->closed = 0;
	}
	spin_unlock(&region->lock);
	return is_known;
}

/* Hold the folio of a huge page, or nothing. The walk is over then. */
static int tiering_walk_pmd(struct tiering_region *region, pmd_t pmd, struct folio **folios,
			    u16 *places)
{
	struct folio *folio;

	places[0] = region->next;
	region->next = TIERING_REGION_PAGES;
	if (!pmd_present(pmd) || is_huge_zero_pmd(pmd))
		return 0;
	folio = pmd_folio(pmd);
	if (!tiering_folio_counts(folio))
		return 0;
	folio_get(folio);
	folios[0] = folio;
	return 1;
}

/* Hold folios of base pages, each once. The lock of the page table is held. */
static int tiering_walk_ptes(struct vm_area_struct *vma, struct tiering_region *region,
			     pte_t *ptes, struct folio **folios, u16 *places)
{
	unsigned int end = (region->end - region->at.addr) >> PAGE_SHIFT;
	int count = 0;

	while (region->next < end && count < TIERING_WALK) {
		unsigned int place = region->next++;
		unsigned long addr = region->at.addr + ((unsigned long)place << PAGE_SHIFT);
		pte_t pte = ptep_get(ptes + place);
		struct folio *folio;

		if (!pte_present(pte))
			continue;
		folio = vm_normal_folio(vma, addr, pte);
		if (!tiering_folio_counts(folio) || (count && folios[count - 1] == folio))
			continue;
		folio_get(folio);
		folios[count] = folio;
		places[count++] = place;
	}
	return count;
}

static int tiering_walk_vma(struct vm_area_struct *vma, struct tiering_region *region,
			    struct folio **folios, u16 *places)
{
	unsigned int first = (region->start - region->at.addr) >> PAGE_SHIFT;
	pmd_t *pmd = mm_find_pmd(vma->vm_mm, region->at.addr);
	spinlock_t *ptl;	/* of the page table */
	pte_t *ptes;
	int count;

	region->next = max_t(unsigned int, region->next, first);
	if (!pmd || region->next >= TIERING_REGION_PAGES)
		return 0;
	ptl = pmd_trans_huge_lock(pmd, vma);
	if (ptl) {
		__acquire(ptl);
		count = tiering_walk_pmd(region, *pmd, folios, places);
		spin_unlock(ptl);
		return count;
	}
	ptes = pte_offset_map_lock(vma->vm_mm, pmd, region->at.addr, &ptl);
	if (!ptes)
		return 0;
	__acquire(ptl);
	count = tiering_walk_ptes(vma, region, ptes, folios, places);
	pte_unmap_unlock(ptes, ptl);
	return count;
}

/**
 * tiering_region_walk() - find folios of a region
 * @region: the region; continues at @region->next
 * @folios: TIERING_WALK folios, which are held for the caller
 * @places: for each folio, the value of @region->next with which a walk finds it again
 *
 * Context: may sleep.
 * Return: number of folios, 0 at the end; -EAGAIN if the address space is busy.
 */
int tiering_region_walk(struct tiering_region *region, struct folio **folios, u16 *places)
{
	struct tiering_pass pass = { };
	struct vm_area_struct *vma;
	int count = 0;

	if (region->is_gone)
		return 0;
	if (!tiering_pass_enter(&pass, region))
		return region->is_gone ? 0 : -EAGAIN;
	vma = tiering_region_vma(region);
	if (vma)
		count = tiering_walk_vma(vma, region, folios, places);
	tiering_pass_leave(&pass);
	return count;
}

static int __init tiering_visits_init(void)
{
	return rhashtable_init(&tiering_regions, &tiering_regions_params);
}
subsys_initcall(tiering_visits_init);

#ifdef CONFIG_TIERING_KUNIT_TEST
#include "tests/visits-kunit.h"
#endif

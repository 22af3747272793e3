// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: regions of 2 MiB of anonymous memory: a random sample of a
 * node's, and how a region becomes a huge page again (Thermostat, ASPLOS 2017, sections
 * 3.2 and 3.5). visits.c counts their visits.
 */
#include <linux/atomic.h>
#include <linux/ksm.h>
#include <linux/math64.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/mmzone.h>
#include <linux/random.h>
#include <linux/rmap.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmstat.h>
#include <linux/workqueue.h>

#include "internal.h"

/* Page frames that are drawn for a region. Many may not be of anonymous memory. */
#define TIERING_DRAWS	16

/* The largest number of regions that wait until they become huge pages again. */
#define TIERING_JOINS	4

/**
 * struct tiering_found - where a page is mapped
 * @mm: the address space, which the finder holds; NULL if it was not found
 * @start: first address of its region
 * @end: end of the region
 */
struct tiering_found {
	struct mm_struct *mm;
	unsigned long start;
	unsigned long end;
};

/**
 * tiering_regions_of() - estimate the number of regions that a node holds
 * @nid: the node
 *
 * Return: its memory on LRU lists of anonymous memory, in units of 2 MiB, rounded up. With
 * shared memory, which has no regions: so a sample of it seems to be smaller than it is.
 */
unsigned long tiering_regions_of(int nid)
{
	struct pglist_data *pgdat = NODE_DATA(nid);

	return DIV_ROUND_UP(node_page_state(pgdat, NR_ACTIVE_ANON) +
			    node_page_state(pgdat, NR_INACTIVE_ANON),
			    TIERING_REGION_PAGES);
}

/* Note the first mapping whose visits can be counted. Called by rmap_walk(). */
static bool tiering_found_one(struct folio *folio, struct vm_area_struct *vma,
			      unsigned long addr, void *arg)
{
	DEFINE_FOLIO_VMA_WALK(walk, folio, vma, addr, 0);
	struct tiering_found *found = arg;

	if (!tiering_vma_counts(vma) || !page_vma_mapped_walk(&walk))
		return true;
	addr = walk.address & PMD_MASK;
	page_vma_mapped_walk_done(&walk);
	found->start = max(addr, vma->vm_start);
	found->end = min(addr + PMD_SIZE, vma->vm_end);
	found->mm = vma->vm_mm;
	mmgrab(found->mm);
	return false;
}

/* Find where a folio of anonymous memory is mapped. */
static void tiering_find_mapping(struct folio *folio, struct tiering_found *found)
{
	struct rmap_walk_control rwc = {
		.arg = found,
		.rmap_one = tiering_found_one,
		.anon_lock = folio_lock_anon_vma_read,
		.try_lock = true,
	};

	if (!folio_trylock(folio))
		return;
	if (folio_test_anon(folio) && !folio_test_ksm(folio))
		rmap_walk(folio, &rwc);
	folio_unlock(folio);
}

/* Hold the folio of a page frame, if it is anonymous memory of the node. */
static struct folio *tiering_get_anon(unsigned long pfn, int nid)
{
	struct page *page = pfn_to_online_page(pfn);
	struct folio *folio;

	if (!page || page_to_nid(page) != nid)
		return NULL;
	folio = page_folio(page);
	if (!folio_test_lru(folio) || !folio_try_get(folio))
		return NULL;
	if (page_folio(page) == folio && folio_test_lru(folio) && folio_test_anon(folio))
		return folio;
	folio_put(folio);
	return NULL;
}

static unsigned long tiering_draw_pfn(int nid)
{
	struct pglist_data *pgdat = NODE_DATA(nid);

	return pgdat->node_start_pfn +
	       mul_u64_u64_shr(get_random_u64(), pgdat->node_spanned_pages, 64);
}

/**
 * tiering_region_sample() - begin to count the visits of a random region of a node
 * @nid: the node
 *
 * Draws page frames, so that each region has the same chance, of whatever address space
 * and page size. Skips regions that are counted already.
 *
 * Context: may sleep.
 * Return: the region; NULL if none was found in a bounded number of draws.
 */
struct tiering_region *tiering_region_sample(int nid)
{
	struct tiering_region *region = NULL;
	unsigned int i;

	for (i = 0; i < TIERING_DRAWS && !region; i++) {
		struct folio *folio = tiering_get_anon(tiering_draw_pfn(nid), nid);
		struct tiering_found found = { };

		if (!folio)
			continue;
		tiering_find_mapping(folio, &found);
		folio_put(folio);
		if (!found.mm)
			continue;
		region = tiering_region_add(found.mm, found.start, found.end);
		mmdrop(found.mm);
	}
	return region;
}

/**
 * struct tiering_join - a region that is to become a huge page again
 * @work: the work
 * @mm: the address space; held as a structure
 * @start: first address
 * @end: end of the region
 */
struct tiering_join {
	struct work_struct work;
	struct mm_struct *mm;
	unsigned long start;
	unsigned long end;
};

/* The number of regions that wait for it. */
static atomic_t tiering_joins = ATOMIC_INIT(0);

static void tiering_join_mm(const struct tiering_join *join)
{
	struct vm_area_struct *vma, *prev;

	mmap_read_lock(join->mm);
	vma = vma_lookup(join->mm, join->start);
	if (vma && vma->vm_end >= join->end && tiering_vma_counts(vma))
		madvise_collapse(vma, &prev, join->start, join->end);
	mmap_read_unlock(join->mm);
}

static void tiering_join_work(struct work_struct *work)
{
	struct tiering_join *join = container_of(work, struct tiering_join, work);

	if (mmget_not_zero(join->mm)) {
		tiering_join_mm(join);
		mmput_async(join->mm);
	}
	mmdrop(join->mm);
	kfree(join);
	atomic_dec(&tiering_joins);
}

/**
 * tiering_region_join() - have a region become a huge page again, in the background
 * @region: the region, whose folios are on one node; unwatched, and not needed any more
 *
 * A work item does it, as it waits for locks and memory, for which a daemon must not.
 *
 * Context: may sleep.
 * Return: false if others wait: try again later.
 */
bool tiering_region_join(const struct tiering_region *region)
{
	struct tiering_join *join;

	if (atomic_read(&tiering_joins) >= TIERING_JOINS)
		return false;
	join = kmalloc(sizeof(*join), GFP_KERNEL | __GFP_NOWARN);
	if (!join)
		return false;
	atomic_inc(&tiering_joins);
	INIT_WORK(&join->work, tiering_join_work);
	join->mm = region->at.mm;
	join->start = region->start;
	join->end = region->end;
	mmgrab(join->mm);
	queue_work(system_unbound_wq, &join->work);
	return true;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Relocatable slabs: allocating and freeing slabs of SLUB.
 */
#include <linux/export.h>
#include <linux/gfp.h>
#include <linux/llist.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tiering_slab.h>
#include <asm/tlbflush.h>

#include "../internal.h"
#include "reloc.h"

DEFINE_STATIC_KEY_FALSE(reloc_enabled);

struct workqueue_struct *reloc_workqueue;

/* Descriptors of slabs that SLUB has freed, and whose pages are still mapped. */
static LLIST_HEAD(reloc_freed);

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "reloc."

/* Names of the caches in the arena. */
static char reloc_names[256] __ro_after_init;
module_param_string(caches, reloc_names, sizeof(reloc_names), 0444);

/**
 * reloc_slab_flag() - get the flag of a cache whose objects can move
 * @name: the name of the cache
 *
 * Return: SLAB_RELOC if the kernel parameter reloc.caches= names the cache, else 0.
 */
slab_flags_t reloc_slab_flag(const char *name)
{
	const char *p = reloc_names;
	size_t length = strlen(name);

	while (*p) {
		size_t n = strcspn(p, ",");

		if (n == length && !strncmp(p, name, n))
			return SLAB_RELOC;
		p += n;
		p += strspn(p, ",");
	}
	return 0;
}
EXPORT_SYMBOL_GPL(reloc_slab_flag);

/*
 * Allocate a page as SLUB does, by the memory policy of the task or on a node, except
 * that slabs of cold objects may begin in slow memory.
 */
static struct page *reloc_alloc_page(gfp_t gfp, int nid, int *event)
{
	struct page *page = NULL;

	if (nid != NUMA_NO_NODE)
		return __alloc_pages_node(nid, gfp, 0);
	if (tiering_slabs_are_cold())
		page = tiering_alloc_cold_slab(gfp, event);
	return page ?: alloc_page(gfp);
}

static void reloc_free_pages(struct page **pages, unsigned int nr)
{
	while (nr--)
		__free_page(pages[nr]);
}

/*
 * Allocate the pages of a slab, which may be discontiguous. They are on one node, where
 * the slab's objects are counted. A node that has room for the first page has some for
 * the others, down to its lowest watermark.
 */
static bool reloc_alloc_pages(struct page **pages, gfp_t gfp, int nid, unsigned int nr,
			      int *event)
{
	gfp_t rest = (gfp & ~(__GFP_COMP | __GFP_DIRECT_RECLAIM | __GFP_NOFAIL)) |
		     __GFP_THISNODE | __GFP_NOWARN;
	unsigned int i;

	pages[0] = reloc_alloc_page(gfp & ~__GFP_COMP, nid, event);
	if (!pages[0])
		return false;
	for (i = 1; i < nr; i++) {
		pages[i] = __alloc_pages_node(page_to_nid(pages[0]), rest, 0);
		if (!pages[i]) {
			reloc_free_pages(pages, i);
			return false;
		}
	}
	return true;
}

/* Initialize descriptors as the buddy allocator would, with the node of the first page. */
static void reloc_init_descs(struct page *desc, struct page **pages, unsigned int order)
{
	unsigned int i;

	for (i = 0; i < 1 << order; i++) {
		memset(desc + i, 0, sizeof(*desc));
		set_page_zone(desc + i, page_zonenum(pages[0]));
		set_page_node(desc + i, page_to_nid(pages[0]));
		init_page_count(desc + i);
		atomic_set(&desc[i]._mapcount, -1);
	}
	if (order)
		prep_compound_page(desc, order);
}

/**
 * reloc_alloc_slab() - allocate a slab in the arena
 * @cache: the cache of the slab
 * @gfp: allocation flags
 * @nid: the node, or NUMA_NO_NODE
 * @order: order of the slab
 *
 * Context: as for an allocation of pages with @gfp.
 * Return: the first descriptor, which SLUB uses as a folio; NULL if there is no room.
 *	   SLUB then allocates ordinary pages, which cannot move.
 */
struct folio *reloc_alloc_slab(struct kmem_cache *cache, gfp_t gfp, int nid,
			       unsigned int order)
{
	struct page *pages[1 << RELOC_MAX_ORDER];
	bool pfmemalloc = false;
	struct page *desc;
	unsigned int i;
	int event = -1;

	if (order > RELOC_MAX_ORDER)
		goto fallback;
	if (!reloc_alloc_pages(pages, gfp, nid, 1 << order, &event))
		goto fallback;
	desc = reloc_take(order, gfp);
	if (!desc)
		goto free;

	reloc_init_descs(desc, pages, order);
	for (i = 0; i < 1 << order; i++) {
		pfmemalloc |= page_is_pfmemalloc(pages[i]);
		reloc_mark(pages[i], cache);
		reloc_count_on(page_to_nid(pages[i]), 1);
		reloc_page_begin(reloc_page_of(reloc_desc_address(desc + i)),
				 page_to_nid(pages[i]));
		/* No page was mapped here, so there is no TLB entry to flush. */
		set_pte(reloc_pte(reloc_desc_address(desc + i)), mk_pte(pages[i], PAGE_KERNEL));
	}
	if (pfmemalloc)
		set_page_pfmemalloc(desc);
	/* Order the mapping before writes to objects. */
	smp_wmb();
	atomic_long_add(1 << order, &reloc_stats.pages);
	/* Count once complete: after a partial failure, SLUB tries again. */
	if (event >= 0)
		tiering_count_cold_slab(event, 1 << order);
	return (struct folio *)desc;

free:
	reloc_free_pages(pages, 1 << order);
fallback:
	atomic_long_inc(&reloc_stats.fallbacks);
	return NULL;
}

/* The link of a slab in reloc_freed is the lru field of its descriptor. */
static struct llist_node *reloc_freed_node(struct page *desc)
{
	return (struct llist_node *)&desc->lru;
}

static struct page *reloc_freed_desc(struct llist_node *node)
{
	return container_of((struct list_head *)node, struct page, lru);
}

/* Unmap the pages of a slab. */
static void reloc_unmap_slab(struct page *desc, struct list_head *pages)
{
	unsigned int i;

	for (i = 0; i < 1 << page_private(desc); i++) {
		void *addr = reloc_desc_address(desc + i);
		pte_t pte = ptep_get_and_clear(&init_mm, (unsigned long)addr, reloc_pte(addr));

		tiering_slab_stay_over(reloc_page_of(addr), true);
		reloc_count_on(page_to_nid(pte_page(pte)), -1);
		WRITE_ONCE(reloc_page_of(addr)->nid, NUMA_NO_NODE);
		reloc_unmark(pte_page(pte));
		list_add(&pte_page(pte)->lru, pages);
		atomic_long_dec(&reloc_stats.pages);
	}
}

static void reloc_unmap_freed(void)
{
	struct llist_node *freed = llist_del_all(&reloc_freed);
	unsigned long start = ULONG_MAX, end = 0;
	struct llist_node *node, *next;
	struct page *page, *next_page;
	LIST_HEAD(pages);

	if (!freed)
		return;

	mutex_lock(&reloc_mutex);
	llist_for_each(node, freed) {
		struct page *desc = reloc_freed_desc(node);
		unsigned long addr = (unsigned long)reloc_desc_address(desc);

		reloc_unmap_slab(desc, &pages);
		start = min(start, addr);
		end = max(end, addr + (PAGE_SIZE << page_private(desc)));
		cond_resched();
	}
	/* One flush for all slabs; a large range flushes the whole TLB. */
	flush_tlb_kernel_range(start, end);
	llist_for_each_safe(node, next, freed) {
		reloc_give_back(reloc_freed_desc(node), page_private(reloc_freed_desc(node)));
		cond_resched();
	}
	mutex_unlock(&reloc_mutex);

	list_for_each_entry_safe(page, next_page, &pages, lru) {
		list_del(&page->lru);
		__free_page(page);
		cond_resched();
	}
}

static void reloc_release_work_fn(struct work_struct *work)
{
	reloc_release_empty();
}

static DECLARE_WORK(reloc_release_work, reloc_release_work_fn);

static void reloc_reap_work_fn(struct work_struct *work)
{
	reloc_unmap_freed();
	/* Not on reloc_workqueue: the grace period would delay the next pages. */
	queue_work(system_unbound_wq, &reloc_release_work);
}

static DECLARE_WORK(reloc_reap_work, reloc_reap_work_fn);

/* Start to free pages of slabs, including slabs freed before workqueues existed. */
static void reloc_start_worker(void)
{
	struct workqueue_struct *workqueue;

	/* WQ_MEM_RECLAIM: reclaim waits for these pages. */
	workqueue = alloc_workqueue("reloc", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	WRITE_ONCE(reloc_workqueue, workqueue ?: system_unbound_wq);
	/* Pairs with reloc_free_slab(): it sees the workqueue, or the work its slab. */
	smp_mb();
	queue_work(reloc_workqueue, &reloc_reap_work);
}

/**
 * reloc_enable() - enable the checks for addresses in the arena
 *
 * Called before a cache with SLAB_RELOC is created. The first such caches are created
 * before workqueues exist.
 *
 * Context: process, without slab_mutex, which nests in the lock of CPU hotplug.
 */
void reloc_enable(void)
{
	static DEFINE_MUTEX(lock);

	mutex_lock(&lock);
	if (!reloc_workqueue && system_unbound_wq)
		reloc_start_worker();
	static_branch_enable(&reloc_enabled);
	mutex_unlock(&lock);
}

static int __init reloc_enable_again(void)
{
	if (reloc_is_enabled())
		reloc_enable();
	return 0;
}
core_initcall(reloc_enable_again);

/**
 * reloc_free_slab() - free a slab in the arena
 * @folio: the slab, from reloc_alloc_slab()
 * @order: order of the slab
 *
 * A worker frees the pages later, after a TLB flush.
 *
 * Context: any in which pages can be freed, but not with locks of the scheduler.
 */
void reloc_free_slab(struct folio *folio, unsigned int order)
{
	struct page *desc = &folio->page;

	set_page_private(desc, order);
	if (!llist_add(reloc_freed_node(desc), &reloc_freed))
		return;
	/* Pairs with the barrier in reloc_start_worker(). */
	smp_mb();
	if (READ_ONCE(reloc_workqueue))
		queue_work(reloc_workqueue, &reloc_reap_work);
}

/**
 * reloc_flush_freed() - wait until the pages of freed slabs and empty chunks are free
 *
 * Context: process; it may take seconds.
 */
void reloc_flush_freed(void)
{
	flush_work(&reloc_reap_work);
	flush_work(&reloc_release_work);
}

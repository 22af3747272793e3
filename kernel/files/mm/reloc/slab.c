// SPDX-License-Identifier: GPL-2.0
/*
 * Relocatable slabs: pages for slabs of SLUB, and what becomes of them.
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

/* Slabs that SLUB has freed, by their descriptors; the pages are still mapped. */
static LLIST_HEAD(reloc_freed);

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "reloc."

/* The caches that are in the arena, of those that can be. */
static char reloc_names[256] __ro_after_init;
module_param_string(caches, reloc_names, sizeof(reloc_names), 0444);

/**
 * reloc_slab_flag() - may a cache whose objects can move do so?
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
 * Allocate one of @nr pages of a slab. As SLUB does: the policy of the task, or a node. But
 * what is cold may begin far away.
 */
static struct page *reloc_alloc_page(gfp_t gfp, int nid, unsigned int nr)
{
	struct page *page = NULL;

	if (nid != NUMA_NO_NODE)
		return __alloc_pages_node(nid, gfp, 0);
	if (tiering_slabs_are_cold())
		page = tiering_alloc_cold_slab(gfp, nr);
	return page ?: alloc_page(gfp);
}

/* Allocate the pages of a slab, which need not be adjacent. */
static bool reloc_alloc_pages(struct page **pages, gfp_t gfp, int nid, unsigned int nr)
{
	unsigned int i;

	gfp &= ~__GFP_COMP;
	for (i = 0; i < nr; i++) {
		pages[i] = reloc_alloc_page(gfp, nid, nr);
		if (!pages[i]) {
			while (i--)
				__free_page(pages[i]);
			return false;
		}
		/* A slab has one node, which is where its objects are counted. */
		nid = page_to_nid(pages[i]);
	}
	return true;
}

/* Make descriptors as the buddy allocator would, and say which node they are of. */
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
 * @cache: the cache that it is for
 * @gfp: how to allocate it
 * @nid: the node, or NUMA_NO_NODE
 * @order: it has 1 << order pages
 *
 * Context: as for an allocation of pages with @gfp.
 * Return: what SLUB takes for a folio, a descriptor; NULL if there is no room.
 *	   SLUB then takes ordinary pages, which cannot move.
 */
struct folio *reloc_alloc_slab(struct kmem_cache *cache, gfp_t gfp, int nid,
			       unsigned int order)
{
	struct page *pages[1 << RELOC_MAX_ORDER];
	bool pfmemalloc = false;
	struct page *desc;
	unsigned int i;

	if (order > RELOC_MAX_ORDER)
		goto fallback;
	if (!reloc_alloc_pages(pages, gfp, nid, 1 << order))
		return NULL;
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
		/* Nothing was mapped here: no TLB has anything to forget. */
		set_pte(reloc_pte(reloc_desc_address(desc + i)), mk_pte(pages[i], PAGE_KERNEL));
	}
	if (pfmemalloc)
		set_page_pfmemalloc(desc);
	/* Objects are not written before they are mapped. */
	smp_wmb();
	atomic_long_add(1 << order, &reloc_stats.pages);
	return (struct folio *)desc;

free:
	for (i = 0; i < 1 << order; i++)
		__free_page(pages[i]);
fallback:
	atomic_long_inc(&reloc_stats.fallbacks);
	return NULL;
}

/* A freed slab is in reloc_freed by the field that it was in other lists by. */
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
	/* One flush for all; if they are far apart, it is one of everything. */
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
	/* Not where it would be in the way of the next pages to free. */
	queue_work(system_unbound_wq, &reloc_release_work);
}

static DECLARE_WORK(reloc_reap_work, reloc_reap_work_fn);

/* Free what was freed before there were workqueues, and all else from now on. */
static void reloc_start_worker(void)
{
	struct workqueue_struct *workqueue;

	/* Reclaim waits for what it frees. */
	workqueue = alloc_workqueue("reloc", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	WRITE_ONCE(reloc_workqueue, workqueue ?: system_unbound_wq);
	/* Pairs with the one of reloc_free_slab(): either finds what the other did. */
	smp_mb();
	queue_work(reloc_workqueue, &reloc_reap_work);
}

/**
 * reloc_enable() - have the kernel look for addresses in the arena
 *
 * Called before a cache with SLAB_RELOC is made. The first such caches are made before
 * there are workqueues.
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
 * @folio: what reloc_alloc_slab() has returned
 * @order: it has 1 << order pages
 *
 * The pages are freed soon, when no TLB has them any more.
 *
 * Context: any in which pages can be freed, but not with locks of the scheduler.
 */
void reloc_free_slab(struct folio *folio, unsigned int order)
{
	struct page *desc = &folio->page;

	set_page_private(desc, order);
	if (!llist_add(reloc_freed_node(desc), &reloc_freed))
		return;
	/* Pairs with the one of reloc_start_worker(). */
	smp_mb();
	if (READ_ONCE(reloc_workqueue))
		queue_work(reloc_workqueue, &reloc_reap_work);
}

/**
 * reloc_flush_freed() - wait until pages of freed slabs, and empty chunks, are free
 *
 * Context: process; it may take seconds.
 */
void reloc_flush_freed(void)
{
	flush_work(&reloc_reap_work);
	flush_work(&reloc_release_work);
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Relocatable slabs: declarations that the files of mm/reloc share.
 */
#ifndef _MM_RELOC_H
#define _MM_RELOC_H

#include <linux/align.h>
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pgtable.h>
#include <linux/reloc.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "../slab.h"

#define RELOC_CHUNKS	(RELOC_SIZE / RELOC_CHUNK_SIZE)

/* Pages at the start of a chunk that hold its descriptors. */
#define RELOC_DESC_PAGES \
	DIV_ROUND_UP(RELOC_CHUNK_PAGES * sizeof(struct page), PAGE_SIZE)

/* The first page of a chunk for slabs, aligned for the largest slab. */
#define RELOC_FIRST_PAGE	ALIGN(RELOC_DESC_PAGES, 1UL << RELOC_MAX_ORDER)

/**
 * struct reloc_chunk - the state of a chunk
 * @list: link in the list of chunks of this order with free pages, or empty
 * @order: order of all slabs in the chunk
 * @nr_used: number of slab pages in the chunk
 * @used: pages that are taken: by descriptors or by slabs
 * @pages: records of use, one for each page of the chunk
 *
 * The struct overlays the first descriptors, which are unused: their pages hold the
 * descriptors.
 */
struct reloc_chunk {
	struct list_head list;
	unsigned int order;
	unsigned int nr_used;
	DECLARE_BITMAP(used, RELOC_CHUNK_PAGES);
	struct reloc_page *pages;
};

/**
 * struct reloc_stats - counters
 * @chunks: chunks that have page tables
 * @pages: pages of slabs, including freed slabs whose pages are still mapped
 * @fallbacks: slabs that were allocated outside of the arena
 * @moved: pages that were moved
 * @recopied: moved pages that were written to during the copy, and copied again
 * @late: pages that did not move because the pause was over
 * @no_memory: pages for which the node had no memory
 * @batches: number of pauses
 * @pause_ns: total time of all pauses, nanoseconds
 * @longest_pause_ns: time of the longest pause, nanoseconds
 * @longest_stop_ns: as @longest_pause_ns, with the time to stop and start all CPUs
 *
 * Counters of moves change under reloc_mutex.
 */
struct reloc_stats {
	atomic_long_t chunks;
	atomic_long_t pages;
	atomic_long_t fallbacks;
	u64 moved;
	u64 recopied;
	u64 late;
	u64 no_memory;
	u64 batches;
	u64 pause_ns;
	u64 longest_pause_ns;
	u64 longest_stop_ns;
};

/* The largest number of caches with counts, cold twins included. */
#define RELOC_COUNTED	64

/**
 * struct reloc_moved - moves of a cache's pages
 * @up: moves to nodes of the top tier
 * @down: moves to other nodes
 */
struct reloc_moved {
	unsigned long up;
	unsigned long down;
};

/**
 * struct reloc_settings - settings
 * @max_pause_us: no page is copied or remapped in a pause after this time
 * @precopy: copy pages before the pause, and copy written pages again in the pause
 */
struct reloc_settings {
	u32 max_pause_us;
	bool precopy;
};

extern struct reloc_stats reloc_stats;
extern struct reloc_settings reloc_settings;

extern struct mutex reloc_mutex;

extern struct workqueue_struct *reloc_workqueue;

struct page *reloc_take(unsigned int order, gfp_t gfp);
void reloc_give_back(struct page *desc, unsigned int order);
void reloc_release_empty(void);
pte_t *reloc_find_pte(const void *addr);
unsigned long reloc_next_chunk(unsigned long index);
void reloc_count_pages(void (*count)(const struct kmem_cache *cache, const void *addr,
				     int nid, void *data), void *data);
struct kmem_cache *reloc_cache_of(struct page *desc);
int reloc_number(const struct kmem_cache *cache);
void reloc_count_moved(const struct kmem_cache *cache, int nid);
void reloc_count_on(int nid, long pages);
struct reloc_moved reloc_moved_of(int number);

/* Get the PTE of an address in a chunk that exists. */
static inline pte_t *reloc_pte(const void *addr)
{
	return pte_offset_kernel(pmd_off_k((unsigned long)addr), (unsigned long)addr);
}

static inline struct reloc_chunk *reloc_chunk_at(unsigned long index)
{
	return (void *)(RELOC_START + index * RELOC_CHUNK_SIZE);
}

static inline struct reloc_chunk *reloc_chunk_of(const void *addr)
{
	return (void *)((unsigned long)addr & ~(RELOC_CHUNK_SIZE - 1));
}

/* Get the record of a page in a chunk that exists. */
static inline struct reloc_page *reloc_page_of(const void *addr)
{
	unsigned long offset = (unsigned long)addr & (RELOC_CHUNK_SIZE - 1);

	return &reloc_chunk_of(addr)->pages[offset >> PAGE_SHIFT];
}

/*
 * Initialize the record of a new slab page, which counts as used in this scan. Set the
 * node last: a reader that sees the node sees the rest.
 */
static inline void reloc_page_begin(struct reloc_page *page, int nid)
{
	page->use = (struct tiering_use) { .history = BIT(0) };
	page->age = 0;
	/* Pairs with reloc_page_nid(). */
	smp_store_release(&page->nid, nid);
}

/* Get the node of a page, NUMA_NO_NODE without a slab page. */
static inline int reloc_page_nid(const struct reloc_page *page)
{
	/* Pairs with reloc_page_begin(). */
	return smp_load_acquire(&page->nid);
}

/*
 * Mark a page behind the arena with its cache, for /proc/kpageflags and debuggers. SLUB
 * uses the descriptor.
 */
static inline void reloc_mark(struct page *page, struct kmem_cache *cache)
{
	page_slab(page)->slab_cache = cache;
	__folio_set_slab(page_folio(page));
}

static inline void reloc_unmark(struct page *page)
{
	__folio_clear_slab(page_folio(page));
}

#ifdef CONFIG_RELOC_SLAB_KUNIT_TEST
/**
 * struct reloc_test - faults that tests inject
 * @skip_recheck: do not copy pages again that were written to during the copy
 * @skip_flush: do not flush TLBs in the pause
 * @fail_nth: fail every nth allocation on the target node; 0 for none
 * @hold: fill old pages with a pattern, and keep them in @held
 * @held: old pages, because stale users may still write to them
 */
struct reloc_test {
	bool skip_recheck;
	bool skip_flush;
	unsigned int fail_nth;
	bool hold;
	struct list_head held;
};

extern struct reloc_test reloc_test;
#endif

#endif /* _MM_RELOC_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Relocatable slabs: what the files of mm/reloc share.
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

/* The first page of a chunk that a slab can have, aligned for the largest one. */
#define RELOC_FIRST_PAGE	ALIGN(RELOC_DESC_PAGES, 1UL << RELOC_MAX_ORDER)

/**
 * struct reloc_chunk - the state of a chunk
 * @list: in the list of chunks of its order that have free pages, or empty
 * @order: the slabs in it have 1 << order pages
 * @nr_used: pages of slabs in it
 * @used: which pages slabs have; never those of the descriptors
 * @pages: when they were used, one for each page of the chunk
 *
 * It takes the place of the first descriptors, which are those of the pages that
 * descriptors are in, and are not used.
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
 * @pages: pages that slabs have, or that are not given back yet
 * @fallbacks: slabs that got no place in the arena
 * @moved: pages that were moved
 * @recopied: how many of them were written to while they were copied
 * @late: pages that did not move because the pause was over
 * @no_memory: pages for which the node had no memory
 * @batches: pauses
 * @pause_ns: how long they were together, nanoseconds
 * @longest_pause_ns: how long the longest was, nanoseconds
 * @longest_stop_ns: the same, with the time to stop all CPUs and to start them
 *
 * Those of moves change under reloc_mutex.
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

/* Caches of which pages are counted; those that come later are not. */
#define RELOC_COUNTED	32

/**
 * struct reloc_moved - how many pages of a cache have moved
 * @up: to nodes of the top tier
 * @down: to other nodes
 */
struct reloc_moved {
	unsigned long up;
	unsigned long down;
};

/**
 * struct reloc_settings - settings
 * @max_pause_us: no page is copied or remapped in a pause after this time
 * @precopy: copy before the pause, and in the pause what was written to since
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
void reloc_count_pages(void (*count)(const struct kmem_cache *cache, int nid, bool unused,
				     void *data), void *data);
struct kmem_cache *reloc_cache_of(struct page *desc);
int reloc_number(const struct kmem_cache *cache);
void reloc_count_moved(const struct kmem_cache *cache, int nid);
void reloc_count_on(int nid, long pages);
struct reloc_moved reloc_moved_of(int number);

/* The PTE of an address in a chunk that exists. */
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

/* What is known of the use of a page of a chunk that exists. */
static inline struct reloc_page *reloc_page_of(const void *addr)
{
	unsigned long offset = (unsigned long)addr & (RELOC_CHUNK_SIZE - 1);

	return &reloc_chunk_of(addr)->pages[offset >> PAGE_SHIFT];
}

/*
 * Note that a slab has got a page, which counts as used in this scan. The node is what others
 * look at first: when they find one, they find the rest.
 */
static inline void reloc_page_begin(struct reloc_page *page, int nid)
{
	page->history = BIT(0);
	page->moves = 0;
	page->why = 0;
	page->age = 0;
	page->uses = 0;
	/* Pairs with reloc_page_nid(). */
	smp_store_release(&page->nid, nid);
}

/* The node of a page, NUMA_NO_NODE where no slab has one. */
static inline int reloc_page_nid(const struct reloc_page *page)
{
	/* Pairs with reloc_page_begin(). */
	return smp_load_acquire(&page->nid);
}

/*
 * Say of a page behind the arena whose it is, to who looks at memory from outside, such as
 * /proc/kpageflags. The kernel goes by the descriptor.
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
 * struct reloc_test - what tests make go wrong
 * @skip_recheck: do not copy again what was written to while it was copied
 * @skip_flush: do not flush TLBs in the pause
 * @fail_nth: every so-many-th allocation on the target node fails; 0: none
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

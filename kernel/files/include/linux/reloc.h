/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Relocatable slabs: SLUB caches with SLAB_RELOC draw their slabs from an arena of
 * virtual addresses, whose pages can move between nodes while the addresses of the
 * objects stay. See Documentation/mm/reloc.rst.
 */
#ifndef _LINUX_RELOC_H
#define _LINUX_RELOC_H

#include <linux/jump_label.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/tiering_use.h>

struct seq_file;

/**
 * struct reloc_result - the outcome of reloc_move()
 * @moved: pages that have moved to the node
 * @recopied: moved pages that were written to during the copy, and copied again
 * @no_memory: pages for which the node had no memory
 * @late: pages that did not move because the pause was over
 * @absent: addresses without a slab page, duplicates, and pages with memory errors
 * @longest_pause_ns: the longest pause of all CPUs, nanoseconds
 */
struct reloc_result {
	unsigned int moved;
	unsigned int recopied;
	unsigned int no_memory;
	unsigned int late;
	unsigned int absent;
	u64 longest_pause_ns;
};

/**
 * struct reloc_page - the record of a page of the arena
 * @use: uses and moves; bit 0 of the history is the last scan that is over, and @moves
 *	is decremented every 64 scans
 * @age: scans since the last move, U8_MAX for more
 * @nid: the node of the page; NUMA_NO_NODE without a slab page
 */
struct reloc_page {
	struct tiering_use use;
	u8 age;
	s16 nid;
};

/* Returns true if the caller wants this page. Called with a lock. */
typedef bool (*reloc_choose_t)(const struct reloc_page *page, void *data);

#ifdef CONFIG_RELOC_SLAB

#include <asm/reloc.h>

/*
 * A chunk is the range of one page of PTEs. Its first pages hold the descriptors of all
 * pages of the chunk: struct page, which SLUB uses as struct slab.
 */
#define RELOC_CHUNK_SIZE	PMD_SIZE
#define RELOC_CHUNK_PAGES	PTRS_PER_PTE

/* The largest slab has 1 << RELOC_MAX_ORDER pages. */
#define RELOC_MAX_ORDER		PAGE_ALLOC_COSTLY_ORDER

DECLARE_STATIC_KEY_FALSE(reloc_enabled);

/* Test whether slabs can be in the arena. No cache has SLAB_RELOC until then. */
static __always_inline bool reloc_is_enabled(void)
{
	return static_branch_unlikely(&reloc_enabled);
}

/**
 * is_reloc_addr() - test whether an address is in the arena
 * @addr: the address of an object, or of a descriptor
 *
 * Until a cache has SLAB_RELOC, this is a no-op.
 *
 * Return: true if the address is in the arena.
 */
static __always_inline bool is_reloc_addr(const void *addr)
{
	return reloc_is_enabled() &&
	       (unsigned long)addr - RELOC_START < RELOC_SIZE;
}

/* Get the descriptor of the page at an address in the arena. */
static inline struct page *reloc_desc(const void *addr)
{
	unsigned long offset = (unsigned long)addr & (RELOC_CHUNK_SIZE - 1);
	struct page *descs = (void *)((unsigned long)addr - offset);

	return descs + (offset >> PAGE_SHIFT);
}

/* Get the address of the page of a descriptor. */
static inline void *reloc_desc_address(const struct page *desc)
{
	unsigned long offset = (unsigned long)desc & (RELOC_CHUNK_SIZE - 1);
	void *chunk = (void *)((unsigned long)desc - offset);

	return chunk + ((offset / sizeof(struct page)) << PAGE_SHIFT);
}

void reloc_init(void);
bool reloc_addr_valid(const void *addr);
void reloc_enable(void);
slab_flags_t reloc_slab_flag(const char *name);
struct folio *reloc_alloc_slab(struct kmem_cache *cache, gfp_t gfp, int nid,
			       unsigned int order);
void reloc_free_slab(struct folio *folio, unsigned int order);
void reloc_forget_cache(const struct kmem_cache *cache);
void reloc_flush_freed(void);
int reloc_nid(const void *addr);
unsigned int reloc_collect(const struct kmem_cache *cache, int nid, unsigned long *cursor,
			   void **addrs, unsigned int nr);
unsigned int reloc_find(reloc_choose_t choose, void *data, unsigned long *cursor,
			void **addrs, unsigned int nr);
int reloc_move(void *const *addrs, unsigned int nr, int nid, struct reloc_result *result);
int reloc_try_move(void *const *addrs, unsigned int nr, int nid, u8 reason,
		   struct reloc_result *result);
unsigned long reloc_pages_on(int nid);
void reloc_age(void);
bool reloc_is_idle(const void *addr);
unsigned int reloc_moves(const void *addr);
int reloc_nid_now(const void *addr);
void reloc_hold_demoted(bool hold);
bool reloc_is_away(const void *addr);

/**
 * reloc_is_demoted() - test whether SLUB must not allocate a new object from a page
 * @addr: the address of the free object
 *
 * New objects are likely to be used, and should not begin in slow memory.
 *
 * Return: true if the page was moved to a lower tier; false for slabs outside of the
 *	   arena.
 */
static __always_inline bool reloc_is_demoted(const void *addr)
{
	return is_reloc_addr(addr) && reloc_is_away(addr);
}

#else

#define RELOC_SIZE	0UL

static __always_inline bool reloc_is_enabled(void)
{
	return false;
}

static __always_inline bool is_reloc_addr(const void *addr)
{
	return false;
}

static inline struct page *reloc_desc(const void *addr)
{
	return NULL;
}

static inline void *reloc_desc_address(const struct page *desc)
{
	return NULL;
}

static inline void reloc_init(void)
{
}

static inline bool reloc_addr_valid(const void *addr)
{
	return false;
}

static inline void reloc_enable(void)
{
}

static inline slab_flags_t reloc_slab_flag(const char *name)
{
	return 0;
}

static inline struct folio *reloc_alloc_slab(struct kmem_cache *cache, gfp_t gfp, int nid,
					     unsigned int order)
{
	return NULL;
}

static inline void reloc_free_slab(struct folio *folio, unsigned int order)
{
}

static inline void reloc_forget_cache(const struct kmem_cache *cache)
{
}

static inline unsigned int reloc_find(reloc_choose_t choose, void *data,
				      unsigned long *cursor, void **addrs,
				      unsigned int nr)
{
	return 0;
}

static inline int reloc_try_move(void *const *addrs, unsigned int nr, int nid, u8 reason,
				 struct reloc_result *result)
{
	return -EINVAL;
}

static inline unsigned long reloc_pages_on(int nid)
{
	return 0;
}

static inline void reloc_age(void)
{
}

static inline bool reloc_is_idle(const void *addr)
{
	return false;
}

static inline unsigned int reloc_moves(const void *addr)
{
	return 0;
}

static inline int reloc_nid_now(const void *addr)
{
	return NUMA_NO_NODE;
}

static inline void reloc_hold_demoted(bool hold) { }

static inline bool reloc_is_demoted(const void *addr)
{
	return false;
}

#endif /* CONFIG_RELOC_SLAB */

/**
 * kmem_to_head_page() - find the descriptor of a slab object, or of other memory
 * @obj: the address of an object in a slab, in the arena or not, or an address in
 *	 the linear mapping
 *
 * The node and zone of the descriptor are those of the allocation. A descriptor of the
 * arena is no page of the buddy allocator, and has no PFN.
 *
 * Return: the head page.
 */
static __always_inline struct page *kmem_to_head_page(const void *obj)
{
	return compound_head(is_reloc_addr(obj) ? reloc_desc(obj) : virt_to_page(obj));
}

/* Get the descriptor of kmem_to_head_page() as a folio. */
static __always_inline struct folio *kmem_to_folio(const void *obj)
{
	return (struct folio *)kmem_to_head_page(obj);
}

/* Test whether an address has a descriptor. As virt_addr_valid(), for slabs. */
static inline bool kmem_addr_valid(const void *addr)
{
	return is_reloc_addr(addr) ? reloc_addr_valid(addr) : virt_addr_valid(addr);
}

#endif /* _LINUX_RELOC_H */

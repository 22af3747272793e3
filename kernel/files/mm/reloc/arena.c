// SPDX-License-Identifier: GPL-2.0
/*
 * Relocatable slabs: the arena, a range of virtual addresses.
 *
 * The arena grows and shrinks in chunks. The page of PTEs and the descriptors of a
 * chunk are allocated for its first slab, and freed after its last slab. All slabs in a
 * chunk have one order, so a chunk that is not full has room for another slab.
 */
#include <linux/bitmap.h>
#include <linux/init.h>
#include <linux/numa.h>
#include <linux/pgalloc.h>
#include <linux/rcupdate.h>
#include <linux/rcupdate_wait.h>
#include <linux/spinlock.h>
#include <asm/tlbflush.h>

#include "reloc.h"

struct reloc_stats reloc_stats;

/* Protects the fields below, and struct reloc_chunk. */
static DEFINE_SPINLOCK(reloc_lock);

/* Chunks whose addresses are taken: they have page tables. */
static DECLARE_BITMAP(reloc_taken, RELOC_CHUNKS);

/* Chunks that can have slabs: taken chunks, except those that are being unmapped. */
static DECLARE_BITMAP(reloc_valid, RELOC_CHUNKS);

/* Lists of the chunks with free pages, by order. */
static struct list_head reloc_partial[RELOC_MAX_ORDER + 1];

/* Chunks that have become empty, and are not in reloc_partial. */
static LIST_HEAD(reloc_empty);

/**
 * reloc_init() - allocate the top level of the arena's page tables
 *
 * Runs before the first process exists: page tables of processes copy the top level and
 * share the lower ones.
 */
void __init reloc_init(void)
{
	pgd_t *pgd = pgd_offset_k(RELOC_START);
	unsigned int order;
	p4d_t *p4d;

	BUILD_BUG_ON(sizeof(struct reloc_chunk) > RELOC_DESC_PAGES * sizeof(struct page));
	BUILD_BUG_ON(RELOC_CHUNK_PAGES * sizeof(struct reloc_page) > PAGE_SIZE);
	BUILD_BUG_ON(RELOC_START % P4D_SIZE || RELOC_SIZE > P4D_SIZE);

	for (order = 0; order <= RELOC_MAX_ORDER; order++)
		INIT_LIST_HEAD(&reloc_partial[order]);

	p4d = p4d_alloc(&init_mm, pgd, RELOC_START);
	if (!p4d || !pud_alloc(&init_mm, p4d, RELOC_START))
		panic("reloc: no memory for page tables\n");
}

static pud_t *reloc_pud(unsigned long addr)
{
	return pud_offset(p4d_offset(pgd_offset_k(addr), addr), addr);
}

/* Memory for a chunk whose address is not known yet. */
struct reloc_parts {
	struct page *pmds;	/* not needed if the page of PMDs exists */
	struct page *ptes;
	struct page *pages;
	struct page *descs[RELOC_DESC_PAGES];
};

static void reloc_free_parts(struct reloc_parts *parts)
{
	unsigned int i;

	if (parts->pmds)
		__free_page(parts->pmds);
	if (parts->ptes)
		__free_page(parts->ptes);
	if (parts->pages)
		__free_page(parts->pages);
	for (i = 0; i < RELOC_DESC_PAGES; i++)
		if (parts->descs[i])
			__free_page(parts->descs[i]);
}

static bool reloc_alloc_parts(struct reloc_parts *parts, gfp_t gfp)
{
	unsigned int i;

	/* Do not use reserves or try hard: slabs can use ordinary pages. */
	gfp &= GFP_KERNEL | __GFP_NOLOCKDEP;
	gfp |= __GFP_NORETRY | __GFP_NOMEMALLOC | __GFP_NOWARN | __GFP_ZERO;
	parts->pmds = alloc_page(gfp);
	parts->ptes = alloc_page(gfp);
	parts->pages = alloc_page(gfp);
	if (!parts->pmds || !parts->ptes || !parts->pages)
		return false;
	for (i = 0; i < RELOC_DESC_PAGES; i++) {
		parts->descs[i] = alloc_page(gfp);
		if (!parts->descs[i])
			return false;
	}
	return true;
}

static unsigned long reloc_chunk_index(const struct reloc_chunk *chunk)
{
	return ((unsigned long)chunk - RELOC_START) / RELOC_CHUNK_SIZE;
}

/* Map a chunk at the lowest free address. */
static struct reloc_chunk *reloc_map_chunk(struct reloc_parts *parts, unsigned int order)
{
	unsigned long addr, index;
	struct reloc_chunk *chunk;
	unsigned int i;
	pte_t *ptes;
	pud_t *pud;

	lockdep_assert_held(&reloc_lock);
	index = find_first_zero_bit(reloc_taken, RELOC_CHUNKS);
	if (index == RELOC_CHUNKS)
		return NULL;
	chunk = reloc_chunk_at(index);
	addr = (unsigned long)chunk;

	pud = reloc_pud(addr);
	if (pud_none(*pud)) {
		pud_populate(&init_mm, pud, page_address(parts->pmds));
		parts->pmds = NULL;
	}
	ptes = page_address(parts->ptes);
	for (i = 0; i < RELOC_DESC_PAGES; i++) {
		set_pte(ptes + i, mk_pte(parts->descs[i], PAGE_KERNEL));
		parts->descs[i] = NULL;
	}
	/* A CPU that sees the table sees its entries. */
	smp_wmb();
	pmd_populate_kernel(&init_mm, pmd_offset(pud, addr), ptes);
	parts->ptes = NULL;

	INIT_LIST_HEAD(&chunk->list);
	chunk->order = order;
	chunk->nr_used = 0;
	chunk->pages = page_address(parts->pages);
	for (i = 0; i < RELOC_CHUNK_PAGES; i++)
		chunk->pages[i].nid = NUMA_NO_NODE;
	parts->pages = NULL;
	bitmap_zero(chunk->used, RELOC_CHUNK_PAGES);
	bitmap_set(chunk->used, 0, RELOC_FIRST_PAGE);
	/* A CPU that sees the bit sees the page table. */
	smp_mb__before_atomic();
	set_bit(index, reloc_taken);
	set_bit(index, reloc_valid);
	atomic_long_inc(&reloc_stats.chunks);
	return chunk;
}

/* Add a chunk for slabs of an order, unless another CPU does so meanwhile. */
static bool reloc_grow(unsigned int order, gfp_t gfp)
{
	struct list_head *partial = &reloc_partial[order];
	struct reloc_parts parts = {};
	struct reloc_chunk *chunk;
	unsigned long flags;
	bool grown = false;

	/* Allocate without locks: reclaim runs shrinkers, which may use the arena. */
	if (reloc_alloc_parts(&parts, gfp)) {
		spin_lock_irqsave(&reloc_lock, flags);
		chunk = list_empty(partial) ? reloc_map_chunk(&parts, order) : NULL;
		if (chunk)
			list_add(&chunk->list, partial);
		grown = !list_empty(partial);
		spin_unlock_irqrestore(&reloc_lock, flags);
	}
	reloc_free_parts(&parts);
	return grown;
}

static struct page *reloc_try_take(unsigned int order)
{
	struct reloc_chunk *chunk;
	struct page *desc = NULL;
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&reloc_lock, flags);
	chunk = list_first_entry_or_null(&reloc_partial[order], struct reloc_chunk, list);
	if (chunk) {
		i = bitmap_find_next_zero_area(chunk->used, RELOC_CHUNK_PAGES, 0,
					       1 << order, (1 << order) - 1);
		if (!WARN_ON_ONCE(i >= RELOC_CHUNK_PAGES)) {
			desc = (struct page *)chunk + i;
			bitmap_set(chunk->used, i, 1 << order);
			chunk->nr_used += 1 << order;
		}
		if (RELOC_FIRST_PAGE + chunk->nr_used == RELOC_CHUNK_PAGES)
			list_del_init(&chunk->list);
	}
	spin_unlock_irqrestore(&reloc_lock, flags);
	return desc;
}

/**
 * reloc_take() - take addresses of the arena for a slab
 * @order: order of the slab
 * @gfp: allocation flags of page tables if the arena has to grow
 *
 * Context: as for an allocation of pages with @gfp.
 * Return: the first descriptor, or NULL. No page is mapped there.
 */
struct page *reloc_take(unsigned int order, gfp_t gfp)
{
	struct page *desc;

	do {
		desc = reloc_try_take(order);
	} while (!desc && reloc_grow(order, gfp));
	return desc;
}

/**
 * reloc_give_back() - give back the addresses of a slab
 * @desc: the descriptor from reloc_take()
 * @order: order of the slab
 *
 * No page may be mapped there, or still be in a TLB.
 */
void reloc_give_back(struct page *desc, unsigned int order)
{
	struct reloc_chunk *chunk = reloc_chunk_of(desc);
	struct list_head *partial = &reloc_partial[order];
	unsigned long flags;

	spin_lock_irqsave(&reloc_lock, flags);
	bitmap_clear(chunk->used, desc - (struct page *)chunk, 1 << order);
	chunk->nr_used -= 1 << order;
	if (list_empty(&chunk->list))
		list_add(&chunk->list, partial);
	/*
	 * Keep one chunk of each order, so that it is not freed and allocated
	 * repeatedly.
	 */
	if (!chunk->nr_used && !list_is_singular(partial))
		list_move(&chunk->list, &reloc_empty);
	spin_unlock_irqrestore(&reloc_lock, flags);
}

/* Unmap an unused chunk, and free its page tables and descriptors. */
static void reloc_unmap_chunk(struct reloc_chunk *chunk)
{
	unsigned long addr = (unsigned long)chunk;
	struct page *descs[RELOC_DESC_PAGES];
	pmd_t *pmd = pmd_off_k(addr);
	struct page *pages = virt_to_page(chunk->pages);
	struct page *ptes = pmd_page(*pmd);
	unsigned long flags;
	unsigned int i;

	lockdep_assert_held(&reloc_mutex);
	for (i = 0; i < RELOC_DESC_PAGES; i++)
		descs[i] = pte_page(*reloc_pte((void *)addr + i * PAGE_SIZE));
	/* ptdump_walk_pgd() holds this lock while it reads page tables, and may sleep. */
	mmap_read_lock(&init_mm);
	pmd_clear(pmd);
	flush_tlb_kernel_range(addr, addr + RELOC_CHUNK_SIZE);
	mmap_read_unlock(&init_mm);

	__free_page(ptes);
	__free_page(pages);
	for (i = 0; i < RELOC_DESC_PAGES; i++)
		__free_page(descs[i]);

	spin_lock_irqsave(&reloc_lock, flags);
	clear_bit(reloc_chunk_index(chunk), reloc_taken);
	spin_unlock_irqrestore(&reloc_lock, flags);
	atomic_long_dec(&reloc_stats.chunks);
}

/**
 * reloc_release_empty() - free the page tables and descriptors of empty chunks
 *
 * Context: process; it may take seconds.
 */
void reloc_release_empty(void)
{
	struct reloc_chunk *chunk, *next;
	LIST_HEAD(empty);

	spin_lock_irq(&reloc_lock);
	list_splice_init(&reloc_empty, &empty);
	list_for_each_entry(chunk, &empty, list)
		clear_bit(reloc_chunk_index(chunk), reloc_valid);
	spin_unlock_irq(&reloc_lock);
	if (list_empty(&empty))
		return;

	/*
	 * Wait for lockless readers of descriptors, which may be preempted but do not
	 * sleep: SLUB reads the descriptor of its CPU's slab before it checks that the
	 * slab is still its own, and so do users of reloc_addr_valid().
	 */
	synchronize_rcu_tasks();

	mutex_lock(&reloc_mutex);
	list_for_each_entry_safe(chunk, next, &empty, list)
		reloc_unmap_chunk(chunk);
	mutex_unlock(&reloc_mutex);
}

/**
 * reloc_next_chunk() - find a chunk that has page tables
 * @index: the first chunk to check
 *
 * Context: with reloc_mutex held, which keeps the chunk.
 * Return: its index, or RELOC_CHUNKS if there is none.
 */
unsigned long reloc_next_chunk(unsigned long index)
{
	lockdep_assert_held(&reloc_mutex);
	/* Chunks may be added or emptied meanwhile; the mutex keeps them mapped. */
	return data_race(find_next_bit(reloc_valid, RELOC_CHUNKS, index));
}

/**
 * reloc_addr_valid() - test whether an address can be that of an object in the arena
 * @addr: the address
 *
 * Context: any. The descriptor stays at least until the caller sleeps.
 * Return: true if the address has a descriptor.
 */
bool reloc_addr_valid(const void *addr)
{
	unsigned long offset = (unsigned long)addr - RELOC_START;

	return offset < RELOC_SIZE && test_bit(offset / RELOC_CHUNK_SIZE, reloc_valid) &&
	       offset % RELOC_CHUNK_SIZE >= RELOC_FIRST_PAGE * PAGE_SIZE;
}

/**
 * reloc_find_pte() - find the PTE of a page of a slab
 * @addr: an address
 *
 * Context: with reloc_mutex held, which keeps the page and its PTE.
 * Return: the PTE, or NULL if no slab has a page there.
 */
pte_t *reloc_find_pte(const void *addr)
{
	pte_t *ptep;

	lockdep_assert_held(&reloc_mutex);
	/* Descriptors have no slab page. */
	if (!reloc_addr_valid(addr))
		return NULL;
	ptep = reloc_pte(addr);
	return pte_present(ptep_get(ptep)) ? ptep : NULL;
}

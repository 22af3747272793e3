/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: hooks for the rest of the kernel.
 *
 * A hook is a no-op behind a static key unless the selected policy needs it. Without
 * CONFIG_TIERING, it compiles to nothing. See Documentation/mm/tiering.rst.
 */
#ifndef _LINUX_TIERING_H
#define _LINUX_TIERING_H

#include <linux/jump_label.h>
#include <linux/numa.h>
#include <linux/types.h>

struct address_space;
struct file_ra_state;
struct folio;
struct page;

#ifdef CONFIG_TIERING

DECLARE_STATIC_KEY_FALSE(tiering_places_key);
DECLARE_STATIC_KEY_FALSE(tiering_files_key);
DECLARE_STATIC_KEY_FALSE(tiering_uses_key);
DECLARE_STATIC_KEY_FALSE(tiering_room_key);
DECLARE_STATIC_KEY_FALSE(tiering_kernel_key);

struct page *tiering_alloc_pages(gfp_t gfp, unsigned int order, int nid);
struct folio *__tiering_alloc_folio(struct address_space *mapping, gfp_t gfp,
				    unsigned int order,
				    const struct file_ra_state *ra);
void __tiering_folio_added(struct folio *folio);
void __tiering_folio_used(struct folio *folio);
void __tiering_folio_moved(struct folio *src, struct folio *dst);
void __tiering_folio_freed(struct folio *folio);
void __tiering_folio_split(struct folio *folio, unsigned long pages);
unsigned long __tiering_make_room(int nid);
struct page *__tiering_alloc_table(gfp_t gfp, unsigned int order);
int __tiering_stack_nid(void);
void tiering_count_stack(bool fast);

/* Does the selected policy say where all new pages go? */
static inline bool tiering_is_placing(void)
{
	return static_branch_unlikely(&tiering_places_key);
}

/* Does it say where new page cache goes? */
static inline bool tiering_is_placing_files(void)
{
	return static_branch_unlikely(&tiering_files_key);
}

/* Does it have to know which page cache there is, and which is used? */
static inline bool tiering_is_sampling(void)
{
	return static_branch_unlikely(&tiering_uses_key);
}

/* Does it say what leaves a node before reclaim does? */
static inline bool tiering_is_making_room(void)
{
	return static_branch_unlikely(&tiering_room_key);
}

/* Does it want page tables and kernel stacks in fast memory, before all else? */
static inline bool tiering_is_placing_kernel(void)
{
	return static_branch_unlikely(&tiering_kernel_key);
}

#else /* !CONFIG_TIERING */

static inline bool tiering_is_placing(void)
{
	return false;
}

static inline bool tiering_is_placing_files(void)
{
	return false;
}

static inline bool tiering_is_sampling(void)
{
	return false;
}

static inline bool tiering_is_making_room(void)
{
	return false;
}

static inline bool tiering_is_placing_kernel(void)
{
	return false;
}

static inline struct page *tiering_alloc_pages(gfp_t gfp, unsigned int order,
					       int nid)
{
	return NULL;
}

static inline struct folio *
__tiering_alloc_folio(struct address_space *mapping, gfp_t gfp,
		      unsigned int order, const struct file_ra_state *ra)
{
	return NULL;
}

static inline void __tiering_folio_added(struct folio *folio) { }
static inline void __tiering_folio_used(struct folio *folio) { }

static inline void __tiering_folio_moved(struct folio *src, struct folio *dst)
{
}

static inline void __tiering_folio_freed(struct folio *folio) { }

static inline void __tiering_folio_split(struct folio *folio,
					 unsigned long pages)
{
}

static inline unsigned long __tiering_make_room(int nid)
{
	return 0;
}

static inline struct page *__tiering_alloc_table(gfp_t gfp, unsigned int order)
{
	return NULL;
}

static inline int __tiering_stack_nid(void)
{
	return NUMA_NO_NODE;
}

static inline void tiering_count_stack(bool fast) { }

#endif /* CONFIG_TIERING */

/**
 * tiering_alloc_folio() - allocate a folio of page cache where the policy wants it
 * @mapping: mapping that the folio is for
 * @gfp: allocation flags
 * @order: order of the folio
 * @ra: state of the read-ahead that it is for, NULL for none
 *
 * Does not reclaim: having a folio in one tier rather than the other is not worth
 * that.
 *
 * Return: the folio, or NULL if the caller must allocate it as without a policy.
 */
static inline struct folio *tiering_alloc_folio(struct address_space *mapping,
						gfp_t gfp, unsigned int order,
						const struct file_ra_state *ra)
{
	return tiering_is_placing_files() ?
	       __tiering_alloc_folio(mapping, gfp, order, ra) : NULL;
}

/**
 * tiering_folio_added() - a folio was added to the page cache
 * @folio: the folio, locked
 */
static inline void tiering_folio_added(struct folio *folio)
{
	if (tiering_is_sampling())
		__tiering_folio_added(folio);
}

/**
 * tiering_folio_used() - a folio of the page cache is used
 * @folio: the folio, which the caller has a reference to
 */
static inline void tiering_folio_used(struct folio *folio)
{
	if (tiering_is_sampling())
		__tiering_folio_used(folio);
}

/**
 * tiering_folio_moved() - a folio was migrated, not by the policy
 * @src: the old folio
 * @dst: the new folio, locked
 */
static inline void tiering_folio_moved(struct folio *src, struct folio *dst)
{
	if (tiering_is_sampling())
		__tiering_folio_moved(src, dst);
}

/**
 * tiering_folio_freed() - a folio is taken out of the page cache
 * @folio: the folio, locked, with its mapping
 */
static inline void tiering_folio_freed(struct folio *folio)
{
	if (tiering_is_sampling())
		__tiering_folio_freed(folio);
}

/**
 * tiering_folio_split() - a large folio becomes several
 * @folio: the folio
 * @pages: how many it has
 */
static inline void tiering_folio_split(struct folio *folio, unsigned long pages)
{
	if (tiering_is_sampling())
		__tiering_folio_split(folio, pages);
}

/**
 * tiering_make_room() - have what the policy says leave a node
 * @nid: the node
 *
 * Context: kswapd of the node.
 * Return: pages that have left.
 */
static inline unsigned long tiering_make_room(int nid)
{
	return tiering_is_making_room() ? __tiering_make_room(nid) : 0;
}

/**
 * tiering_alloc_table() - allocate a page table where the policy wants it
 * @gfp: allocation flags
 * @order: there are 2^order pages
 *
 * Return: the first page, or NULL if the caller must allocate it as without a policy.
 */
static inline struct page *tiering_alloc_table(gfp_t gfp, unsigned int order)
{
	return tiering_is_placing_kernel() ? __tiering_alloc_table(gfp, order) : NULL;
}

/**
 * tiering_stack_nid() - on which node should a kernel stack be?
 *
 * Return: the node, which may be full; NUMA_NO_NODE for where it is without a policy.
 */
static inline int tiering_stack_nid(void)
{
	return tiering_is_placing_kernel() ? __tiering_stack_nid() : NUMA_NO_NODE;
}

#endif /* _LINUX_TIERING_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two-tier machine: hooks that tell the timing model what pages are for.
 *
 * Each hook is a no-op behind a static key unless the machine has a model.
 * Without CONFIG_KLOC_MACHINE, it compiles to nothing.
 */
#ifndef _LINUX_KLOC_MACHINE_H
#define _LINUX_KLOC_MACHINE_H

#include <linux/jump_label.h>
#include <uapi/linux/kloc_machine.h>

struct address_space;
struct folio;
struct kmem_cache;
struct page;

#ifdef CONFIG_KLOC_MACHINE

DECLARE_STATIC_KEY_FALSE(kloc_machine_key);

unsigned long __kloc_machine_tag_save(unsigned long tag);
unsigned long __kloc_machine_tag_save_mapping(struct address_space *mapping);
unsigned long __kloc_machine_tag_save_folio(struct folio *folio);
void __kloc_machine_tag_restore(unsigned long previous);
void __kloc_machine_new_pages(struct page *page, unsigned int order);
void __kloc_machine_tag_pgd(void *pgd, unsigned int order);

/**
 * kloc_machine_tag_save() - say what the pages that are allocated next are for
 * @tag: one of KLOC_MACHINE_TAG_*, 0 if nobody knows
 *
 * Until kloc_machine_tag_restore(), new pages get this tag if the current task
 * allocates them at the same interrupt level. Scopes can be nested.
 *
 * Return: what has to be passed to kloc_machine_tag_restore().
 */
static inline unsigned long kloc_machine_tag_save(unsigned long tag)
{
	if (static_branch_unlikely(&kloc_machine_key))
		return __kloc_machine_tag_save(tag);
	return 0;
}

/**
 * kloc_machine_tag_save_mapping() - new pages are for the page cache
 * @mapping: mapping of a file, a block device, or shmem
 *
 * Return: as kloc_machine_tag_save() does.
 */
static inline unsigned long
kloc_machine_tag_save_mapping(struct address_space *mapping)
{
	if (static_branch_unlikely(&kloc_machine_key))
		return __kloc_machine_tag_save_mapping(mapping);
	return 0;
}

/**
 * kloc_machine_tag_save_folio() - new pages will take a folio's place
 * @folio: a folio that the caller has a reference of
 *
 * Return: as kloc_machine_tag_save() does.
 */
static inline unsigned long kloc_machine_tag_save_folio(struct folio *folio)
{
	if (static_branch_unlikely(&kloc_machine_key))
		return __kloc_machine_tag_save_folio(folio);
	return 0;
}

/**
 * kloc_machine_tag_save_slab() - new pages are for a slab
 * @cache: the slab's cache
 *
 * Return: as kloc_machine_tag_save() does.
 */
static inline unsigned long kloc_machine_tag_save_slab(struct kmem_cache *cache)
{
	return kloc_machine_tag_save((unsigned long)cache);
}

/**
 * kloc_machine_tag_restore() - end the scope of kloc_machine_tag_save()
 * @previous: what kloc_machine_tag_save() has returned
 */
static inline void kloc_machine_tag_restore(unsigned long previous)
{
	if (static_branch_unlikely(&kloc_machine_key))
		__kloc_machine_tag_restore(previous);
}

/**
 * kloc_machine_new_pages() - tag new pages with what they are for
 * @page: first page, which the allocator is about to zero and return
 * @order: order of the allocation: there are 2^order pages
 */
static inline void kloc_machine_new_pages(struct page *page, unsigned int order)
{
	if (static_branch_unlikely(&kloc_machine_key))
		__kloc_machine_new_pages(page, order);
}

/**
 * kloc_machine_tag_pgd() - tag the pages of a page table's top level
 * @pgd: the top level, NULL if it was not allocated
 * @order: order of the allocation
 *
 * Other page tables have a type or keep the tag in page->index; the kernel needs
 * that of a PGD. The page allocator clears the tag when it allocates the page the
 * next time.
 */
static inline void kloc_machine_tag_pgd(void *pgd, unsigned int order)
{
	if (static_branch_unlikely(&kloc_machine_key))
		__kloc_machine_tag_pgd(pgd, order);
}

#else /* !CONFIG_KLOC_MACHINE */

static inline unsigned long kloc_machine_tag_save(unsigned long tag)
{
	return 0;
}

static inline unsigned long
kloc_machine_tag_save_mapping(struct address_space *mapping)
{
	return 0;
}

static inline unsigned long kloc_machine_tag_save_folio(struct folio *folio)
{
	return 0;
}

static inline unsigned long kloc_machine_tag_save_slab(struct kmem_cache *cache)
{
	return 0;
}

static inline void kloc_machine_tag_restore(unsigned long previous)
{
}

static inline void kloc_machine_new_pages(struct page *page, unsigned int order)
{
}

static inline void kloc_machine_tag_pgd(void *pgd, unsigned int order)
{
}

#endif /* CONFIG_KLOC_MACHINE */

#endif /* _LINUX_KLOC_MACHINE_H */

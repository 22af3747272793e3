// SPDX-License-Identifier: GPL-2.0
/*
 * The two-tier machine: tags that say what new pages are for.
 *
 * Whoever allocates a page for a known use says so in current->kloc_machine_tag
 * while it calls the allocator, which puts the tag into the page before it zeroes
 * it. The lowest bits have the interrupt level of who set it: allocations of an
 * interrupt are not for what the interrupted task is about to allocate.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/shmem_fs.h>

/* struct slab is private to mm/. */
#include "../../mm/slab.h"
#include "machine.h"

#define LEVEL_MASK	3UL

/* Called by kloc_machine_tag_save(). */
unsigned long __kloc_machine_tag_save(unsigned long tag)
{
	unsigned long previous = current->kloc_machine_tag;

	current->kloc_machine_tag = tag | interrupt_context_level();
	return previous;
}

/* Called by kloc_machine_tag_restore(). */
void __kloc_machine_tag_restore(unsigned long previous)
{
	current->kloc_machine_tag = previous;
}

/* Called by kloc_machine_tag_save_mapping(). */
unsigned long __kloc_machine_tag_save_mapping(struct address_space *mapping)
{
	unsigned long tag = KLOC_MACHINE_TAG_FILE;

	if (shmem_mapping(mapping))
		tag = KLOC_MACHINE_TAG_SHMEM;
	else if (mapping->host && S_ISBLK(mapping->host->i_mode))
		tag = KLOC_MACHINE_TAG_BLOCKDEV;
	return __kloc_machine_tag_save(tag);
}

/* Called by kloc_machine_tag_save_folio(). */
unsigned long __kloc_machine_tag_save_folio(struct folio *folio)
{
	struct address_space *mapping;
	unsigned long previous;

	/* The folio is not locked: RCU keeps an inode that lets go of it. */
	rcu_read_lock();
	mapping = READ_ONCE(folio->mapping);
	if ((unsigned long)mapping & PAGE_MAPPING_ANON)
		previous = __kloc_machine_tag_save(KLOC_MACHINE_TAG_ANON);
	else if (!mapping || (unsigned long)mapping & PAGE_MAPPING_FLAGS)
		previous = __kloc_machine_tag_save(0);
	else
		previous = __kloc_machine_tag_save_mapping(mapping);
	rcu_read_unlock();
	return previous;
}

/* Called by kloc_machine_new_pages(). */
void __kloc_machine_new_pages(struct page *page, unsigned int order)
{
	unsigned long tag = current->kloc_machine_tag;
	struct kmem_cache *cache = NULL;
	unsigned int i;

	if ((tag & LEVEL_MASK) == interrupt_context_level())
		tag &= ~LEVEL_MASK;
	else
		tag = 0;

	if (tag && (tag & ~0xffUL) != KLOC_MACHINE_TAGS) {
		cache = (struct kmem_cache *)tag;
		tag = KLOC_MACHINE_TAG_SLAB;
	}
	for (i = 0; i < 1U << order; i++) {
		page[i].index = tag;
		if (cache)
			page_slab(&page[i])->slab_cache = cache;
	}
}

/* Called by kloc_machine_tag_pgd(). */
void __kloc_machine_tag_pgd(void *pgd, unsigned int order)
{
	struct page *page = pgd ? virt_to_page(pgd) : NULL;
	unsigned int i;

	for (i = 0; page && i < 1U << order; i++)
		set_page_private(&page[i], KLOC_MACHINE_TAG_PAGETABLE);
}

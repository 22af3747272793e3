/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: the prediction that new slab objects are cold.
 *
 * The allocator does not know the purpose of an object. Its caller marks the task for
 * the time of a call. See Documentation/mm/reloc.rst.
 */
#ifndef _LINUX_TIERING_SLAB_H
#define _LINUX_TIERING_SLAB_H

#include <linux/jump_label.h>
#include <linux/preempt.h>
#include <linux/ra_class.h>
#include <linux/reloc.h>
#include <linux/sched.h>
#include <linux/types.h>

struct address_space;
struct page;
struct reloc_page;

#ifdef CONFIG_TIERING

DECLARE_STATIC_KEY_FALSE(tiering_slabs_key);

bool __tiering_slabs_begin(const struct address_space *mapping,
			   enum ra_class class);
struct page *tiering_alloc_cold_slab(gfp_t gfp, int *event);
void tiering_count_cold_slab(int event, unsigned int pages);
void tiering_slab_stay_over(const struct reloc_page *page, bool freed);

/*
 * Test whether the policy places new slabs. Without a cache with SLAB_RELOC, this is a
 * no-op.
 */
static __always_inline bool tiering_is_placing_slabs(void)
{
	return reloc_is_enabled() && static_branch_unlikely(&tiering_slabs_key);
}

/**
 * tiering_slabs_begin() - begin a section that allocates slab objects for a file
 * @mapping: page cache of the file; NULL for an inode and dentry that are looked up and
 *	not opened
 * @class: class of the readahead window of the objects, RA_CLASS_OTHER without one
 *
 * If the policy predicts that the objects are cold, this task allocates them from slabs
 * of cold objects until tiering_slabs_end().
 *
 * Return: the argument for tiering_slabs_end().
 */
static inline bool tiering_slabs_begin(const struct address_space *mapping,
				       enum ra_class class)
{
	return tiering_is_placing_slabs() && __tiering_slabs_begin(mapping, class);
}

/**
 * tiering_slabs_end() - end the section of tiering_slabs_begin()
 * @begun: return value of tiering_slabs_begin()
 */
static inline void tiering_slabs_end(bool begun)
{
	if (begun)
		current->slabs_cold = 0;
}

/* Test whether slab objects that this task allocates now are predicted to be cold. */
static __always_inline bool tiering_slabs_are_cold(void)
{
	return tiering_is_placing_slabs() && current->slabs_cold && in_task();
}

#else /* !CONFIG_TIERING */

static inline struct page *tiering_alloc_cold_slab(gfp_t gfp, int *event)
{
	return NULL;
}

static inline void tiering_count_cold_slab(int event, unsigned int pages) { }

static inline void tiering_slab_stay_over(const struct reloc_page *page, bool freed) { }

static inline bool tiering_slabs_begin(const struct address_space *mapping,
				       enum ra_class class)
{
	return false;
}

static inline void tiering_slabs_end(bool begun) { }

static __always_inline bool tiering_slabs_are_cold(void)
{
	return false;
}

#endif /* CONFIG_TIERING */

#endif /* _LINUX_TIERING_SLAB_H */

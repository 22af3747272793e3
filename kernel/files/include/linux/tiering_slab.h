/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: which new slab objects will not be used much.
 *
 * Deep in a call nobody knows what an object is for. So who knows says so to the task,
 * for as long as a call lasts. See Documentation/mm/reloc.rst.
 */
#ifndef _LINUX_TIERING_SLAB_H
#define _LINUX_TIERING_SLAB_H

#include <linux/jump_label.h>
#include <linux/preempt.h>
#include <linux/reloc.h>
#include <linux/sched.h>
#include <linux/types.h>

struct address_space;
struct file_ra_state;
struct page;
struct reloc_page;

#ifdef CONFIG_TIERING

DECLARE_STATIC_KEY_FALSE(tiering_slabs_key);

bool __tiering_slabs_begin(const struct address_space *mapping,
			   const struct file_ra_state *ra);
struct page *tiering_alloc_cold_slab(gfp_t gfp, unsigned int pages);
void tiering_slab_stay_over(const struct reloc_page *page, bool freed);

/*
 * Does the policy say where new slabs go? No slab can be elsewhere until a cache has
 * SLAB_RELOC; so then nothing else is asked.
 */
static __always_inline bool tiering_is_placing_slabs(void)
{
	return reloc_is_enabled() && static_branch_unlikely(&tiering_slabs_key);
}

/**
 * tiering_slabs_begin() - say what slab objects are for that are allocated from now on
 * @mapping: the page cache that they are for; NULL for an inode, and its dentry, that
 *	somebody looks up who does not open it
 * @ra: state of the read-ahead that they are for, NULL for none
 *
 * If the policy expects that they will not be used much, they are on slabs of their own
 * until tiering_slabs_end().
 *
 * Return: what tiering_slabs_end() has to be told.
 */
static inline bool tiering_slabs_begin(const struct address_space *mapping,
				       const struct file_ra_state *ra)
{
	return tiering_is_placing_slabs() && __tiering_slabs_begin(mapping, ra);
}

/**
 * tiering_slabs_end() - end what tiering_slabs_begin() has begun
 * @begun: what it has returned
 */
static inline void tiering_slabs_end(bool begun)
{
	if (begun)
		current->slabs_cold = 0;
}

/* Will slab objects that are allocated now not be used much? */
static __always_inline bool tiering_slabs_are_cold(void)
{
	return tiering_is_placing_slabs() && current->slabs_cold && in_task();
}

#else /* !CONFIG_TIERING */

static inline struct page *tiering_alloc_cold_slab(gfp_t gfp, unsigned int pages)
{
	return NULL;
}

static inline void tiering_slab_stay_over(const struct reloc_page *page, bool freed) { }

static inline bool tiering_slabs_begin(const struct address_space *mapping,
				       const struct file_ra_state *ra)
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

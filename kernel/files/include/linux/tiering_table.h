/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: the hook for page tables.
 *
 * Separate from <linux/tiering.h> because <linux/mm.h>, and so nearly all files, needs
 * it.
 */
#ifndef _LINUX_TIERING_TABLE_H
#define _LINUX_TIERING_TABLE_H

#include <linux/jump_label.h>
#include <linux/types.h>

struct page;

#ifdef CONFIG_TIERING

DECLARE_STATIC_KEY_FALSE(tiering_kernel_key);

struct page *__tiering_alloc_table(gfp_t gfp, unsigned int order);

/* Test whether the policy prefers fast memory for page tables and kernel stacks. */
static inline bool tiering_is_placing_kernel(void)
{
	return static_branch_unlikely(&tiering_kernel_key);
}

#else /* !CONFIG_TIERING */

static inline bool tiering_is_placing_kernel(void)
{
	return false;
}

static inline struct page *__tiering_alloc_table(gfp_t gfp, unsigned int order)
{
	return NULL;
}

#endif /* CONFIG_TIERING */

/**
 * tiering_alloc_table() - allocate a page table where the policy wants it
 * @gfp: allocation flags
 * @order: order of the allocation
 *
 * Return: the first page, or NULL if the caller must allocate it as without a policy.
 */
static inline struct page *tiering_alloc_table(gfp_t gfp, unsigned int order)
{
	return tiering_is_placing_kernel() ? __tiering_alloc_table(gfp, order) : NULL;
}

#endif /* _LINUX_TIERING_TABLE_H */

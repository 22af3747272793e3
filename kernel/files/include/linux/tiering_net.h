/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: the hooks for new pages of the network.
 */
#ifndef _LINUX_TIERING_NET_H
#define _LINUX_TIERING_NET_H

#include <linux/jump_label.h>
#include <linux/types.h>

struct page;

#ifdef CONFIG_TIERING

DECLARE_STATIC_KEY_FALSE(tiering_net_key);

struct page *__tiering_alloc_net(gfp_t gfp, unsigned int order);
void __tiering_count_net(const struct page *page, unsigned int order);
bool __tiering_gives_up_net(struct page *page);

/* Test whether the selected policy prefers fast memory for data of the network. */
static inline bool tiering_is_placing_net(void)
{
	return static_branch_unlikely(&tiering_net_key);
}

#else /* !CONFIG_TIERING */

static inline bool tiering_is_placing_net(void)
{
	return false;
}

static inline struct page *__tiering_alloc_net(gfp_t gfp, unsigned int order)
{
	return NULL;
}

static inline void __tiering_count_net(const struct page *page, unsigned int order)
{
}

static inline bool __tiering_gives_up_net(struct page *page)
{
	return false;
}

#endif /* CONFIG_TIERING */

/**
 * tiering_alloc_net() - allocate pages for data of the network where the policy wants them
 * @gfp: allocation flags
 * @order: order of the allocation
 *
 * Takes only what is free, and does not reclaim.
 *
 * Context: any.
 * Return: the first page, or NULL if the caller must allocate it as without a policy.
 */
static inline struct page *tiering_alloc_net(gfp_t gfp, unsigned int order)
{
	return tiering_is_placing_net() ? __tiering_alloc_net(gfp, order) : NULL;
}

/**
 * tiering_count_net() - count pages that were allocated as without a policy
 * @page: the first page, or NULL
 * @order: order of the allocation
 *
 * Return: @page.
 */
static inline struct page *tiering_count_net(struct page *page, unsigned int order)
{
	if (tiering_is_placing_net() && page)
		__tiering_count_net(page, order);
	return page;
}

/**
 * tiering_gives_up_net() - test whether to replace a page of which all fragments are unused
 * @page: the page, used for fragments again and again by its owner alone
 *
 * A page that began in slow memory would stay there as long as its owner.
 *
 * Context: any.
 * Return: true if the owner should free it, as fast memory has room for another one.
 */
static inline bool tiering_gives_up_net(struct page *page)
{
	return tiering_is_placing_net() && __tiering_gives_up_net(page);
}

#endif /* _LINUX_TIERING_NET_H */

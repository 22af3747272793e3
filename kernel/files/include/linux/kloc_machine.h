/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two-tier machine: hooks for the rest of the kernel.
 *
 * Each hook is a no-op behind a static key until the timing model is found.
 * Without CONFIG_KLOC_MACHINE, it compiles to nothing.
 */
#ifndef _LINUX_KLOC_MACHINE_H
#define _LINUX_KLOC_MACHINE_H

#include <linux/gfp_types.h>
#include <linux/jump_label.h>
#include <linux/mm_types.h>
#include <linux/types.h>
#include <uapi/linux/kloc_machine.h>

struct clock_event_device;

#ifdef CONFIG_KLOC_MACHINE

DECLARE_STATIC_KEY_FALSE(kloc_machine_key);
DECLARE_STATIC_KEY_FALSE(kloc_machine_timer_key);
DECLARE_STATIC_KEY_FALSE(kloc_machine_background_key);

unsigned long __kloc_machine_timer_ticks(unsigned long ticks,
					 struct clock_event_device *event);
bool __kloc_machine_timer_early(struct clock_event_device *event);
int __kloc_machine_background_wait(void);
unsigned long kloc_machine_page_pfn(void);

/**
 * kloc_machine_timer_ticks() - get the ticks to program the APIC timer with
 * @ticks: ticks of simulated time until the event
 * @event: clock event device of this CPU
 *
 * The local APIC timer counts instructions, not simulated time.
 *
 * Return: ticks until the timer interrupt. The interrupt is late by little at
 * most, but often early, see kloc_machine_timer_early().
 */
static inline unsigned long
kloc_machine_timer_ticks(unsigned long ticks, struct clock_event_device *event)
{
	if (static_branch_unlikely(&kloc_machine_timer_key))
		return __kloc_machine_timer_ticks(ticks, event);
	return ticks;
}

/**
 * kloc_machine_timer_early() - check if a timer interrupt came too early
 * @event: clock event device of this CPU
 *
 * Return: true if simulated time has not reached the event yet. Then the timer
 * is programmed for the remaining time, and the handler must not run.
 */
static inline bool kloc_machine_timer_early(struct clock_event_device *event)
{
	return static_branch_unlikely(&kloc_machine_timer_key) &&
	       __kloc_machine_timer_early(event);
}

/**
 * kloc_machine_forgets_young() - check if a page whose accessed bit is cleared
 * has to be flushed from the TLB
 *
 * Linux does not flush it, as the entry is replaced soon on real processors.
 * QEMU's TLB is large and is resized by host time: without a flush, the host
 * would decide which later accesses set the bit again.
 *
 * Return: true in the two-tier machine.
 */
static inline bool kloc_machine_forgets_young(void)
{
	return static_branch_unlikely(&kloc_machine_background_key);
}

/**
 * kloc_machine_background_wait() - let simulated time catch up with a thread
 *
 * Background threads run on a simulated core of their own, with its own clock.
 * If it is ahead of simulated time by more than background_ahead_ns, the thread
 * sleeps until simulated time has caught up. Called by cond_resched().
 *
 * Return: 1 if the thread slept, otherwise 0, like cond_resched().
 */
static inline int kloc_machine_background_wait(void)
{
	if (static_branch_unlikely(&kloc_machine_background_key))
		return __kloc_machine_background_wait();
	return 0;
}

/**
 * kloc_machine_tag_page() - tell the timing model what a page is used for
 * @page: head of an allocation whose page->private is not used otherwise
 * @tag: one of KLOC_MACHINE_TAG_*
 *
 * The page allocator clears the tag when it allocates the page the next time.
 */
static inline void kloc_machine_tag_page(struct page *page, unsigned long tag)
{
	if (static_branch_unlikely(&kloc_machine_key))
		page->private = tag;
}

/**
 * kloc_machine_tag_pages() - tell the timing model what pages are used for
 * @pages: heads of allocations, see kloc_machine_tag_page()
 * @count: number of @pages
 * @tag: one of KLOC_MACHINE_TAG_*
 */
static inline void kloc_machine_tag_pages(struct page **pages,
					  unsigned int count, unsigned long tag)
{
	unsigned int i;

	if (static_branch_unlikely(&kloc_machine_key))
		for (i = 0; i < count; i++)
			pages[i]->private = tag;
}

/**
 * kloc_machine_new_tag() - guess from the GFP flags what new pages are for
 * @gfp: flags of the allocation
 *
 * Page cache of files sets __GFP_WRITE or, for read-ahead, __GFP_NORETRY. Page
 * cache of block devices has no __GFP_HIGHMEM. Allocations for migration
 * (__GFP_NOMEMALLOC) only tell in the case of huge pages.
 *
 * Return: one of KLOC_MACHINE_NEW_*, or 0 if the flags do not tell.
 */
static inline unsigned long kloc_machine_new_tag(gfp_t gfp)
{
	if (!(gfp & __GFP_MOVABLE) || !(gfp & __GFP_HARDWALL))
		return 0;
	if (gfp & __GFP_NOMEMALLOC)
		return gfp & __GFP_COMP ? KLOC_MACHINE_NEW_ANON : 0;
	if (!(gfp & __GFP_HIGHMEM))
		return KLOC_MACHINE_NEW_BLOCKDEV;
	if (gfp & (__GFP_WRITE | __GFP_NORETRY))
		return KLOC_MACHINE_NEW_FILE;
	return KLOC_MACHINE_NEW_ANON;
}

/**
 * kloc_machine_new_pages() - tell the timing model what new pages are for
 * @page: first page, which the allocator is about to return
 * @order: order of the allocation: there are 2^order pages
 * @gfp: flags of the allocation
 *
 * Pages are zeroed, or copied to, before their struct page shows their owner.
 * Until then, the tag in page->index does.
 */
static inline void kloc_machine_new_pages(struct page *page, unsigned int order,
					  gfp_t gfp)
{
	unsigned long tag;
	int i;

	if (!static_branch_unlikely(&kloc_machine_key))
		return;

	tag = kloc_machine_new_tag(gfp);
	for (i = 0; i < 1 << order; i++)
		page[i].index = tag;
}

#else /* !CONFIG_KLOC_MACHINE */

static inline void kloc_machine_new_pages(struct page *page, unsigned int order,
					  gfp_t gfp)
{
}

static inline unsigned long kloc_machine_page_pfn(void)
{
	return 0;
}

static inline unsigned long
kloc_machine_timer_ticks(unsigned long ticks, struct clock_event_device *event)
{
	return ticks;
}

static inline bool kloc_machine_timer_early(struct clock_event_device *event)
{
	return false;
}

static inline bool kloc_machine_forgets_young(void)
{
	return false;
}

static inline int kloc_machine_background_wait(void)
{
	return 0;
}

static inline void kloc_machine_tag_page(struct page *page, unsigned long tag)
{
}

static inline void kloc_machine_tag_pages(struct page **pages,
					  unsigned int count, unsigned long tag)
{
}

#endif /* CONFIG_KLOC_MACHINE */

#endif /* _LINUX_KLOC_MACHINE_H */

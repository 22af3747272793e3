/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two-tier machine: what the rest of the kernel calls.
 *
 * Everything here compiles to nothing without CONFIG_KLOC_MACHINE, and is a
 * no-op behind a static key until the timing model is found.
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
 * kloc_machine_timer_ticks() - what to program the local APIC timer with
 * @ticks: ticks of the machine's time until the event
 * @event: the clock event device of this CPU
 *
 * The timer counts instructions, not the machine's time.
 *
 * Return: ticks until the timer interrupt, which never comes too late by much,
 * but may well come early, see kloc_machine_timer_early().
 */
static inline unsigned long
kloc_machine_timer_ticks(unsigned long ticks, struct clock_event_device *event)
{
	if (static_branch_unlikely(&kloc_machine_timer_key))
		return __kloc_machine_timer_ticks(ticks, event);
	return ticks;
}

/**
 * kloc_machine_timer_early() - is a timer interrupt ahead of its time?
 * @event: the clock event device of this CPU
 *
 * Return: true when the machine's time has not reached the event yet. The
 * timer has then been programmed for the rest, and its handler must not run.
 */
static inline bool kloc_machine_timer_early(struct clock_event_device *event)
{
	return static_branch_unlikely(&kloc_machine_timer_key) &&
	       __kloc_machine_timer_early(event);
}

/**
 * kloc_machine_forgets_young() - does a cleared accessed bit take the page
 * out of the TLB?
 *
 * Linux leaves it in, and trusts that it falls out soon. QEMU's TLB is large,
 * and grows and shrinks by the host's time: which accesses are seen again
 * would depend on the host.
 *
 * Return: true in the two-tier machine.
 */
static inline bool kloc_machine_forgets_young(void)
{
	return static_branch_unlikely(&kloc_machine_background_key);
}

/**
 * kloc_machine_background_wait() - let time catch up with a background thread
 *
 * A background thread runs on a core of its own, as far as time is concerned.
 * One whose core is ahead of the machine's time sleeps here until the machine
 * is there too. Called where the thread offers to be rescheduled.
 *
 * Return: whether it slept, as cond_resched() does: 0 or 1.
 */
static inline int kloc_machine_background_wait(void)
{
	if (static_branch_unlikely(&kloc_machine_background_key))
		return __kloc_machine_background_wait();
	return 0;
}

/**
 * kloc_machine_tag_page() - tell the timing model what a page is used for
 * @page: head of an allocation that nobody else keeps a private value in
 * @tag: one of KLOC_MACHINE_TAG_*
 *
 * The page allocator clears the tag when it hands out the page the next time.
 */
static inline void kloc_machine_tag_page(struct page *page, unsigned long tag)
{
	if (static_branch_unlikely(&kloc_machine_key))
		page->private = tag;
}

/**
 * kloc_machine_tag_pages() - tell the timing model what pages are used for
 * @pages: heads of allocations, see kloc_machine_tag_page()
 * @count: how many
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
 * kloc_machine_new_tag() - what are pages asked for?
 * @gfp: flags of the request
 *
 * Page cache says that it will write (__GFP_WRITE) or reads ahead
 * (__GFP_NORETRY), a block device does without high memory. Requests for
 * migration do not tell (__GFP_NOMEMALLOC), but for huge pages.
 *
 * Return: one of KLOC_MACHINE_NEW_*, or 0 if it does not say.
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
 * @page: the first of them, which the allocator is about to hand out
 * @order: there are 2^order
 * @gfp: flags of the request
 *
 * Pages are zeroed, and copied to, before their owner can be told from their
 * struct page.
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

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: the bytes that say what is known of a page, see page.c.
 */
#ifndef _MM_TIERING_PAGE_H
#define _MM_TIERING_PAGE_H

#include <linux/bits.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>

/**
 * union tiering_page - of one page
 * @word: all of it
 * @history: in which of eight scans it was used, bit 0 for the last of them
 * @moves: between nodes, since it came into the page cache
 * @scan: the last of these scans, modulo 2^16
 * @moved: scan in which it was moved the last time, modulo 2^16
 * @reason: why the policy moved it, one more than enum tiering_reason; 0 if it did not
 * @uses: scans in which it was used since then, U8_MAX for more
 */
union tiering_page {
	u64 word;
	struct {
		u8 history;
		u8 moves;
		u16 scan;
		u16 moved;
		u8 reason;
		u8 uses;
	};
};

static_assert(sizeof(union tiering_page) == 8);

/**
 * struct tiering_pages - of the pages of a node
 * @rcu: for freeing it
 * @start: first page frame
 * @count: of page frames
 * @pages: their bytes
 */
struct tiering_pages {
	struct rcu_head rcu;
	unsigned long start;
	unsigned long count;
	union tiering_page pages[] __counted_by(count);
};

extern struct tiering_pages __rcu *tiering_node_pages[MAX_NUMNODES];
extern u16 tiering_scan;

/**
 * tiering_page_of() - the bytes of a folio
 * @folio: the folio
 *
 * Context: RCU read-side critical section, of any kind.
 * Return: them; NULL if there are none.
 */
static inline union tiering_page *tiering_page_of(struct folio *folio)
{
	struct tiering_pages *pages;
	unsigned long number;

	pages = rcu_dereference_check(tiering_node_pages[folio_nid(folio)],
				      rcu_read_lock_any_held());
	if (!pages)
		return NULL;
	number = folio_pfn(folio) - pages->start;
	return number < pages->count ? &pages->pages[number] : NULL;
}

static inline union tiering_page tiering_page_read(const union tiering_page *page)
{
	return (union tiering_page) { .word = READ_ONCE(page->word) };
}

/**
 * tiering_page_is_noted() - is there nothing to note of a folio that is used?
 * @folio: the folio
 *
 * Context: RCU read-side critical section, of any kind.
 * Return: true if it was used in this scan before, or if it has no bytes.
 */
static inline bool tiering_page_is_noted(struct folio *folio)
{
	const struct tiering_pages *pages;
	union tiering_page now;
	unsigned long number;

	pages = rcu_dereference_check(tiering_node_pages[folio_nid(folio)],
				      rcu_read_lock_any_held());
	if (!pages)
		return true;
	number = folio_pfn(folio) - pages->start;
	if (number >= pages->count)
		return true;
	now = tiering_page_read(&pages->pages[number]);
	return now.history & BIT(0) && now.scan == READ_ONCE(tiering_scan);
}

#endif /* _MM_TIERING_PAGE_H */

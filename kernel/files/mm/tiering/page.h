/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: the records of uses and moves, see page.c.
 */
#ifndef _MM_TIERING_PAGE_H
#define _MM_TIERING_PAGE_H

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/rcupdate.h>
#include <linux/tiering_use.h>
#include <linux/workqueue.h>

#include "policy.h"

/**
 * union tiering_page - the record of a folio
 * @word: the record as one word, for reads and writes in one go
 * @use: uses and moves, since the folio came into the page cache
 * @scan: the scan of bit 0 of the history, modulo 2^16
 * @moved: the scan of the last move, modulo 2^16
 */
union tiering_page {
	u64 word;
	struct {
		struct tiering_use use;
		u16 scan;
		u16 moved;
	};
};

static_assert(sizeof(union tiering_page) == 8);

/**
 * struct tiering_sections - the records of all memory that is online
 * @free: work that frees the table and the records
 * @first: number of the first memory section
 * @count: number of sections
 * @records: records of each section's pages, NULL for a section that is offline
 */
struct tiering_sections {
	struct rcu_work free;
	unsigned long first;
	unsigned long count;
	union tiering_page __rcu *records[] __counted_by(count);
};

/* The table is empty while no selected policy needs records. */
extern struct tiering_sections __rcu *tiering_sections;
extern u16 tiering_scan;

/**
 * tiering_record_at() - find the record of a page frame
 * @sections: the table of records
 * @pfn: the page frame
 *
 * Context: RCU read-side critical section, of any kind.
 * Return: the record; NULL if there is none.
 */
static inline union tiering_page *
tiering_record_at(const struct tiering_sections *sections, unsigned long pfn)
{
	unsigned long number = pfn_to_section_nr(pfn) - sections->first;
	union tiering_page *records;

	if (number >= sections->count)
		return NULL;
	records = rcu_dereference_check(sections->records[number],
					rcu_read_lock_any_held());
	return records ? &records[pfn & ~PAGE_SECTION_MASK] : NULL;
}

/**
 * tiering_page_of() - find the record of a folio
 * @folio: the folio
 *
 * Context: RCU read-side critical section, of any kind.
 * Return: the record; NULL if there is none.
 */
static inline union tiering_page *tiering_page_of(struct folio *folio)
{
	return tiering_record_at(rcu_dereference_check(tiering_sections,
						       rcu_read_lock_any_held()),
				 folio_pfn(folio));
}

/* The history of a new page, which counts as used in all scans before its first one. */
#define TIERING_BIRTH		U8_MAX

/**
 * tiering_use_scan() - note that a scan of page tables has found the page
 * @use: the record
 *
 * The oldest scan is forgotten. A hint fault sets bit 0 of the history, if the page is
 * used before its next scan (AutoTiering, slide "Enforcing page promotion and
 * migration": the access history comes from AutoNUMA).
 */
static inline void tiering_use_scan(struct tiering_use *use)
{
	use->history <<= 1;
}

/**
 * tiering_use_level() - get the number of scans in which the page was used
 * @use: the record
 *
 * Return: the level of the page, 0 to 8; the least accessed pages (LAP) have the lowest
 * level (AutoTiering, slide "Effectiveness of LAP classification").
 */
static inline unsigned int tiering_use_level(const struct tiering_use *use)
{
	return hweight8(use->history);
}

/**
 * tiering_copy_has_paid() - test whether the last copy of a page was worth its cost
 * @use: the record of the page
 * @scans: the number of scans since the copy
 *
 * A demotion pays if the page stays for more than TIERING_SOON scans, a promotion if
 * the page is used in TIERING_USES_TO_PAY scans.
 *
 * Return: true if it was, or if no policy asked for the copy.
 */
static inline bool tiering_copy_has_paid(const struct tiering_use *use, u16 scans)
{
	if (!use->reason)
		return true;
	return use->reason - 1 >= TIERING_PROMOTED_ACTIVE ?
	       use->uses >= TIERING_USES_TO_PAY : scans > TIERING_SOON;
}

static inline union tiering_page tiering_page_read(const union tiering_page *page)
{
	return (union tiering_page) { .word = READ_ONCE(page->word) };
}

/**
 * tiering_page_is_noted() - test whether a use of a folio is recorded already
 * @folio: the folio
 *
 * Context: RCU read-side critical section, of any kind.
 * Return: true if the folio was used in this scan before, or has no record.
 */
static inline bool tiering_page_is_noted(struct folio *folio)
{
	const union tiering_page *page = tiering_page_of(folio);
	union tiering_page now;

	if (!page)
		return true;
	now = tiering_page_read(page);
	return now.use.history & BIT(0) && now.scan == READ_ONCE(tiering_scan);
}

#endif /* _MM_TIERING_PAGE_H */

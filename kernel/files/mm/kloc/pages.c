// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: what is known of single pages.
 *
 * Four bytes for each page of memory, allocated when KLOC is switched on. They
 * are hints: a page whose bytes are changed by two at once loses one change.
 */
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "kloc.h"

/**
 * struct kloc_page - of one page
 * @heat: how often it was used of late, in KLOC_USE
 * @moves: how often it was moved since it came into the page cache
 * @scan: the scan at which @heat was right, modulo 256
 */
struct kloc_page {
	u16 heat;
	u8 moves;
	u8 scan;
};

/**
 * struct kloc_pages - of the pages of one node
 * @start: first page frame
 * @count: of page frames; what is added to the node later has no bytes
 * @pages: their bytes
 */
struct kloc_pages {
	unsigned long start;
	unsigned long count;
	struct kloc_page pages[] __counted_by(count);
};

static struct kloc_pages *node_pages[MAX_NUMNODES];

/* Scans so far: what pages know as the time. */
static u8 scans;

static struct kloc_page *page_of(struct folio *folio)
{
	struct kloc_pages *pages = READ_ONCE(node_pages[folio_nid(folio)]);
	unsigned long number;

	if (!pages)
		return NULL;
	number = folio_pfn(folio) - pages->start;
	return number < pages->count ? &pages->pages[number] : NULL;
}

/**
 * kloc_pages_alloc() - allocate for all memory that is there
 *
 * Return: 0 or -ENOMEM.
 */
int kloc_pages_alloc(void)
{
	int nid;

	for_each_node_state(nid, N_MEMORY) {
		unsigned long count = node_spanned_pages(nid);
		struct kloc_pages *pages;

		pages = vzalloc(struct_size(pages, pages, count));
		if (!pages) {
			kloc_pages_free();
			return -ENOMEM;
		}
		pages->start = node_start_pfn(nid);
		pages->count = count;
		WRITE_ONCE(node_pages[nid], pages);
	}
	return 0;
}

/**
 * kloc_pages_free() - free it, when nobody looks any more
 */
void kloc_pages_free(void)
{
	int nid;

	for (nid = 0; nid < MAX_NUMNODES; nid++) {
		vfree(node_pages[nid]);
		node_pages[nid] = NULL;
	}
}

/**
 * kloc_page_pinned() - has a folio moved too often?
 * @folio: the folio
 *
 * Return: true if it should stay where it is.
 */
bool kloc_page_pinned(struct folio *folio)
{
	const struct kloc_page *page = page_of(folio);

	return page && READ_ONCE(page->moves) >= kloc_settings.pin;
}

/**
 * kloc_page_moved() - a folio moves
 * @src: where it was
 * @dst: where it will be
 */
void kloc_page_moved(struct folio *src, struct folio *dst)
{
	const struct kloc_page *old = page_of(src);
	struct kloc_page *new = page_of(dst);

	if (!old || !new)
		return;
	*new = *old;
	if (new->moves < U8_MAX)
		new->moves++;
}

/**
 * kloc_page_new() - a folio was added to the page cache
 * @folio: the folio, which is about to be used
 */
void kloc_page_new(struct folio *folio)
{
	struct kloc_page *page = page_of(folio);

	if (page)
		*page = (struct kloc_page) {
			.heat = KLOC_USE,
			.scan = READ_ONCE(scans),
		};
}

static u8 since(const struct kloc_page *page)
{
	return READ_ONCE(scans) - READ_ONCE(page->scan);
}

/**
 * kloc_page_use() - a folio is used
 * @folio: the folio
 *
 * Uses that follow one upon the other, as those of one who reads or writes it
 * bit by bit, say no more than the first of them.
 *
 * Return: its level if that has risen, or 0.
 */
unsigned int kloc_page_use(struct folio *folio)
{
	struct kloc_page *page = page_of(folio);
	unsigned int level;

	if (!page || (page->heat && since(page) < KLOC_APART))
		return 0;
	page->heat = kloc_page_heat(page->heat, since(page));
	level = kloc_page_level(page->heat);
	page->heat = min(page->heat + KLOC_USE, U16_MAX);
	page->scan = READ_ONCE(scans);
	return kloc_page_level(page->heat) > level ? level + 1 : 0;
}

/**
 * kloc_page_level_of() - how hot is a folio?
 * @folio: the folio
 *
 * Return: its level; the highest for memory that was added meanwhile.
 */
unsigned int kloc_page_level_of(struct folio *folio)
{
	const struct kloc_page *page = page_of(folio);

	return page ? kloc_page_level(kloc_page_heat(page->heat, since(page)))
		    : KLOC_LEVELS - 1;
}

/**
 * kloc_pages_scan() - a scan begins; what was used before is a scan older now
 */
void kloc_pages_scan(void)
{
	WRITE_ONCE(scans, scans + 1);
}

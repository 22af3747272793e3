// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: what is known of single pages.
 *
 * Two bytes for each page of memory, allocated when KLOC is switched on. They
 * are hints: a page whose bytes are changed by two at once loses one change.
 */
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "kloc.h"

/**
 * struct kloc_page - of one page
 * @moves: how often it was moved since it came into the page cache
 * @history: a bit for each of the last scans, set if it had been used
 */
struct kloc_page {
	u8 moves;
	u8 history;
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
 * @folio: the folio
 */
void kloc_page_new(struct folio *folio)
{
	struct kloc_page *page = page_of(folio);

	if (page)
		*page = (struct kloc_page) { .history = BIT(7) };
}

/**
 * kloc_page_age() - a scan comes by a folio
 * @folio: the folio
 * @used: whether it was used since the last scan
 *
 * Return: how hot it is.
 */
unsigned int kloc_page_age(struct folio *folio, bool used)
{
	struct kloc_page *page = page_of(folio);

	if (!page)
		return used ? 8 : 0;
	page->history = page->history >> 1 | (used ? BIT(7) : 0);
	return kloc_page_heat(page->history);
}

/**
 * kloc_page_heat_of() - how hot was a folio at the last scan?
 * @folio: the folio
 *
 * Return: 0 to 8.
 */
unsigned int kloc_page_heat_of(struct folio *folio)
{
	const struct kloc_page *page = page_of(folio);

	return page ? kloc_page_heat(READ_ONCE(page->history)) : 8;
}

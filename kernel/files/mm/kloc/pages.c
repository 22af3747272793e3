// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: what is known of single pages.
 *
 * Four bytes for each page of memory, allocated when KLOC is switched on. They
 * are hints: a page whose bytes are changed by two at once loses one change.
 */
#include <linux/bits.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "kloc.h"

/**
 * struct kloc_page - of one page
 * @heat: how often it was used of late, in KLOC_USE
 * @moves: how often it was moved since it came into the page cache
 * @used: the tick at which it was used last, modulo 2^12
 * @trial: the reason for which it was promoted, 0 if it was not
 */
struct kloc_page {
	u8 heat;
	u8 moves;
	u16 used : 12;
	u16 trial : 4;
};

#define TICKS		BIT(12)
#define TRIALS		BIT(4)

static_assert(sizeof(struct kloc_page) == 4);
static_assert(TRIALS >= KLOC_TRIALS);

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

/* A tick, what pages know as the time, is 2 to the power of that in jiffies. */
static u8 tick_shift;

static u16 now(void)
{
	unsigned long time = jiffies;

	return (time >> READ_ONCE(tick_shift)) % TICKS;
}

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
 * kloc_pages_size() - how much memory does it take?
 *
 * Context: RCU read-side critical section.
 * Return: bytes, 0 while KLOC is off.
 */
unsigned long kloc_pages_size(void)
{
	unsigned long bytes = 0;
	int nid;

	for (nid = 0; nid < MAX_NUMNODES; nid++) {
		const struct kloc_pages *pages = READ_ONCE(node_pages[nid]);

		if (pages)
			bytes += struct_size(pages, pages, pages->count);
	}
	return bytes;
}

static u16 since(const struct kloc_page *page)
{
	return (now() - page->used) % TICKS;
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
 * @trial: the reason for which it is promoted, 0 if it is not
 */
void kloc_page_moved(struct folio *src, struct folio *dst, unsigned int trial)
{
	const struct kloc_page *old = page_of(src);
	struct kloc_page *new = page_of(dst);

	if (!old || !new)
		return;
	*new = *old;
	/* Compaction changes nothing that counts here. */
	if (folio_nid(src) == folio_nid(dst))
		return;
	new->trial = trial;
	if (new->moves < U8_MAX)
		new->moves++;
	/* Who promotes it before it is used thinks that it is about to be. */
	if (trial >= KLOC_LEVELS) {
		new->heat = max(kloc_page_heat(new->heat, since(new)), KLOC_USE);
		new->used = now();
	}
}

/**
 * kloc_page_new() - a folio was added to the page cache
 * @folio: the folio, which is about to be used
 */
void kloc_page_new(struct folio *folio)
{
	struct kloc_page *page = page_of(folio);

	if (page)
		*page = (struct kloc_page) { .heat = KLOC_USE, .used = now() };
}

/* Was a page noted to be used in this tick before? */
static bool is_noted(const struct kloc_page *page, u16 tick)
{
	return page->used == tick && page->heat;
}

/* Note that a page is used. Return: its level. */
static unsigned int note_use(struct kloc_page *page, u16 tick)
{
	page->heat = min(kloc_page_heat(page->heat, since(page)) + KLOC_USE,
			 U8_MAX);
	page->used = tick;
	return kloc_page_level(page->heat);
}

/**
 * kloc_page_use() - a folio is used
 * @folio: the folio
 */
void kloc_page_use(struct folio *folio)
{
	struct kloc_page *page = page_of(folio);
	u16 tick = now();

	if (page && !is_noted(page, tick))
		note_use(page, tick);
}

/* A folio of the page cache is used for the first time in this tick. */
static void use(struct folio *folio, struct kloc_page *page, u16 tick)
{
	int nid = folio_nid(folio);
	struct kloc_node *node = READ_ONCE(kloc_near[nid]);
	unsigned int level;

	if (!node || !kloc_moves() || folio_test_anon(folio) ||
	    folio_test_unevictable(folio))
		return;
	level = note_use(page, tick);
	if (level && node->nid != nid)
		kloc_queue_used(node, folio, level);
	else if (level && page->trial)
		kloc_promoted_used(node, folio, page->trial);
}

/*
 * Called by kloc_folio_used(). Uses in one tick, as those of one who reads or writes
 * it bit by bit, say no more than the first of them.
 */
void __kloc_folio_used(struct folio *folio)
{
	struct kloc_page *page;
	u16 tick = now();

	kloc_enter();
	page = page_of(folio);
	if (page && !is_noted(page, tick))
		use(folio, page, tick);
	kloc_leave();
}

/**
 * kloc_page_level_of() - how hot is a folio?
 * @folio: the folio
 *
 * Return: its level; the highest for memory that was added meanwhile.
 */
unsigned int kloc_page_level_of(struct folio *folio)
{
	struct kloc_page *page = page_of(folio);
	u8 heat;

	if (!page)
		return KLOC_LEVELS - 1;
	heat = kloc_page_heat(page->heat, since(page));
	/* Ticks begin anew before long, and it would look as if it were used now. */
	if (!heat && page->heat)
		page->heat = 0;
	return kloc_page_level(heat);
}

/**
 * kloc_page_failed() - a folio could not be moved
 * @folio: the folio, which is left alone for as long as if it were used
 */
void kloc_page_failed(struct folio *folio)
{
	struct kloc_page *page = page_of(folio);

	if (!page)
		return;
	page->heat = KLOC_USE << KLOC_LEVELS / 2;
	page->used = now();
}

/**
 * kloc_pages_set_tick() - set for how long uses of a page count once
 * @us: at most, but a jiffy at least
 */
void kloc_pages_set_tick(unsigned long us)
{
	WRITE_ONCE(tick_shift, ilog2(max(usecs_to_jiffies(us), 1UL)));
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: what is known of single pages.
 *
 * Eight bytes for each page of memory, allocated while a policy is selected that needs
 * them. They are read and written together. They are hints: a page whose bytes are
 * changed by two at once loses one change. Those of a large folio are its first page's.
 */
#include <linux/bits.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/vmalloc.h>

#include "page.h"
#include "tiering.h"

struct tiering_pages __rcu *tiering_node_pages[MAX_NUMNODES];

/* Number of the scan. */
u16 tiering_scan;

/* Keep what is known of the pages that the node had before. */
static void tiering_pages_copy(struct tiering_pages *new,
			       const struct tiering_pages *old)
{
	unsigned long first = max(new->start, old->start);
	unsigned long end = min(new->start + new->count, old->start + old->count);

	if (first < end)
		memcpy(&new->pages[first - new->start],
		       &old->pages[first - old->start],
		       (end - first) * sizeof(*new->pages));
}

/* Have bytes for all pages that a node has now. */
static int tiering_pages_resize(int nid)
{
	unsigned long start = node_start_pfn(nid), count = node_spanned_pages(nid);
	struct tiering_pages *old, *new = NULL;

	old = rcu_dereference_protected(tiering_node_pages[nid], true);
	if (old && old->start == start && old->count == count)
		return 0;
	if (count) {
		new = vzalloc(struct_size(new, pages, count));
		if (!new)
			return -ENOMEM;
		new->start = start;
		new->count = count;
		if (old)
			tiering_pages_copy(new, old);
	}
	rcu_assign_pointer(tiering_node_pages[nid], new);
	if (old)
		kvfree_rcu(old, rcu);
	return 0;
}

/**
 * tiering_pages_start() - allocate for all memory that there is
 *
 * Context: memory hotplug is locked.
 * Return: 0, or -ENOMEM: then tiering_pages_stop() is to be called.
 */
int tiering_pages_start(void)
{
	int nid, error = 0;

	for_each_node_state(nid, N_MEMORY)
		if (!error)
			error = tiering_pages_resize(nid);
	return error;
}

/**
 * tiering_pages_update() - allocate for memory that has come, and free for what went
 *
 * Pages for which there is no memory have no bytes: they were never used or moved.
 *
 * Context: memory hotplug is locked.
 */
void tiering_pages_update(void)
{
	int nid;

	for_each_online_node(nid)
		if (tiering_pages_resize(nid))
			pr_warn("tiering: nothing is noted of the new memory of node %d\n",
				nid);
}

/**
 * tiering_pages_stop() - free all; whoever looks meanwhile may go on to
 */
void tiering_pages_stop(void)
{
	struct tiering_pages *old;
	int nid;

	for (nid = 0; nid < MAX_NUMNODES; nid++) {
		old = rcu_replace_pointer(tiering_node_pages[nid], NULL, true);
		if (old)
			kvfree_rcu(old, rcu);
	}
}

/**
 * tiering_pages_bytes() - how much memory does it take?
 *
 * Return: bytes.
 */
unsigned long tiering_pages_bytes(void)
{
	const struct tiering_pages *pages;
	unsigned long bytes = 0;
	int nid;

	rcu_read_lock();
	for (nid = 0; nid < MAX_NUMNODES; nid++) {
		pages = rcu_dereference(tiering_node_pages[nid]);
		if (pages)
			bytes += struct_size(pages, pages, pages->count);
	}
	rcu_read_unlock();
	return bytes;
}

/**
 * tiering_next_scan() - a scan is over
 */
void tiering_next_scan(void)
{
	WRITE_ONCE(tiering_scan, tiering_scan + 1);
}

static void tiering_page_write(union tiering_page *page, union tiering_page now)
{
	WRITE_ONCE(page->word, now.word);
}

/* What is known of a folio; nothing if there are no bytes for it. */
static union tiering_page tiering_folio_read(struct folio *folio)
{
	union tiering_page now = { };
	const union tiering_page *page;

	rcu_read_lock();
	page = tiering_page_of(folio);
	if (page)
		now = tiering_page_read(page);
	rcu_read_unlock();
	return now;
}

/* Note what is known of a folio from now on. */
static void tiering_folio_write(struct folio *folio, union tiering_page now)
{
	union tiering_page *page;

	rcu_read_lock();
	page = tiering_page_of(folio);
	if (page)
		tiering_page_write(page, now);
	rcu_read_unlock();
}

/* The history of a page by now. */
static u8 tiering_history(union tiering_page page, u16 scan)
{
	u16 since = scan - page.scan;

	return since < 8 ? page.history << since : 0;
}

/* Did the policy move a page, and has the copy not paid by now? */
static bool tiering_not_paid(union tiering_page page, u16 scan)
{
	u16 since = scan - page.moved;

	if (!page.reason)
		return false;
	return page.reason - 1 >= TIERING_PROMOTED_ACTIVE ?
	       page.uses < TIERING_USES_TO_PAY : since <= TIERING_SOON;
}

/* Count a page that is freed or moved back, if the policy's last copy has not paid. */
static void tiering_page_leaves(union tiering_page page, struct folio *folio,
				enum tiering_event event)
{
	if (!tiering_not_paid(page, READ_ONCE(tiering_scan)))
		return;
	/* What is about to be migrated is not locked yet, and may be truncated. */
	rcu_read_lock();
	tiering_count(event + page.reason - 1, tiering_kind_of(folio),
		      folio_nr_pages(folio));
	rcu_read_unlock();
}

/**
 * tiering_page_use() - a folio is used
 * @folio: the folio
 *
 * Several uses in a scan count once: one system call may tell of its use twice.
 *
 * Context: RCU read-side critical section.
 * Return: its history, as for the operation used of a policy; 0 if it was used in this
 * scan before, or if nothing is noted.
 */
unsigned int tiering_page_use(struct folio *folio)
{
	union tiering_page *page = tiering_page_of(folio), now;
	u16 scan = READ_ONCE(tiering_scan);

	if (!page)
		return 0;
	now = tiering_page_read(page);
	now.history = tiering_history(now, scan);
	if (now.history & BIT(0))
		return 0;
	now.history |= BIT(0);
	now.scan = scan;
	now.uses = min(now.uses + 1, U8_MAX);
	tiering_page_write(page, now);
	return now.history;
}

/**
 * tiering_page_history() - when was a folio used?
 * @folio: the folio
 *
 * Return: in which of the last eight scans, bit 0 for this one; 0 if in none, or if
 * nothing is noted.
 */
unsigned int tiering_page_history(struct folio *folio)
{
	return tiering_history(tiering_folio_read(folio), READ_ONCE(tiering_scan));
}

/**
 * tiering_page_pinned() - was a folio moved so often that it should stay?
 * @folio: the folio, of page cache
 *
 * Return: true if it should not be demoted (KLOCs, section 4.5).
 */
bool tiering_page_pinned(struct folio *folio)
{
	return tiering_folio_read(folio).moves >= READ_ONCE(tiering_settings.pin);
}

/**
 * tiering_page_new() - a folio begins a new life in the page cache
 * @folio: the folio, which is about to be used
 */
void tiering_page_new(struct folio *folio)
{
	union tiering_page now = { .scan = READ_ONCE(tiering_scan) };

	tiering_folio_write(folio, now);
}

/**
 * tiering_page_freed() - a folio is taken out of the page cache
 * @folio: the folio
 */
void tiering_page_freed(struct folio *folio)
{
	tiering_page_leaves(tiering_folio_read(folio), folio, TIERING_FREED);
}

/**
 * tiering_page_split() - a folio becomes several
 * @folio: the folio
 * @pages: how many it had until now
 */
void tiering_page_split(struct folio *folio, unsigned long pages)
{
	union tiering_page *page;
	unsigned long i;

	rcu_read_lock();
	page = tiering_page_of(folio);
	/* A large folio does not cross the end of its node. */
	for (i = 1; page && i < pages; i++)
		tiering_page_write(&page[i], tiering_page_read(page));
	rcu_read_unlock();
}

/**
 * tiering_page_move() - what is known of a folio goes with it
 * @src: where it was
 * @dst: where it will be
 * @why: it is moved; TIERING_REASONS if the policy has nothing to do with it
 */
void tiering_page_move(struct folio *src, struct folio *dst,
		       enum tiering_reason why)
{
	union tiering_page now = tiering_folio_read(src);

	/* Compaction changes nothing that counts here. */
	if (folio_nid(src) != folio_nid(dst)) {
		/* Who has moved it for another reason has taken it from @src. */
		tiering_page_leaves(now, why < TIERING_REASONS ? src : dst,
				    TIERING_RETURNED);
		/* Once, however often the move is tried. */
		now.reason = 0;
		tiering_folio_write(src, now);
		now.moves = min(now.moves + 1, U8_MAX);
		now.reason = why < TIERING_REASONS ? why + 1 : 0;
		now.moved = READ_ONCE(tiering_scan);
		now.uses = 0;
	}
	tiering_folio_write(dst, now);
}

#ifdef CONFIG_TIERING_KUNIT_TEST
#include "tests/page-kunit.h"
#endif

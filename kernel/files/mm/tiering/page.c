// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: the records of uses and moves.
 *
 * A record has eight bytes for each page of online memory. Records are allocated by
 * section while a selected policy needs them. Each is read and written as one word,
 * without a lock: of two concurrent changes, one may be lost. A large folio uses the
 * record of its first page.
 *
 * With TIERING_USES, a history has the uses of page cache, and shifts by time. With
 * TIERING_HINTS, it has the hint faults of all user memory, and shifts when a scan of
 * NUMA balancing finds the page: a page that was not scanned was not observed, and must
 * not count as unused.
 */
#include <linux/bits.h>
#include <linux/llist.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/tiering.h>
#include <linux/workqueue.h>

#include "page.h"
#include "internal.h"

/* The table without records, so that readers need no check for NULL. */
static struct tiering_sections tiering_no_sections;

struct tiering_sections __rcu *tiering_sections = RCU_INITIALIZER(&tiering_no_sections);

/* Number of the scan. */
u16 tiering_scan;

/*
 * Writers of the table hold the lock of memory hotplug: for writing in its notifier,
 * and for reading, with the lock of selection, elsewhere.
 */
static struct tiering_sections *tiering_sections_locked(void)
{
	return rcu_dereference_protected(tiering_sections, true);
}

/* Allocate a table of the sections up to @end, with the records of a smaller table. */
static struct tiering_sections *
tiering_sections_make(unsigned long first, unsigned long end,
		      const struct tiering_sections *part)
{
	struct tiering_sections *sections;
	unsigned long i;

	sections = kvzalloc(struct_size(sections, records, end - first), GFP_KERNEL);
	if (!sections)
		return NULL;
	sections->first = first;
	sections->count = end - first;
	for (i = 0; i < part->count; i++)
		rcu_assign_pointer(sections->records[part->first + i - first],
				   rcu_dereference_protected(part->records[i], true));
	return sections;
}

/* Extend the table to cover some sections. */
static int tiering_sections_cover(unsigned long first, unsigned long end)
{
	struct tiering_sections *old = tiering_sections_locked(), *new;

	if (old->count) {
		first = min(first, old->first);
		end = max(end, old->first + old->count);
		if (end - first == old->count)
			return 0;
	}
	new = tiering_sections_make(first, end, old);
	if (!new)
		return -ENOMEM;
	rcu_assign_pointer(tiering_sections, new);
	if (old != &tiering_no_sections)
		kvfree_rcu(old, free.rcu);
	return 0;
}

/* Get the record of a new folio. */
static union tiering_page tiering_page_birth(bool is_hinting, u16 scan)
{
	return (union tiering_page) {
		.use.history = is_hinting ? TIERING_BIRTH : 0,
		.scan = scan,
	};
}

/* Allocate the records of a section. Its pages count as new: nobody knows their use. */
static union tiering_page *tiering_records_alloc(bool is_hinting)
{
	union tiering_page *records;
	unsigned long i;

	records = kvcalloc(PAGES_PER_SECTION, sizeof(union tiering_page), GFP_KERNEL);
	for (i = 0; records && is_hinting && i < PAGES_PER_SECTION; i++)
		records[i] = tiering_page_birth(true, 0);
	return records;
}

/* Take records from the list of spares, or allocate them. Overwrites the list's link. */
static union tiering_page *tiering_records_take(struct llist_head *spares,
						bool is_hinting)
{
	struct llist_node *node = __llist_del_all(spares);
	union tiering_page *records;

	if (!node)
		return tiering_records_alloc(is_hinting);
	spares->first = node->next;
	records = (union tiering_page *)node;
	records[0] = tiering_page_birth(is_hinting, 0);
	return records;
}

/* Set the records of a section that the table covers. Return: the old records. */
static union tiering_page *tiering_section_set(unsigned long number,
					       union tiering_page *records)
{
	struct tiering_sections *sections = tiering_sections_locked();

	return rcu_replace_pointer(sections->records[number - sections->first],
				   records, true);
}

/**
 * tiering_pages_prepare() - allocate records for all online memory
 * @spares: list of the records for tiering_pages_start()
 * @is_hinting: the policy needs hint faults
 *
 * Takes long on machines with much memory, so the caller holds no locks yet. Stops
 * early when out of memory.
 *
 * Context: may sleep.
 */
void tiering_pages_prepare(struct llist_head *spares, bool is_hinting)
{
	union tiering_page *records;
	unsigned long number;

	for (number = 0; number <= __highest_present_section_nr; number++) {
		if (!online_section_nr(number))
			continue;
		records = tiering_records_alloc(is_hinting);
		if (!records)
			break;
		__llist_add((struct llist_node *)records, spares);
		cond_resched();
	}
}

/**
 * tiering_pages_unprepare() - free the records that are left over
 * @spares: the records
 */
void tiering_pages_unprepare(struct llist_head *spares)
{
	struct llist_node *node, *next;

	llist_for_each_safe(node, next, __llist_del_all(spares))
		kvfree(node);
}

/**
 * tiering_pages_start() - set up the records of all online memory
 * @spares: records from tiering_pages_prepare()
 * @is_hinting: the policy needs hint faults
 *
 * Context: memory hotplug is locked.
 * Return: 0, or -ENOMEM; after an error, the caller calls tiering_pages_stop().
 */
int tiering_pages_start(struct llist_head *spares, bool is_hinting)
{
	unsigned long number, first = ULONG_MAX, end = 0;
	int error;

	for (number = 0; number <= __highest_present_section_nr; number++) {
		if (!online_section_nr(number))
			continue;
		first = min(first, number);
		end = number + 1;
	}
	error = tiering_sections_cover(first, end);
	for (number = first; !error && number < end; number++) {
		union tiering_page *records;

		if (!online_section_nr(number))
			continue;
		records = tiering_records_take(spares, is_hinting);
		if (records)
			tiering_section_set(number, records);
		else
			error = -ENOMEM;
	}
	return error;
}

static void tiering_pages_add(unsigned long first, unsigned long end)
{
	unsigned long number;

	if (tiering_sections_cover(first, end))
		goto failed;
	for (number = first; number < end; number++) {
		union tiering_page *records = tiering_records_alloc(tiering_is_hinting());

		if (!records)
			goto failed;
		tiering_section_set(number, records);
	}
	return;
failed:
	pr_warn("tiering: nothing is noted of some of the new memory\n");
}

/**
 * tiering_pages_online() - add the records of memory that goes online
 * @pfn: first page frame
 * @count: number of page frames
 *
 * If the allocation fails, pages without a record count as never used or moved.
 *
 * Context: the notifier of memory hotplug.
 */
void tiering_pages_online(unsigned long pfn, unsigned long count)
{
	if (tiering_sections_locked()->count)
		tiering_pages_add(pfn_to_section_nr(pfn),
				  pfn_to_section_nr(pfn + count - 1) + 1);
}

/**
 * tiering_pages_offline() - free the records of memory that is offline
 * @pfn: first page frame
 * @count: number of page frames
 *
 * Context: the notifier of memory hotplug; may sleep.
 */
void tiering_pages_offline(unsigned long pfn, unsigned long count)
{
	const struct tiering_sections *sections = tiering_sections_locked();
	unsigned long number, end = pfn_to_section_nr(pfn + count - 1) + 1;
	union tiering_page *records;

	for (number = pfn_to_section_nr(pfn); number < end; number++) {
		/* The table does not cover the section if extending it failed. */
		if (number - sections->first >= sections->count)
			continue;
		records = tiering_section_set(number, NULL);
		if (records)
			kvfree_rcu_mightsleep(records);
	}
}

static void tiering_sections_free(struct work_struct *work)
{
	struct tiering_sections *sections =
		container_of(to_rcu_work(work), struct tiering_sections, free);
	unsigned long i;

	for (i = 0; i < sections->count; i++) {
		kvfree(rcu_dereference_protected(sections->records[i], true));
		cond_resched();
	}
	kvfree(sections);
}

/**
 * tiering_pages_stop() - free all records after a grace period
 */
void tiering_pages_stop(void)
{
	struct tiering_sections *old = tiering_sections_locked();

	if (old == &tiering_no_sections)
		return;
	rcu_assign_pointer(tiering_sections, &tiering_no_sections);
	INIT_RCU_WORK(&old->free, tiering_sections_free);
	queue_rcu_work(system_unbound_wq, &old->free);
}

/**
 * tiering_pages_bytes() - get the memory footprint of the records
 *
 * Return: bytes.
 */
unsigned long tiering_pages_bytes(void)
{
	const struct tiering_sections *sections;
	unsigned long bytes, i;

	rcu_read_lock();
	sections = rcu_dereference(tiering_sections);
	bytes = sections->count * sizeof(*sections->records);
	for (i = 0; i < sections->count; i++)
		if (rcu_access_pointer(sections->records[i]))
			bytes += PAGES_PER_SECTION * sizeof(union tiering_page);
	rcu_read_unlock();
	return bytes;
}

/**
 * tiering_next_scan() - advance the global scan
 */
void tiering_next_scan(void)
{
	WRITE_ONCE(tiering_scan, tiering_scan + 1);
}

static void tiering_page_write(union tiering_page *page, union tiering_page now)
{
	WRITE_ONCE(page->word, now.word);
}

/* Read the record of a folio; zeroes if it has none. */
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

/* Write the record of a folio. */
static void tiering_folio_write(struct folio *folio, union tiering_page now)
{
	union tiering_page *page;

	rcu_read_lock();
	page = tiering_page_of(folio);
	if (page)
		tiering_page_write(page, now);
	rcu_read_unlock();
}

/* Get the history of a page, relative to a scan. */
static u8 tiering_history(union tiering_page page, u16 scan)
{
	return tiering_use_history(&page.use, scan - page.scan);
}

/* Get the history of a page now. */
static u8 tiering_history_now(union tiering_page page)
{
	return tiering_is_hinting() ? page.use.history :
	       tiering_history(page, READ_ONCE(tiering_scan));
}

/* Count a folio that is freed or moved back before the policy's last copy has paid. */
static void tiering_page_leaves(union tiering_page page, struct folio *folio,
				enum tiering_event event)
{
	if (tiering_copy_has_paid(&page.use, READ_ONCE(tiering_scan) - page.moved))
		return;
	tiering_count(event + page.use.reason - 1, tiering_kind_of(folio),
		      folio_nr_pages(folio));
}

/**
 * tiering_page_use() - record a use of a folio
 * @folio: the folio
 *
 * Several uses in a scan count once, as one system call may report a use twice.
 *
 * Context: RCU read-side critical section.
 * Return: the history, as for the operation used of a policy; 0 if the folio was used
 * in this scan before, or has no record.
 */
unsigned int tiering_page_use(struct folio *folio)
{
	union tiering_page *page = tiering_page_of(folio), now;
	u16 scan = READ_ONCE(tiering_scan);

	if (!page)
		return 0;
	now = tiering_page_read(page);
	now.use.history = tiering_history_now(now);
	if (now.use.history & BIT(0))
		return 0;
	tiering_use_note(&now.use);
	now.scan = scan;
	tiering_page_write(page, now);
	return now.use.history;
}

/**
 * tiering_page_history() - get the history of a folio's uses
 * @folio: the folio
 *
 * Return: the scans of the last eight with a use, bit 0 for this scan; 0 if there are
 * none, or if the folio has no record.
 */
unsigned int tiering_page_history(struct folio *folio)
{
	return tiering_history_now(tiering_folio_read(folio));
}

/**
 * tiering_page_level() - get the level of a folio
 * @folio: the folio
 *
 * Return: in how many of its last eight scans the folio was used, 0 to 8; 0 if it has no
 * record.
 */
unsigned int tiering_page_level(struct folio *folio)
{
	const struct tiering_use use = { .history = tiering_page_history(folio) };

	return tiering_use_level(&use);
}

/**
 * tiering_page_scan() - note that a scan of NUMA balancing has found a folio
 * @folio: the folio
 *
 * A folio with several mappings is noted once for each mapping that is scanned.
 *
 * Context: any; the lock of a page table that maps the folio.
 */
void tiering_page_scan(struct folio *folio)
{
	union tiering_page *page, now;

	rcu_read_lock();
	page = tiering_page_of(folio);
	if (page) {
		now = tiering_page_read(page);
		tiering_use_scan(&now.use);
		tiering_page_write(page, now);
	}
	rcu_read_unlock();
}

/**
 * tiering_page_hint() - record a hint fault of a folio
 * @folio: the folio
 *
 * Context: as tiering_page_scan().
 */
void tiering_page_hint(struct folio *folio)
{
	union tiering_page *page, now;

	rcu_read_lock();
	page = tiering_page_of(folio);
	if (page) {
		now = tiering_page_read(page);
		tiering_use_note(&now.use);
		tiering_page_write(page, now);
	}
	rcu_read_unlock();
}

/**
 * tiering_page_was_used() - test whether a folio was used since it was new or moved
 * @folio: the folio
 *
 * Return: true if it was.
 */
bool tiering_page_was_used(struct folio *folio)
{
	return tiering_folio_read(folio).use.uses;
}

/**
 * tiering_page_age() - note that a folio was looked at
 * @folio: the folio
 *
 * Counts as a scan for a folio without a hint fault since it was new or moved. NUMA
 * balancing scans no memory of processes that sleep, for example, which would have the
 * history of its birth for ever.
 */
void tiering_page_age(struct folio *folio)
{
	if (!tiering_page_was_used(folio))
		tiering_page_scan(folio);
}

/**
 * tiering_page_pinned() - test whether a folio has moved too often to be demoted
 * @folio: the folio, of page cache
 *
 * A rule of contexts: policies of hint faults have no such limit.
 *
 * Return: true if it should not be demoted (KLOCs, section 4.5).
 */
bool tiering_page_pinned(struct folio *folio)
{
	return !tiering_is_hinting() &&
	       tiering_folio_read(folio).use.moves >= READ_ONCE(tiering_settings.pin);
}

/**
 * tiering_page_new() - reset the record of a new folio
 * @folio: the folio: new page cache or, with hint faults, new anonymous memory
 */
void tiering_page_new(struct folio *folio)
{
	tiering_folio_write(folio, tiering_page_birth(tiering_is_hinting(),
						      READ_ONCE(tiering_scan)));
}

/**
 * tiering_page_freed() - count a wasted copy of a folio that leaves the page cache
 * @folio: the folio
 */
void tiering_page_freed(struct folio *folio)
{
	tiering_page_leaves(tiering_folio_read(folio), folio, TIERING_FREED);
}

/**
 * tiering_page_split() - copy the record of a large folio to its parts
 * @folio: the first part
 * @pages: number of pages before the split
 */
void tiering_page_split(struct folio *folio, unsigned long pages)
{
	union tiering_page *page;
	unsigned long i;

	rcu_read_lock();
	page = tiering_page_of(folio);
	/* A large folio does not cross the end of a section. */
	for (i = 1; page && i < pages; i++)
		tiering_page_write(&page[i], tiering_page_read(page));
	rcu_read_unlock();
}

/**
 * tiering_page_move() - move the record of a folio that was migrated
 * @src: the old folio
 * @dst: the new folio, locked
 * @why: reason of the move; TIERING_REASONS if no policy asked for it
 */
void tiering_page_move(struct folio *src, struct folio *dst,
		       enum tiering_reason why)
{
	union tiering_page now = tiering_folio_read(src);

	/* Compaction moves within a node: the record stays the same. */
	if (folio_nid(src) != folio_nid(dst)) {
		/* By now @dst, not @src, is in the page cache. */
		bool leaves_tier = tiering_is_slow(folio_nid(src)) !=
				   tiering_is_slow(folio_nid(dst));

		if (leaves_tier)
			tiering_page_leaves(now, dst, TIERING_RETURNED);
		/* Others may move it within a tier: the policy's copy is still there. */
		if (leaves_tier || why < TIERING_REASONS) {
			tiering_use_move(&now.use, why < TIERING_REASONS ? why + 1 : 0);
			now.moved = READ_ONCE(tiering_scan);
		}
	}
	tiering_folio_write(dst, now);
}

#ifdef CONFIG_TIERING_KUNIT_TEST
#include "tests/page-kunit.h"
#endif

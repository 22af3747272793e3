// SPDX-License-Identifier: GPL-2.0
/*
 * The two-tier machine: counts of migrated pages, by kind, reason and thread.
 */
#define pr_fmt(fmt) "kloc_machine: " fmt

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/init.h>
#include <linux/memory-tiers.h>
#include <linux/migrate_mode.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include <trace/events/migrate.h>

#include "machine.h"

static enum kloc_machine_kind kind_of(const struct folio *folio)
{
	if (folio_test_anon(folio))
		return KLOC_MACHINE_ANON;
	if (folio_test_swapbacked(folio))
		return KLOC_MACHINE_SHMEM;
	if (folio->mapping)
		return KLOC_MACHINE_FILE;
	return KLOC_MACHINE_OTHER;
}

static enum kloc_machine_reason reason_of(int reason)
{
	switch (reason) {
	case MR_NUMA_MISPLACED:
		return KLOC_MACHINE_HINT_FAULT;
	case MR_DEMOTION:
		return KLOC_MACHINE_DEMOTION;
	case MR_COMPACTION:
		return KLOC_MACHINE_COMPACTION;
	case MR_SYSCALL:
	case MR_MEMPOLICY_MBIND:
		return KLOC_MACHINE_MEMPOLICY;
	case MR_DAMON:
		return KLOC_MACHINE_DAMON;
	case MR_TIERING:
		return KLOC_MACHINE_CONTEXT;
	}
	return KLOC_MACHINE_OTHER_REASON;
}

/* Counters are read by the model, at any time. */
static void count(__u64 *counter, long pages)
{
	atomic64_add(pages, (atomic64_t *)counter);
}

/**
 * kloc_machine_slot_of() - find or assign the slot of a thread
 * @slots: KLOC_MACHINE_SLOTS of them; the first that are in use, in order
 * @comm: name of the thread
 *
 * Threads of the same name share a slot: a DAMON thread that is stopped and
 * started again keeps its.
 *
 * Return: the slot. When all others are taken, the last one, "others".
 */
struct kloc_machine_slot *kloc_machine_slot_of(struct kloc_machine_slot *slots,
					       const char *comm)
{
	static DEFINE_SPINLOCK(lock);
	struct kloc_machine_slot *last = slots + KLOC_MACHINE_SLOTS - 1;
	struct kloc_machine_slot *slot;

	BUILD_BUG_ON(TASK_COMM_LEN != KLOC_MACHINE_COMM);

	spin_lock(&lock);
	for (slot = slots; slot < last; slot++) {
		if (!slot->comm[0] || !strncmp(slot->comm, comm, TASK_COMM_LEN))
			break;
	}
	if (!slot->comm[0])
		strscpy_pad(slot->comm, slot < last ? comm : "others");
	spin_unlock(&lock);
	return slot;
}

static void on_migrate(void *data, struct folio *source,
		       struct folio *folio, int reason)
{
	struct kloc_machine_page *page = &kloc_machine_page;
	bool from_top = node_is_toptier(folio_nid(source));
	bool to_top = node_is_toptier(folio_nid(folio));
	long pages = folio_nr_pages(folio);

	if (to_top && !from_top) {
		count(&page->promoted[kind_of(folio)], pages);
		count(&page->promoted_by[reason_of(reason)], pages);
	} else if (from_top && !to_top) {
		count(&page->demoted[kind_of(folio)], pages);
		count(&page->demoted_by[reason_of(reason)], pages);
	}
	count(&kloc_machine_slot_of(page->slots, current->comm)->migrated,
	      pages);
}

static int __init migrate_init(void)
{
	int error;

	if (!kloc_machine_present())
		return 0;

	error = register_trace_mm_migrate_folio(on_migrate, NULL);
	if (error)
		pr_err("cannot count migrations: %d\n", error);
	return error;
}
device_initcall(migrate_init);

// SPDX-License-Identifier: GPL-2.0
/*
 * The two-tier machine: counts of migrated pages, by kind, reason and thread.
 */
#define pr_fmt(fmt) "kloc_machine: " fmt

#include <linux/init.h>
#include <linux/memory-tiers.h>
#include <linux/migrate_mode.h>
#include <linux/mm.h>
#include <linux/preempt.h>

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
	case MR_KLOC:
		return KLOC_MACHINE_CONTEXT;
	}
	return KLOC_MACHINE_OTHER_REASON;
}

static void on_migrate(void *data, struct folio *source,
		       struct folio *folio, int reason)
{
	struct kloc_machine_page *page = kloc_machine_page;
	bool from_top = node_is_toptier(folio_nid(source));
	bool to_top = node_is_toptier(folio_nid(folio));
	long pages = folio_nr_pages(folio);

	/* One CPU: without preemption, no other thread changes the counts. */
	preempt_disable_notrace();
	if (to_top && !from_top) {
		page->promoted[kind_of(folio)] += pages;
		page->promoted_by[reason_of(reason)] += pages;
	} else if (from_top && !to_top) {
		page->demoted[kind_of(folio)] += pages;
		page->demoted_by[reason_of(reason)] += pages;
	}
	page->slots[page->slot].migrated += pages;
	preempt_enable_notrace();
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

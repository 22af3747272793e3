// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: counts of events, one file each, in the folders anon, file,
 * blockdev, slab, kernel and socket of /sys/kernel/mm/tiering/stats.
 */
#include <linux/kobject.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "internal.h"

static DEFINE_PER_CPU(unsigned long [TIERING_EVENTS][TIERING_KINDS],
		      tiering_counts);

static const char * const tiering_reason_names[TIERING_REASONS] = {
	[TIERING_DEMOTED_INACTIVE]	= "demoted_inactive",
	[TIERING_DEMOTED_UNUSED]	= "demoted_unused",
	[TIERING_DEMOTED_OLD]		= "demoted_old",
	[TIERING_DEMOTED_RANDOM]	= "demoted_random",
	[TIERING_DEMOTED_LIMIT]		= "demoted_limit",
	[TIERING_DEMOTED_PAIR]		= "demoted_pair",
	[TIERING_DEMOTED_COLD]		= "demoted_cold",
	[TIERING_PROMOTED_ACTIVE]	= "promoted_active",
	[TIERING_PROMOTED_USED]		= "promoted_used",
	[TIERING_PROMOTED_HINT]		= "promoted_hint",
};

/*
 * Suffixes to the names of reasons, for the events that have a count for each reason.
 */
static const char * const tiering_suffixes[] = { "", "_freed", "_returned" };

static const char * const tiering_event_names[] = {
	[TIERING_NOT_PINNED - TIERING_NOT_PINNED]	= "not_moved_pinned",
	[TIERING_NOT_BUSY - TIERING_NOT_PINNED]		= "not_moved_busy",
	[TIERING_NOT_MOVABLE - TIERING_NOT_PINNED]	= "not_moved_unmovable",
	[TIERING_NOT_LIMIT - TIERING_NOT_PINNED]	= "not_moved_limit",
	[TIERING_NOT_PROTECTED - TIERING_NOT_PINNED]	= "not_moved_protected",
	[TIERING_NOT_MIGRATED - TIERING_NOT_PINNED]	= "not_moved_failed",
	[TIERING_PLACED_FAST - TIERING_NOT_PINNED]	= "placed_fast",
	[TIERING_PLACED_SLOW - TIERING_NOT_PINNED]	= "placed_slow",
	[TIERING_PLACED_ELSEWHERE - TIERING_NOT_PINNED]	= "placed_elsewhere",
};

static const char * const tiering_kind_names[TIERING_KINDS] = {
	[TIERING_ANON]		= "anon",
	[TIERING_FILE]		= "file",
	[TIERING_BLOCKDEV]	= "blockdev",
	[TIERING_SLAB]		= "slab",
	[TIERING_KERNEL]	= "kernel",
	[TIERING_SOCKET]	= "socket",
};

/**
 * tiering_count() - count an event
 * @event: the event
 * @kind: kind of the pages
 * @pages: number of pages
 */
void tiering_count(enum tiering_event event, enum tiering_kind kind, long pages)
{
	this_cpu_add(tiering_counts[event][kind], pages);
}

/* Get the count of an event since boot, the sum over all CPUs. */
static unsigned long tiering_counted(enum tiering_event event, enum tiering_kind kind)
{
	unsigned long sum = 0;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		/* The CPU may change its count meanwhile. */
		sum += data_race(per_cpu(tiering_counts, cpu)[event][kind]);
	}
	return sum;
}

/**
 * tiering_copies() - count the copies of folios, and the wasted ones
 * @first: first reason of the copies
 * @last: last reason of the copies
 *
 * Slabs are left out: their records outlive a policy.
 *
 * Return: pages since boot.
 */
struct tiering_copies tiering_copies(enum tiering_reason first,
				     enum tiering_reason last)
{
	struct tiering_copies copies = { };
	int why, kind;

	for (why = first; why <= last; why++) {
		for (kind = 0; kind < TIERING_SLAB; kind++) {
			copies.moved += tiering_counted(TIERING_MOVED + why, kind);
			copies.wasted +=
				tiering_counted(TIERING_FREED + why, kind) +
				tiering_counted(TIERING_RETURNED + why, kind);
		}
	}
	return copies;
}

/**
 * tiering_mapping_kind() - get the kind of page cache
 * @mapping: the owner of the page cache
 *
 * Context: the inode of @mapping cannot be freed.
 * Return: the kind.
 */
enum tiering_kind tiering_mapping_kind(const struct address_space *mapping)
{
	return mapping->host && S_ISBLK(mapping->host->i_mode) ? TIERING_BLOCKDEV :
								 TIERING_FILE;
}

/**
 * tiering_mapping_of() - get the file or the block device of a folio that is not locked
 * @folio: the folio, which the caller holds
 *
 * A folio of tmpfs in the swap cache has none: it may leave it at any time, and with it
 * what folio_mapping() looks at.
 *
 * Context: RCU read-side critical section.
 * Return: the mapping; NULL if the folio is in none.
 */
struct address_space *tiering_mapping_of(struct folio *folio)
{
	struct address_space *mapping = READ_ONCE(folio->mapping);

	return (unsigned long)mapping & PAGE_MAPPING_FLAGS ? NULL : mapping;
}

/**
 * tiering_kind_of() - get the kind of a folio
 * @folio: the folio, which the caller holds or has locked
 *
 * Context: RCU read-side critical section, or the folio is locked.
 * Return: the kind; TIERING_FILE if the folio was truncated.
 */
enum tiering_kind tiering_kind_of(struct folio *folio)
{
	const struct address_space *mapping;

	if (folio_test_anon(folio))
		return TIERING_ANON;
	mapping = tiering_mapping_of(folio);
	return mapping ? tiering_mapping_kind(mapping) : TIERING_FILE;
}

/**
 * struct tiering_stat - a file with a count
 * @attr: the file
 * @event: the event
 * @kind: kind of the pages
 */
struct tiering_stat {
	struct kobj_attribute attr;
	enum tiering_event event;
	enum tiering_kind kind;
};

static ssize_t tiering_stat_show(struct kobject *kobj,
				 struct kobj_attribute *attr, char *buf)
{
	struct tiering_stat *stat = container_of(attr, struct tiering_stat, attr);

	return sysfs_emit(buf, "%lu\n", tiering_counted(stat->event, stat->kind));
}

static const char *tiering_event_name(enum tiering_event event)
{
	if (event >= TIERING_NOT_PINNED)
		return tiering_event_names[event - TIERING_NOT_PINNED];
	return kasprintf(GFP_KERNEL, "%s%s",
			 tiering_reason_names[event % TIERING_REASONS],
			 tiering_suffixes[event / TIERING_REASONS]);
}

static int __init tiering_stat_add(struct kobject *folder,
				   enum tiering_event event,
				   enum tiering_kind kind)
{
	struct tiering_stat *stat = kzalloc(sizeof(*stat), GFP_KERNEL);

	if (!stat)
		return -ENOMEM;
	stat->event = event;
	stat->kind = kind;
	sysfs_attr_init(&stat->attr.attr);
	stat->attr.attr.name = tiering_event_name(event);
	stat->attr.attr.mode = 0444;
	stat->attr.show = tiering_stat_show;
	/* The files are never removed. */
	return stat->attr.attr.name ?
	       sysfs_create_file(folder, &stat->attr.attr) : -ENOMEM;
}

/**
 * tiering_stats_add() - create the folders of all counts
 * @folder: parent folder
 *
 * Context: at boot.
 * Return: 0, or an error.
 */
int __init tiering_stats_add(struct kobject *folder)
{
	struct kobject *stats = kobject_create_and_add("stats", folder);
	int event, kind, error = stats ? 0 : -ENOMEM;

	for (kind = 0; !error && kind < TIERING_KINDS; kind++) {
		struct kobject *its;

		its = kobject_create_and_add(tiering_kind_names[kind], stats);
		if (!its)
			error = -ENOMEM;
		for (event = 0; !error && event < TIERING_EVENTS; event++)
			error = tiering_stat_add(its, event, kind);
	}
	return error;
}

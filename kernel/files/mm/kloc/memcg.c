// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: what memory cgroups say of them, and the files
 * memory.kloc.* in which they do, see Documentation/admin-guide/mm/kloc.rst.
 */
#include <linux/atomic.h>
#include <linux/cgroup.h>
#include <linux/init.h>
#include <linux/memcontrol.h>
#include <linux/memory-tiers.h>
#include <linux/mutex.h>
#include <linux/page_counter.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/xarray.h>

#include "kloc.h"

/* The group that pays for what this task uses; NULL for the kernel. */
static struct mem_cgroup *kloc_current_group(void)
{
	if (mem_cgroup_disabled() || !current->mm || current->flags & PF_KTHREAD)
		return NULL;
	return mem_cgroup_from_task(current);
}

/* Was one of a group and those above it chosen? */
static bool kloc_is_chosen(struct mem_cgroup *group)
{
	for (; group; group = parent_mem_cgroup(group))
		if (READ_ONCE(group->kloc_enabled))
			return true;
	return false;
}

/**
 * kloc_is_group_chosen() - was a group chosen that this task is in?
 *
 * Return: true if its group or one above it was chosen.
 */
bool kloc_is_group_chosen(void)
{
	bool chosen;

	rcu_read_lock();
	chosen = kloc_is_chosen(kloc_current_group());
	rcu_read_unlock();
	return chosen;
}

/*
 * The cgroups with a limit, by the id of their css, while they are online. daemons
 * look at these only. Their limits, and kloc_used by kloc_count_pages(), change under
 * the mutex.
 */
static DEFINE_XARRAY(kloc_limited);
static DEFINE_MUTEX(kloc_limited_mutex);

/* Charge a cgroup alone, but not beyond its limit. */
static bool kloc_charge_one(struct mem_cgroup *group, long pages)
{
	unsigned long max = kloc_memcg_max(group);
	long used;

	if (max == KLOC_NO_LIMIT)
		return true;
	used = atomic_long_read(&group->kloc_used);
	do {
		if (used + pages > (long)max)
			return false;
	} while (!atomic_long_try_cmpxchg(&group->kloc_used, &used, used + pages));
	return true;
}

/* Uncharge a cgroup and those above it, up to @end, which is not uncharged. */
static void kloc_uncharge_up_to(struct mem_cgroup *group,
				struct mem_cgroup *end, long pages)
{
	for (; group != end; group = parent_mem_cgroup(group))
		if (kloc_memcg_max(group) != KLOC_NO_LIMIT)
			atomic_long_sub(pages, &group->kloc_used);
}

/* Charge a cgroup and all above it that have a limit, or none of them. */
static bool kloc_charge(struct mem_cgroup *group, long pages)
{
	struct mem_cgroup *above;

	for (above = group; above; above = parent_mem_cgroup(above)) {
		if (kloc_charge_one(above, pages))
			continue;
		kloc_uncharge_up_to(group, above, pages);
		return false;
	}
	return true;
}

/**
 * kloc_memcg_charge() - charge new page cache in fast memory to this task's cgroup
 * @pages: pages that are to be allocated
 * @charged: set to the cgroup, for kloc_memcg_uncharge(); NULL if there is none
 *
 * The daemon of a node counts what limited cgroups really have each time it wakes, and corrects
 * the charge: pages that were freed or demoted are uncharged only then. A page that
 * is not on an LRU list yet is not counted, so a cgroup may exceed its limit by as
 * many folios as CPUs hold back from the LRU lists, PAGEVEC_SIZE for each CPU.
 *
 * Context: RCU read-side critical section.
 * Return: false if a limit forbids it; then nothing is charged.
 */
bool kloc_memcg_charge(unsigned int pages, struct mem_cgroup **charged)
{
	*charged = kloc_current_group();
	if (kloc_charge(*charged, pages))
		return true;
	*charged = NULL;
	return false;
}

/**
 * kloc_memcg_uncharge() - uncharge pages that could not be allocated
 * @charged: as kloc_memcg_charge() set it; NULL to do nothing
 * @pages: pages that were charged
 *
 * Context: the RCU read-side critical section of the charge.
 */
void kloc_memcg_uncharge(struct mem_cgroup *charged, unsigned int pages)
{
	kloc_uncharge_up_to(charged, NULL, pages);
}

/* As where new pages go: page cache of tmpfs is not counted. */
static bool kloc_is_charged(const struct folio *folio)
{
	return READ_ONCE(kloc_limits) && !folio_test_swapbacked(folio);
}

/**
 * kloc_memcg_charge_folio() - charge a folio that is to be promoted
 * @folio: the folio, locked
 *
 * Return: false if a limit of its cgroups forbids it; then nothing is charged.
 */
bool kloc_memcg_charge_folio(struct folio *folio)
{
	bool charged;

	if (!kloc_is_charged(folio))
		return true;
	rcu_read_lock();
	charged = kloc_charge(folio_memcg_rcu(folio), folio_nr_pages(folio));
	rcu_read_unlock();
	return charged;
}

/**
 * kloc_memcg_uncharge_folio() - uncharge a folio that was not promoted after all
 * @folio: the folio, locked or isolated
 */
void kloc_memcg_uncharge_folio(struct folio *folio)
{
	if (!kloc_is_charged(folio))
		return;
	rcu_read_lock();
	kloc_uncharge_up_to(folio_memcg_rcu(folio), NULL, folio_nr_pages(folio));
	rcu_read_unlock();
}

/* Of one group alone, without those below it. */
static unsigned long kloc_pages_on(struct mem_cgroup *group, int nid)
{
	return tiering_lruvec_files(mem_cgroup_lruvec(group, NODE_DATA(nid)), nid);
}

static unsigned long kloc_fast_pages(struct mem_cgroup *group)
{
	unsigned long pages = 0;
	int nid;

	for_each_node_state(nid, N_MEMORY)
		if (node_is_toptier(nid))
			pages += kloc_pages_on(group, nid);
	return pages;
}

/**
 * kloc_memcg_pages() - how much page cache does a group have?
 * @group: the group; those below it are counted with it
 * @nid: node to look at, NUMA_NO_NODE for all fast memory
 *
 * Context: may sleep.
 * Return: pages.
 */
unsigned long kloc_memcg_pages(struct mem_cgroup *group, int nid)
{
	struct mem_cgroup *below = NULL;
	unsigned long pages = 0;

	while ((below = mem_cgroup_iter(group, below, NULL))) {
		pages += nid == NUMA_NO_NODE ? kloc_fast_pages(below) :
					       kloc_pages_on(below, nid);
		cond_resched();
	}
	return pages;
}

/**
 * kloc_memcg_max() - how much page cache may a group have in fast memory?
 * @group: the group
 *
 * Return: pages, KLOC_NO_LIMIT if that is not limited.
 */
unsigned long kloc_memcg_max(struct mem_cgroup *group)
{
	unsigned long max = READ_ONCE(group->kloc_max);

	/* What is removed is not limited any more, whatever it leaves behind. */
	return max == PAGE_COUNTER_MAX || !mem_cgroup_online(group) ?
	       KLOC_NO_LIMIT : max;
}

/**
 * kloc_memcg_used() - how many pages are charged to a cgroup?
 * @group: the cgroup, which has a limit
 *
 * Return: pages; see kloc_memcg_charge() for how exact that is.
 */
unsigned long kloc_memcg_used(struct mem_cgroup *group)
{
	return max(atomic_long_read(&group->kloc_used), 0L);
}

/**
 * kloc_memcg_any_limited() - does any cgroup have a limit?
 *
 * Return: true if one has.
 */
bool kloc_memcg_any_limited(void)
{
	return !xa_empty(&kloc_limited);
}

/**
 * kloc_memcg_next_limited() - iterate over the cgroups with a limit
 * @id: where to go on, 0 to begin; updated
 *
 * Return: the next one, which the caller has to put; NULL at the end.
 */
struct mem_cgroup *kloc_memcg_next_limited(unsigned long *id)
{
	struct mem_cgroup *group;

	rcu_read_lock();
	do {
		group = xa_find_after(&kloc_limited, id, ULONG_MAX, XA_PRESENT);
	} while (group && !css_tryget_online(&group->css));
	rcu_read_unlock();
	return group;
}

/* Correct the charge of a cgroup. What is charged meanwhile stays charged. */
static void kloc_count_pages(struct mem_cgroup *group)
{
	long used = atomic_long_read(&group->kloc_used);
	long pages = kloc_memcg_pages(group, NUMA_NO_NODE);

	atomic_long_add(pages - used, &group->kloc_used);
}

/**
 * kloc_memcg_count_limited() - count what the cgroups with a limit have
 *
 * Context: may sleep.
 */
void kloc_memcg_count_limited(void)
{
	struct mem_cgroup *group;
	unsigned long id = 0;

	while ((group = kloc_memcg_next_limited(&id))) {
		mutex_lock(&kloc_limited_mutex);
		kloc_count_pages(group);
		mutex_unlock(&kloc_limited_mutex);
		mem_cgroup_put(group);
	}
}

static u64 kloc_enabled_read(struct cgroup_subsys_state *css, struct cftype *cft)
{
	return READ_ONCE(mem_cgroup_from_css(css)->kloc_enabled);
}

static int kloc_enabled_write(struct cgroup_subsys_state *css,
			      struct cftype *cft, u64 value)
{
	if (value > 1)
		return -EINVAL;
	WRITE_ONCE(mem_cgroup_from_css(css)->kloc_enabled, value);
	if (value)
		WRITE_ONCE(kloc_any_group, true);
	return 0;
}

static int kloc_max_show(struct seq_file *file, void *v)
{
	unsigned long max = kloc_memcg_max(mem_cgroup_from_seq(file));

	if (max == KLOC_NO_LIMIT)
		seq_puts(file, "max\n");
	else
		seq_printf(file, "%llu\n", (u64)max * PAGE_SIZE);
	return 0;
}

/* Set the limit of a cgroup, PAGE_COUNTER_MAX for none. */
static int kloc_set_max(struct mem_cgroup *group, unsigned long max)
{
	int error = 0;

	mutex_lock(&kloc_limited_mutex);
	if (max == PAGE_COUNTER_MAX)
		xa_erase(&kloc_limited, group->css.id);
	else
		error = xa_err(xa_store(&kloc_limited, group->css.id, group,
					GFP_KERNEL));
	if (!error) {
		WRITE_ONCE(group->kloc_max, max);
		if (max != PAGE_COUNTER_MAX)
			kloc_count_pages(group);
	}
	mutex_unlock(&kloc_limited_mutex);
	kloc_limit_changed();
	return error;
}

static ssize_t kloc_max_write(struct kernfs_open_file *of, char *buf,
			      size_t count, loff_t pos)
{
	struct mem_cgroup *group = mem_cgroup_from_css(of_css(of));
	char *value = strstrip(buf);
	unsigned long max;
	int error;

	if (!*value || page_counter_memparse(value, "max", &max))
		return -EINVAL;
	error = kloc_set_max(group, max);
	return error ?: count;
}

/**
 * kloc_memcg_offline() - forget the limit of a cgroup that is removed
 * @group: the cgroup, whose files are gone already
 */
void kloc_memcg_offline(struct mem_cgroup *group)
{
	bool was_limited;

	mutex_lock(&kloc_limited_mutex);
	was_limited = xa_erase(&kloc_limited, group->css.id);
	mutex_unlock(&kloc_limited_mutex);
	if (was_limited)
		kloc_limit_changed();
}

static u64 kloc_current_read(struct cgroup_subsys_state *css, struct cftype *cft)
{
	return (u64)kloc_memcg_pages(mem_cgroup_from_css(css), NUMA_NO_NODE) *
	       PAGE_SIZE;
}

static struct cftype kloc_memcg_files[] = {
	{
		.name = "kloc.enabled",
		.flags = CFTYPE_NOT_ON_ROOT,
		.read_u64 = kloc_enabled_read,
		.write_u64 = kloc_enabled_write,
	},
	{
		.name = "kloc.max",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = kloc_max_show,
		.write = kloc_max_write,
	},
	{
		.name = "kloc.current",
		.flags = CFTYPE_NOT_ON_ROOT,
		.read_u64 = kloc_current_read,
	},
	{ }
};

static int __init kloc_memcg_init(void)
{
	return cgroup_add_dfl_cftypes(&memory_cgrp_subsys, kloc_memcg_files);
}
subsys_initcall(kloc_memcg_init);


// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: what memory cgroups say of them, and the files
 * memory.kloc.* in which they do, see Documentation/admin-guide/mm/kloc.rst.
 */
#include <linux/cgroup.h>
#include <linux/init.h>
#include <linux/memcontrol.h>
#include <linux/memory-tiers.h>
#include <linux/page_counter.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "kloc.h"

/* The group that pays for what this task uses; NULL for the kernel. */
static struct mem_cgroup *current_group(void)
{
	if (mem_cgroup_disabled() || !current->mm || current->flags & PF_KTHREAD)
		return NULL;
	return mem_cgroup_from_task(current);
}

/* Was one of a group and those above it chosen? */
static bool is_chosen(struct mem_cgroup *group)
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
	chosen = is_chosen(current_group());
	rcu_read_unlock();
	return chosen;
}

/*
 * May a group have more pages in fast memory? What it has is only looked at now
 * and then: until the next time, what comes is added. It is a hint, which two
 * who add to it at once may spoil.
 */
static bool charge(struct mem_cgroup *group, unsigned int pages)
{
	struct mem_cgroup *above;

	for (above = group; above; above = parent_mem_cgroup(above))
		if (READ_ONCE(above->kloc_used) + pages > kloc_memcg_max(above))
			return false;
	for (above = group; above; above = parent_mem_cgroup(above))
		if (kloc_memcg_max(above) != KLOC_NO_LIMIT)
			WRITE_ONCE(above->kloc_used,
				   READ_ONCE(above->kloc_used) + pages);
	return true;
}

/**
 * kloc_memcg_charge() - may this task have more page cache in fast memory?
 * @pages: that would come there
 *
 * Context: RCU read-side critical section.
 * Return: true if they may; then they are counted.
 */
bool kloc_memcg_charge(unsigned int pages)
{
	return charge(current_group(), pages);
}

/**
 * kloc_memcg_charge_folio() - may a folio come to fast memory?
 * @folio: the folio, locked
 *
 * Return: true if the limits of its groups allow it; then it is counted.
 */
bool kloc_memcg_charge_folio(struct folio *folio)
{
	bool may;

	/* As where new pages go: that of tmpfs is not counted. */
	if (!READ_ONCE(kloc_limits) || folio_test_swapbacked(folio))
		return true;
	rcu_read_lock();
	may = charge(folio_memcg_rcu(folio), folio_nr_pages(folio));
	rcu_read_unlock();
	return may;
}

/* Of one group alone, without those below it. */
static unsigned long pages_on(struct mem_cgroup *group, int nid)
{
	return kloc_lruvec_pages(mem_cgroup_lruvec(group, NODE_DATA(nid)), nid);
}

static unsigned long fast_pages(struct mem_cgroup *group)
{
	unsigned long pages = 0;
	int nid;

	for_each_node_state(nid, N_MEMORY)
		if (node_is_toptier(nid))
			pages += pages_on(group, nid);
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
		pages += nid == NUMA_NO_NODE ? fast_pages(below) :
					       pages_on(below, nid);
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
 * kloc_memcg_refresh() - look at how much a group has
 * @group: the group
 *
 * Return: true if it has a limit.
 */
bool kloc_memcg_refresh(struct mem_cgroup *group)
{
	if (kloc_memcg_max(group) == KLOC_NO_LIMIT)
		return false;
	WRITE_ONCE(group->kloc_used, kloc_memcg_pages(group, NUMA_NO_NODE));
	return true;
}

/**
 * kloc_memcg_select() - select folios of a group
 * @group: the group; those below it belong to it
 * @folios: of any groups, each held; those that are not selected are let go of
 * @count: of @folios
 *
 * Return: how many are left in @folios.
 */
unsigned int kloc_memcg_select(struct mem_cgroup *group,
			       struct folio **folios, unsigned int count)
{
	unsigned int i, selected = 0;
	struct mem_cgroup *owner;
	bool is_its;

	for (i = 0; i < count; i++) {
		rcu_read_lock();
		owner = folio_memcg_check(folios[i]);
		is_its = owner && mem_cgroup_is_descendant(owner, group);
		rcu_read_unlock();
		if (is_its)
			folios[selected++] = folios[i];
		else
			folio_put(folios[i]);
	}
	return selected;
}

static u64 enabled_read(struct cgroup_subsys_state *css, struct cftype *cft)
{
	return READ_ONCE(mem_cgroup_from_css(css)->kloc_enabled);
}

static int enabled_write(struct cgroup_subsys_state *css, struct cftype *cft,
			 u64 value)
{
	if (value > 1)
		return -EINVAL;
	WRITE_ONCE(mem_cgroup_from_css(css)->kloc_enabled, value);
	if (value)
		WRITE_ONCE(kloc_any_group, true);
	return 0;
}

static int max_show(struct seq_file *file, void *v)
{
	unsigned long max = kloc_memcg_max(mem_cgroup_from_seq(file));

	if (max == KLOC_NO_LIMIT)
		seq_puts(file, "max\n");
	else
		seq_printf(file, "%llu\n", (u64)max * PAGE_SIZE);
	return 0;
}

static ssize_t max_write(struct kernfs_open_file *of, char *buf, size_t count,
			 loff_t pos)
{
	struct mem_cgroup *group = mem_cgroup_from_css(of_css(of));
	char *value = strstrip(buf);
	unsigned long max;

	if (!*value || page_counter_memparse(value, "max", &max))
		return -EINVAL;
	WRITE_ONCE(group->kloc_max, max);
	kloc_limit_changed();
	return count;
}

static u64 current_read(struct cgroup_subsys_state *css, struct cftype *cft)
{
	return (u64)kloc_memcg_pages(mem_cgroup_from_css(css), NUMA_NO_NODE) *
	       PAGE_SIZE;
}

static struct cftype files[] = {
	{
		.name = "kloc.enabled",
		.flags = CFTYPE_NOT_ON_ROOT,
		.read_u64 = enabled_read,
		.write_u64 = enabled_write,
	},
	{
		.name = "kloc.max",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = max_show,
		.write = max_write,
	},
	{
		.name = "kloc.current",
		.flags = CFTYPE_NOT_ON_ROOT,
		.read_u64 = current_read,
	},
	{ }
};

static int __init kloc_memcg_init(void)
{
	return cgroup_add_dfl_cftypes(&memory_cgrp_subsys, files);
}
subsys_initcall(kloc_memcg_init);

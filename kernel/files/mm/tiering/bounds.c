// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: the slowdown that a memory cgroup accepts, and the file
 * memory.tiering.slowdown, see Documentation/admin-guide/mm/tiering.rst.
 *
 * A cgroup with a bound of its own has a budget of its own; what slow memory costs the
 * others is charged to the nearest ancestor with a bound.
 */
#include <linux/cgroup.h>
#include <linux/ctype.h>
#include <linux/init.h>
#include <linux/kstrtox.h>
#include <linux/memcontrol.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/xarray.h>

#include "internal.h"

/* Hundredths of a percent. */
#define TIERING_BOUND_MOST	10000
#define TIERING_BOUND_PERCENT	100

/* Digits after the point. */
#define TIERING_BOUND_DIGITS	2

/* The cgroups with a bound, by the id of their css. */
static DEFINE_XARRAY(tiering_bounds);

/* Serializes writers of a bound. */
static DEFINE_MUTEX(tiering_bounds_mutex);

/**
 * tiering_bound() - get the slowdown that a cgroup accepts
 * @memcg: the cgroup
 *
 * Return: hundredths of a percent, TIERING_NO_BOUND if it has no bound of its own.
 */
unsigned int tiering_bound(const struct mem_cgroup *memcg)
{
	return READ_ONCE(memcg->tiering_slowdown_bp);
}

/**
 * tiering_bound_id() - get the number by which statistics name a cgroup
 * @memcg: the cgroup
 *
 * Return: the inode number of its folder.
 */
u64 tiering_bound_id(const struct mem_cgroup *memcg)
{
	return cgroup_id(memcg->css.cgroup);
}

static struct mem_cgroup *tiering_bound_nearest(struct mem_cgroup *memcg)
{
	while (memcg && tiering_bound(memcg) == TIERING_NO_BOUND)
		memcg = parent_mem_cgroup(memcg);
	return memcg;
}

/**
 * tiering_bound_parent() - get the nearest ancestor with a bound
 * @memcg: the cgroup; the caller holds it
 *
 * Return: the ancestor, which lives as long as @memcg; NULL if there is none.
 */
struct mem_cgroup *tiering_bound_parent(struct mem_cgroup *memcg)
{
	return tiering_bound_nearest(parent_mem_cgroup(memcg));
}

/**
 * tiering_bound_of() - get the cgroup to whose bound an address space belongs
 * @mm: the address space
 *
 * Context: RCU read-side critical section.
 * Return: the nearest cgroup of its process with a bound; NULL if there is none.
 */
struct mem_cgroup *tiering_bound_of(struct mm_struct *mm)
{
	struct task_struct *owner = rcu_dereference(mm->owner);

	if (mem_cgroup_disabled() || !owner)
		return NULL;
	return tiering_bound_nearest(mem_cgroup_from_task(owner));
}

/**
 * tiering_bound_next() - iterate over the cgroups with a bound
 * @id: id of the previous cgroup, 0 to begin; updated
 *
 * Return: the next cgroup, which the caller has to put; NULL at the end.
 */
struct mem_cgroup *tiering_bound_next(unsigned long *id)
{
	struct mem_cgroup *memcg;

	rcu_read_lock();
	do {
		memcg = xa_find_after(&tiering_bounds, id, ULONG_MAX, XA_PRESENT);
	} while (memcg && !css_tryget_online(&memcg->css));
	rcu_read_unlock();
	return memcg;
}

/**
 * tiering_bound_cpu_ns() - get the processor time that a cgroup has used
 * @memcg: the cgroup, which is not the root
 *
 * Context: may sleep.
 * Return: ns, with its descendants.
 */
u64 tiering_bound_cpu_ns(struct mem_cgroup *memcg)
{
	struct cgroup *cgroup = memcg->css.cgroup;
	u64 ns;

	cgroup_rstat_flush_hold(cgroup);
	ns = cgroup->bstat.cputime.sum_exec_runtime;
	cgroup_rstat_flush_release(cgroup);
	return ns;
}

/**
 * tiering_bound_reset() - forget the bound of a cgroup that is removed or hidden
 * @memcg: the cgroup, whose files are removed, so that no writer changes it
 *
 * Context: the caller may hold cgroup_mutex.
 */
void tiering_bound_reset(struct mem_cgroup *memcg)
{
	WRITE_ONCE(memcg->tiering_slowdown_bp, TIERING_NO_BOUND);
	xa_erase(&tiering_bounds, memcg->css.id);
}

/* Parse the digits after the point of a percentage: 5 is 50 hundredths, and 05 is 5. */
static int tiering_bound_parse_rest(const char *digits, unsigned int *bp)
{
	size_t count = strlen(digits);
	unsigned int rest;
	int error;

	if (!count || count > TIERING_BOUND_DIGITS || !isdigit(*digits))
		return -EINVAL;
	error = kstrtouint(digits, 10, &rest);
	if (error)
		return error;
	*bp += count == 1 ? rest * 10 : rest;
	return 0;
}

/**
 * tiering_bound_parse() - parse a bound
 * @text: percent with up to two digits after the point, or "default"; is changed
 * @bp: filled in: hundredths of a percent, TIERING_NO_BOUND for "default"
 *
 * Return: 0; -EINVAL if it is neither; -ERANGE above 100 %.
 */
int tiering_bound_parse(char *text, unsigned int *bp)
{
	char *whole = strsep(&text, ".");
	unsigned int percent;
	int error;

	if (!text && !strcmp(whole, "default")) {
		*bp = TIERING_NO_BOUND;
		return 0;
	}
	if (!isdigit(*whole))
		return -EINVAL;
	error = kstrtouint(whole, 10, &percent);
	if (error)
		return error;
	if (percent > TIERING_BOUND_MOST / TIERING_BOUND_PERCENT)
		return -ERANGE;
	*bp = percent * TIERING_BOUND_PERCENT;
	error = text ? tiering_bound_parse_rest(text, bp) : 0;
	return error ?: *bp > TIERING_BOUND_MOST ? -ERANGE : 0;
}

static int tiering_bound_show(struct seq_file *file, void *v)
{
	unsigned int bp = tiering_bound(mem_cgroup_from_seq(file));

	if (bp == TIERING_NO_BOUND)
		seq_puts(file, "default\n");
	else
		seq_printf(file, "%u.%02u\n", bp / TIERING_BOUND_PERCENT,
			   bp % TIERING_BOUND_PERCENT);
	return 0;
}

/* Set the bound of a cgroup, TIERING_NO_BOUND for none. */
static int tiering_bound_set(struct mem_cgroup *memcg, unsigned int bp)
{
	int error = 0;

	mutex_lock(&tiering_bounds_mutex);
	if (bp == TIERING_NO_BOUND)
		xa_erase(&tiering_bounds, memcg->css.id);
	else
		error = xa_err(xa_store(&tiering_bounds, memcg->css.id, memcg,
					GFP_KERNEL));
	if (!error)
		WRITE_ONCE(memcg->tiering_slowdown_bp, bp);
	mutex_unlock(&tiering_bounds_mutex);
	return error;
}

static ssize_t tiering_bound_write(struct kernfs_open_file *of, char *buf, size_t count,
				   loff_t pos)
{
	struct mem_cgroup *memcg = mem_cgroup_from_css(of_css(of));
	unsigned int bp;
	int error = tiering_bound_parse(strstrip(buf), &bp);

	return error ?: tiering_bound_set(memcg, bp) ?: count;
}

static struct cftype tiering_bound_files[] = {
	{
		.name = "tiering.slowdown",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = tiering_bound_show,
		.write = tiering_bound_write,
	},
	{ }
};

static int __init tiering_bound_init(void)
{
	return cgroup_add_dfl_cftypes(&memory_cgrp_subsys, tiering_bound_files);
}
subsys_initcall(tiering_bound_init);

#ifdef CONFIG_TIERING_KUNIT_TEST
#include "tests/bounds-kunit.h"
#endif

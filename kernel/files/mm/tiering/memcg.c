// SPDX-License-Identifier: GPL-2.0
/*
 * Policies of memory tiers: limits of a memory cgroup's page cache in fast memory, and
 * the files memory.kloc.max and memory.kloc.current, see
 * Documentation/admin-guide/mm/kloc.rst.
 *
 * While any cgroup has a limit, each change of an LRU list's size updates the count of
 * its cgroup and of all ancestors. So no charge can leak: a folio that is freed, moved
 * or reclaimed leaves its list, and a removed cgroup keeps its lists until they are
 * empty.
 */
#include <linux/atomic.h>
#include <linux/cgroup.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/jump_label.h>
#include <linux/memcontrol.h>
#include <linux/memory-tiers.h>
#include <linux/mm_inline.h>
#include <linux/mutex.h>
#include <linux/page_counter.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/tiering.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "internal.h"

DEFINE_STATIC_KEY_FALSE(tiering_limits_key);

/*
 * Counts of an earlier epoch are stale. An epoch begins when a cgroup gets a limit and
 * no other cgroup has one. Written under the mutex.
 */
static unsigned int tiering_epoch;

/* The cgroups with a limit, by the id of their css. Daemons check only these. */
static DEFINE_XARRAY(tiering_limited);

/* Serializes changes of limits, and the start and end of counting. */
static DEFINE_MUTEX(tiering_memcg_mutex);

/* Get the cgroup that is charged for this task's page cache; NULL for the root. */
static struct mem_cgroup *tiering_current_memcg(void)
{
	if (mem_cgroup_disabled())
		return NULL;
	/* A loop device writes its file on behalf of a cgroup. */
	if (current->active_memcg)
		return current->active_memcg;
	if (!current->mm || current->flags & PF_KTHREAD)
		return NULL;
	return mem_cgroup_from_task(current);
}

static struct mem_cgroup_per_node *tiering_memcg_node(struct lruvec *lruvec)
{
	return container_of(lruvec, struct mem_cgroup_per_node, lruvec);
}

/* Skip the root: it has no limit, and its count would be contended. */
static void tiering_memcg_add(struct mem_cgroup_per_node *pn, int nid, long pages)
{
	struct mem_cgroup *memcg = pn->memcg;

	pn->tiering_own_files += pages;
	for (; memcg && !mem_cgroup_is_root(memcg); memcg = parent_mem_cgroup(memcg))
		atomic_long_add(pages, &memcg->nodeinfo[nid]->tiering_files);
}

/* Called by tiering_files_changed(). */
void __tiering_files_changed(struct lruvec *lruvec, long pages)
{
	struct mem_cgroup_per_node *pn = tiering_memcg_node(lruvec);

	lockdep_assert_held(&lruvec->lru_lock);
	/* tiering_memcg_count() counts lists of an earlier epoch. */
	if (pn->tiering_epoch == READ_ONCE(tiering_epoch))
		tiering_memcg_add(pn, lruvec_pgdat(lruvec)->node_id, pages);
}

/* Count the page cache of a cgroup. Later changes of the lists update the count. */
static void tiering_memcg_count(struct mem_cgroup *memcg)
{
	unsigned int epoch;
	int nid;

	for_each_node(nid) {
		struct mem_cgroup_per_node *pn = memcg->nodeinfo[nid];
		struct lruvec *lruvec = &pn->lruvec;

		spin_lock_irq(&lruvec->lru_lock);
		/* Another epoch may begin meanwhile, and count this cgroup again. */
		epoch = READ_ONCE(tiering_epoch);
		if (pn->tiering_epoch != epoch) {
			tiering_memcg_add(pn, nid,
					  (long)tiering_lruvec_files(lruvec, nid) -
					  pn->tiering_own_files);
			pn->tiering_epoch = epoch;
		}
		spin_unlock_irq(&lruvec->lru_lock);
	}
}

/**
 * tiering_memcg_online() - start counting a new cgroup
 * @memcg: the cgroup, which is visible and has no processes yet
 */
void tiering_memcg_online(struct mem_cgroup *memcg)
{
	if (tiering_is_limiting())
		tiering_memcg_count(memcg);
}

/**
 * tiering_memcg_free() - subtract stale counts of a cgroup that is freed
 * @memcg: the cgroup, whose lists are empty
 *
 * The lists may have become empty while counting was off.
 */
void tiering_memcg_free(struct mem_cgroup *memcg)
{
	int nid;

	for_each_node(nid) {
		struct mem_cgroup_per_node *pn = memcg->nodeinfo[nid];

		if (pn->tiering_own_files)
			tiering_memcg_add(pn, nid, -pn->tiering_own_files);
	}
}

static void tiering_memcg_start(void)
{
	struct mem_cgroup *memcg = NULL;

	static_branch_enable(&tiering_limits_key);
	/*
	 * After the key, so that changes after a count of this epoch update the count.
	 */
	WRITE_ONCE(tiering_epoch, tiering_epoch + 1);
	while ((memcg = mem_cgroup_iter(NULL, memcg, NULL))) {
		tiering_memcg_count(memcg);
		cond_resched();
	}
}

/*
 * Stop counting without limits. A work item, as removing a cgroup holds cgroup_mutex.
 */
static void tiering_memcg_limit_gone(struct work_struct *work)
{
	mutex_lock(&tiering_memcg_mutex);
	if (tiering_is_limiting() && xa_empty(&tiering_limited))
		static_branch_disable(&tiering_limits_key);
	mutex_unlock(&tiering_memcg_mutex);
	tiering_limit_changed();
}

static DECLARE_DELAYED_WORK(tiering_memcg_work, tiering_memcg_limit_gone);

/*
 * Delay the end of counting: each start interrupts all CPUs and counts all cgroups, and
 * an unprivileged writer may remove and set the last limit in a loop.
 */
static void tiering_memcg_end_later(void)
{
	schedule_delayed_work(&tiering_memcg_work, HZ);
}

/**
 * tiering_memcg_reset() - reset the settings of a cgroup that is removed or hidden
 * @memcg: the cgroup, whose files are removed, so that no writer changes it
 *
 * Context: the caller may hold cgroup_mutex.
 */
void tiering_memcg_reset(struct mem_cgroup *memcg)
{
	WRITE_ONCE(memcg->kloc_enabled, false);
	WRITE_ONCE(memcg->tiering_max, PAGE_COUNTER_MAX);
	tiering_bound_reset(memcg);
	if (xa_erase(&tiering_limited, memcg->css.id))
		tiering_memcg_end_later();
}

/**
 * tiering_memcg_max() - get the limit of a cgroup's page cache in fast memory
 * @memcg: the cgroup
 *
 * Return: pages, TIERING_NO_LIMIT without a limit.
 */
unsigned long tiering_memcg_max(struct mem_cgroup *memcg)
{
	unsigned long max = READ_ONCE(memcg->tiering_max);

	return max == PAGE_COUNTER_MAX ? TIERING_NO_LIMIT : max;
}

/**
 * tiering_memcg_files() - get the size of a cgroup's page cache on a node
 * @memcg: the cgroup; its descendants are included
 * @nid: the node
 *
 * Context: any; a cgroup has a limit.
 * Return: pages on LRU lists.
 */
unsigned long tiering_memcg_files(struct mem_cgroup *memcg, int nid)
{
	return max(atomic_long_read(&memcg->nodeinfo[nid]->tiering_files), 0L);
}

/**
 * tiering_memcg_used() - get the size of a cgroup's page cache in fast memory
 * @memcg: the cgroup; its descendants are included
 *
 * Context: as for tiering_memcg_files().
 * Return: pages on LRU lists.
 */
unsigned long tiering_memcg_used(struct mem_cgroup *memcg)
{
	unsigned long pages = 0;
	int nid;

	for_each_node_state(nid, N_MEMORY)
		if (tiering_is_fast(nid))
			pages += tiering_memcg_files(memcg, nid);
	return pages;
}

/* Test whether the limits of a cgroup and of its ancestors allow more page cache. */
static bool tiering_memcg_allows(struct mem_cgroup *memcg, unsigned long pages)
{
	for (; memcg; memcg = parent_mem_cgroup(memcg)) {
		unsigned long max = tiering_memcg_max(memcg);

		if (max != TIERING_NO_LIMIT && tiering_memcg_used(memcg) + pages > max)
			return false;
	}
	return true;
}

/**
 * tiering_memcg_may_add() - test whether limits allow this task's cgroup more page
 * cache
 * @pages: number of additional pages in fast memory
 *
 * A folio counts once it is on an LRU list. So a cgroup may exceed its limit by the
 * folios in the per-CPU batches, PAGEVEC_SIZE for each CPU, and by one for each task
 * that allocates.
 *
 * Context: RCU read-side critical section.
 * Return: false if a limit forbids it.
 */
bool tiering_memcg_may_add(unsigned int pages)
{
	return !tiering_is_limiting() ||
	       tiering_memcg_allows(tiering_current_memcg(), pages);
}

/**
 * tiering_memcg_may_promote() - test whether limits of a folio's cgroup allow promotion
 * @folio: the folio; the caller has a reference or the lock of its page table
 * @more: other pages in the batch, which may belong to the same cgroup
 *
 * Return: false if a limit forbids it.
 */
bool tiering_memcg_may_promote(struct folio *folio, unsigned int more)
{
	bool may;

	/* Page cache of tmpfs does not count. */
	if (!tiering_is_limiting() || folio_test_swapbacked(folio))
		return true;
	rcu_read_lock();
	may = tiering_memcg_allows(folio_memcg_rcu(folio),
				   more + folio_nr_pages(folio));
	rcu_read_unlock();
	return may;
}

/**
 * tiering_memcg_any_limited() - test whether any cgroup has a limit
 *
 * Return: true if one has.
 */
bool tiering_memcg_any_limited(void)
{
	return !xa_empty(&tiering_limited);
}

/**
 * tiering_memcg_next_limited() - iterate over the cgroups with a limit
 * @id: id of the previous cgroup, 0 to begin; updated
 *
 * Return: the next cgroup, which the caller has to put; NULL at the end.
 */
struct mem_cgroup *tiering_memcg_next_limited(unsigned long *id)
{
	struct mem_cgroup *memcg;

	rcu_read_lock();
	do {
		memcg = xa_find_after(&tiering_limited, id, ULONG_MAX, XA_PRESENT);
	} while (memcg && !css_tryget_online(&memcg->css));
	rcu_read_unlock();
	return memcg;
}

static int tiering_memcg_max_show(struct seq_file *file, void *v)
{
	unsigned long max = tiering_memcg_max(mem_cgroup_from_seq(file));

	if (max == TIERING_NO_LIMIT)
		seq_puts(file, "max\n");
	else
		seq_printf(file, "%llu\n", (u64)max * PAGE_SIZE);
	return 0;
}

/* Set the limit of a cgroup, PAGE_COUNTER_MAX for none. */
static int tiering_memcg_set_max(struct mem_cgroup *memcg, unsigned long max)
{
	int error = 0;

	mutex_lock(&tiering_memcg_mutex);
	if (max == PAGE_COUNTER_MAX) {
		xa_erase(&tiering_limited, memcg->css.id);
		tiering_memcg_end_later();
	} else {
		error = xa_err(xa_store(&tiering_limited, memcg->css.id, memcg,
					GFP_KERNEL));
	}
	/* Count the page cache before the limit takes effect. */
	if (!error && max != PAGE_COUNTER_MAX && !tiering_is_limiting())
		tiering_memcg_start();
	if (!error)
		WRITE_ONCE(memcg->tiering_max, max);
	mutex_unlock(&tiering_memcg_mutex);
	tiering_limit_changed();
	return error;
}

static ssize_t tiering_memcg_max_write(struct kernfs_open_file *of, char *buf,
				       size_t count, loff_t pos)
{
	struct mem_cgroup *memcg = mem_cgroup_from_css(of_css(of));
	char *value = strstrip(buf);
	unsigned long max;
	int error;

	if (!*value || page_counter_memparse(value, "max", &max))
		return -EINVAL;
	error = tiering_memcg_set_max(memcg, max);
	return error ?: count;
}

static unsigned long tiering_memcg_list_files(struct mem_cgroup *memcg)
{
	unsigned long pages = 0;
	int nid;

	for_each_node_state(nid, N_MEMORY)
		if (node_is_toptier(nid))
			pages += tiering_lruvec_files(&memcg->nodeinfo[nid]->lruvec,
						      nid);
	return pages;
}

/* Sum up the lists: without a limit, there are no counts. */
static u64 tiering_memcg_current_read(struct cgroup_subsys_state *css,
				      struct cftype *cft)
{
	struct mem_cgroup *root = mem_cgroup_from_css(css), *memcg = NULL;
	u64 pages = 0;

	while ((memcg = mem_cgroup_iter(root, memcg, NULL))) {
		pages += tiering_memcg_list_files(memcg);
		cond_resched();
	}
	return pages * PAGE_SIZE;
}

static struct cftype tiering_memcg_files_of_group[] = {
	{
		.name = "kloc.max",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = tiering_memcg_max_show,
		.write = tiering_memcg_max_write,
	},
	{
		.name = "kloc.current",
		.flags = CFTYPE_NOT_ON_ROOT,
		.read_u64 = tiering_memcg_current_read,
	},
	{ }
};

static int __init tiering_memcg_init(void)
{
	return cgroup_add_dfl_cftypes(&memory_cgrp_subsys,
				      tiering_memcg_files_of_group);
}
subsys_initcall(tiering_memcg_init);

#ifdef CONFIG_TIERING_KUNIT_TEST
#include "tests/memcg-kunit.h"
#endif

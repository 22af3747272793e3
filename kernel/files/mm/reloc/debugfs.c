// SPDX-License-Identifier: GPL-2.0
/*
 * Relocatable slabs: statistics, settings, and moves on request, in debugfs.
 *
 * /sys/kernel/debug/reloc/
 *   move          write "CACHE NODE": move the pages of a cache's slabs to a node
 *   pages         pages of each cache on each node
 *   caches        pages of each cache in each tier, unused pages, moves, and pages away
 *                 from their home node, which reclaim of their node cannot reach
 *   stats         counters
 *   max_pause_us  time after which a pause copies no further page
 *   precopy       copy before the pause, where PTEs have dirty bits
 */
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/memory-tiers.h>
#include <linux/nodemask.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "../slab.h"
#include "reloc.h"

/* The largest number of addresses to find at a time. */
#define RELOC_ADDRS	512U

/* Find a cache by its name. The caller may compare the pointer, but not use it. */
static const struct kmem_cache *reloc_find_cache(const char *name)
{
	struct kmem_cache *cache, *found = NULL;

	mutex_lock(&slab_mutex);
	list_for_each_entry(cache, &slab_caches, list)
		if ((cache->flags & SLAB_RELOC) && !strcmp(cache->name, name))
			found = cache;
	mutex_unlock(&slab_mutex);
	return found;
}

/* Move all pages of a cache to a node, in one pass. */
static int reloc_move_cache(const struct kmem_cache *cache, int nid)
{
	struct reloc_result result = {};
	unsigned long cursor = 0;
	int error = 0;
	unsigned int n;
	void **addrs;

	addrs = kmalloc_array(RELOC_ADDRS, sizeof(*addrs), GFP_KERNEL);
	if (!addrs)
		return -ENOMEM;
	while (!error && (n = reloc_collect(cache, nid, &cursor, addrs, RELOC_ADDRS))) {
		error = reloc_move(addrs, n, nid, &result);
		/* The signal of the freezer is not fatal. */
		if (signal_pending(current))
			error = -EINTR;
		cond_resched();
	}
	kfree(addrs);
	if (!error && result.no_memory)
		error = -ENOMEM;
	return error;
}

static ssize_t move_write(struct file *file, const char __user *buffer, size_t length,
			  loff_t *offset)
{
	const struct kmem_cache *cache;
	char text[64], *name, *node;
	int nid, error;

	if (length >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buffer, length))
		return -EFAULT;
	text[length] = 0;
	node = strim(text);
	name = strsep(&node, " ");
	if (!node)
		return -EINVAL;
	error = kstrtoint(skip_spaces(node), 10, &nid);
	if (error)
		return error;
	cache = reloc_find_cache(name);
	if (!cache)
		return -ENOENT;
	error = reloc_move_cache(cache, nid);
	return error ?: length;
}

static const struct file_operations move_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = move_write,
	.llseek = noop_llseek,
};

/**
 * struct reloc_tally - pages of a cache on a node
 * @pages: number of pages
 * @unused: pages without a use in the last eight scans
 * @away: pages in a lower tier than their home node, which only reclaim of the home
 *	node can free
 */
struct reloc_tally {
	unsigned long pages;
	unsigned long unused;
	unsigned long away;
};

/* Pages of all caches, by node and number of the cache, and their moves. */
struct reloc_pages {
	struct reloc_moved moved[RELOC_COUNTED];
	struct reloc_tally on[][RELOC_COUNTED];
};

static void reloc_count_page(const struct kmem_cache *cache, const void *addr, int nid,
			     void *data)
{
	struct reloc_pages *pages = data;
	int number = reloc_number(cache);
	struct reloc_tally *tally;

	if (number < 0)
		return;
	tally = &pages->on[nid][number];
	tally->pages++;
	tally->unused += !READ_ONCE(reloc_page_of(addr)->use.history);
	tally->away += node_is_toptier(page_to_nid(reloc_desc(addr))) && !node_is_toptier(nid);
}

/* Count all pages. The caller frees the result. */
static struct reloc_pages *reloc_pages_now(void)
{
	struct reloc_pages *pages;
	int number;

	pages = kvzalloc(struct_size(pages, on, nr_node_ids), GFP_KERNEL);
	if (!pages)
		return NULL;
	reloc_count_pages(reloc_count_page, pages);
	mutex_lock(&reloc_mutex);
	for (number = 0; number < RELOC_COUNTED; number++)
		pages->moved[number] = reloc_moved_of(number);
	mutex_unlock(&reloc_mutex);
	return pages;
}

static void reloc_show_cache(struct seq_file *seq, const struct kmem_cache *cache, int number,
			     const struct reloc_pages *pages)
{
	int nid;

	for_each_node_state(nid, N_MEMORY)
		seq_printf(seq, "%s %d %lu\n", cache->name, nid, pages->on[nid][number].pages);
}

static void reloc_show_tiers(struct seq_file *seq, const struct kmem_cache *cache, int number,
			     const struct reloc_pages *pages)
{
	const struct reloc_moved *moved = &pages->moved[number];
	struct reloc_tally fast = { }, slow = { };
	int nid;

	for_each_node_state(nid, N_MEMORY) {
		struct reloc_tally *tier = node_is_toptier(nid) ? &fast : &slow;

		tier->pages += pages->on[nid][number].pages;
		tier->unused += pages->on[nid][number].unused;
		tier->away += pages->on[nid][number].away;
	}
	seq_printf(seq, "%s\t%lu\t%lu\t%lu\t%lu\t%lu\t%lu\t%lu\n", cache->name, fast.pages,
		   fast.unused, slow.pages, slow.unused, moved->up, moved->down, slow.away);
}

/* Show all caches that have a number. */
static int reloc_show_all(struct seq_file *seq,
			  void (*show)(struct seq_file *seq, const struct kmem_cache *cache,
				       int number, const struct reloc_pages *pages))
{
	struct reloc_pages *pages = reloc_pages_now();
	struct kmem_cache *cache;
	int number;

	if (!pages)
		return -ENOMEM;
	mutex_lock(&slab_mutex);
	list_for_each_entry(cache, &slab_caches, list) {
		if (!(cache->flags & SLAB_RELOC))
			continue;
		mutex_lock(&reloc_mutex);
		number = reloc_number(cache);
		mutex_unlock(&reloc_mutex);
		if (number >= 0)
			show(seq, cache, number, pages);
	}
	mutex_unlock(&slab_mutex);
	kvfree(pages);
	return 0;
}

static int pages_show(struct seq_file *seq, void *data)
{
	return reloc_show_all(seq, reloc_show_cache);
}
DEFINE_SHOW_ATTRIBUTE(pages);

static int caches_show(struct seq_file *seq, void *data)
{
	seq_puts(seq, "cache\tfast\tfast_unused\tslow\tslow_unused\tpromoted\tdemoted\t"
		 "slow_away\n");
	return reloc_show_all(seq, reloc_show_tiers);
}
DEFINE_SHOW_ATTRIBUTE(caches);

static int stats_show(struct seq_file *seq, void *data)
{
	struct reloc_stats *stats = &reloc_stats;

	seq_printf(seq, "chunks %ld\n", atomic_long_read(&stats->chunks));
	seq_printf(seq, "pages %ld\n", atomic_long_read(&stats->pages));
	seq_printf(seq, "fallbacks %ld\n", atomic_long_read(&stats->fallbacks));
	mutex_lock(&reloc_mutex);
	seq_printf(seq, "moved %llu\n", stats->moved);
	seq_printf(seq, "recopied %llu\n", stats->recopied);
	seq_printf(seq, "late %llu\n", stats->late);
	seq_printf(seq, "no_memory %llu\n", stats->no_memory);
	seq_printf(seq, "batches %llu\n", stats->batches);
	seq_printf(seq, "pause_ns %llu\n", stats->pause_ns);
	seq_printf(seq, "longest_pause_ns %llu\n", stats->longest_pause_ns);
	seq_printf(seq, "longest_stop_ns %llu\n", stats->longest_stop_ns);
	mutex_unlock(&reloc_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

static int __init reloc_debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("reloc", NULL);

	debugfs_create_file("move", 0200, dir, NULL, &move_fops);
	debugfs_create_file("pages", 0400, dir, NULL, &pages_fops);
	debugfs_create_file("caches", 0400, dir, NULL, &caches_fops);
	debugfs_create_file("stats", 0400, dir, NULL, &stats_fops);
	debugfs_create_u32("max_pause_us", 0600, dir, &reloc_settings.max_pause_us);
	debugfs_create_bool("precopy", 0600, dir, &reloc_settings.precopy);
	return 0;
}
late_initcall(reloc_debugfs_init);

// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: the list of all contexts in debugfs, see
 * Documentation/ABI/testing/debugfs-kloc.
 *
 * The reader holds the knode of the current line, but not its inode. It dereferences
 * the inode under RCU for a bounded time; the inode may be gone at the next time.
 */
#include <linux/bits.h>
#include <linux/dcache.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kdev_t.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/xarray.h>

#include "kloc.h"

/* The largest number of entries of a mapping to check in an RCU section. */
#define LOOK_AT		1024

/* Characters to escape in paths: they separate columns and lines. */
#define ESCAPED		" \t\n\\"

/**
 * struct tally - pages of a context, counted in each tier
 * @index: index of the next entry
 * @done: the walk has reached the end
 * @fast: pages in fast memory
 * @slow: pages in slow memory
 */
struct tally {
	pgoff_t index;
	bool done;
	unsigned long fast;
	unsigned long slow;
};

static void contexts_tally_folio(struct tally *tally, const struct folio *folio,
				 unsigned long pages)
{
	if (!tiering_is_slow(folio_nid(folio)))
		tally->fast += pages;
	else
		tally->slow += pages;
}

/* Count a bounded number of folios of a mapping that RCU protects. */
static void contexts_tally_mapping(struct tally *tally, struct address_space *mapping)
{
	XA_STATE(xas, &mapping->i_pages, tally->index);
	unsigned int looked_at = 0;
	struct folio *folio;

	xas_for_each(&xas, folio, ULONG_MAX) {
		if (xas_retry(&xas, folio))
			continue;
		/* The folio is not held: only the entry tells its size. */
		tally->index = (xas.xa_index | (BIT(xas_get_order(&xas)) - 1)) + 1;
		if (!xa_is_value(folio))
			contexts_tally_folio(tally, folio, tally->index - xas.xa_index);
		if (++looked_at == LOOK_AT)
			return;
	}
	tally->done = true;
}

/* Count the pages of a context. Return: 0, or -EINTR if a signal is pending. */
static int contexts_tally_knode(struct tally *tally, const struct knode *knode)
{
	while (!tally->done) {
		struct inode *inode;

		rcu_read_lock();
		inode = rcu_dereference(knode->inode);
		if (inode)
			contexts_tally_mapping(tally, &inode->i_data);
		else
			tally->done = true;
		rcu_read_unlock();
		if (signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

static const char *contexts_kind_of(const struct knode *knode)
{
	return test_bit(KNODE_BLOCKDEV, &knode->flags) ? "blockdev" : "file";
}

/* Print a path of an inode, or "-". Takes no reference to a dentry. */
static void contexts_show_path(struct seq_file *m, struct inode *inode)
{
	struct dentry *dentry = d_find_alias_rcu(inode);

	if (dentry)
		seq_dentry(m, dentry, ESCAPED);
	else
		seq_putc(m, '-');
}

static void contexts_show_line(struct seq_file *m, const struct knode *knode,
			       const struct tally *tally, struct inode *inode)
{
	/* The file system of block devices' inodes, bdev, has no device of its own. */
	dev_t dev = S_ISBLK(inode->i_mode) ? inode->i_rdev : inode->i_sb->s_dev;

	seq_printf(m, "%u\t%s\t%d\t%u\t%d\t%u\t%lu\t%lu\t%u:%u\t%lu\t",
		   knode->id, contexts_kind_of(knode), knode_inuse(knode),
		   READ_ONCE(knode->age), knode_is_open(inode),
		   find_cpu(knode), tally->fast, tally->slow, MAJOR(dev),
		   MINOR(dev), inode->i_ino);
	contexts_show_path(m, inode);
	seq_putc(m, '\n');
}

static int contexts_show(struct seq_file *m, void *v)
{
	const struct knode *knode = v;
	struct tally tally = {};
	struct inode *inode;
	int error;

	if (v == SEQ_START_TOKEN) {
		seq_puts(m, "id\tkind\tactive\tage\topen\tcpu\tfast\tslow\tdev\tino\tpath\n");
		return 0;
	}
	error = contexts_tally_knode(&tally, knode);
	if (error)
		return error;

	rcu_read_lock();
	inode = rcu_dereference(knode->inode);
	if (inode)
		contexts_show_line(m, knode, &tally, inode);
	rcu_read_unlock();
	return 0;
}

/* Get the first knode with an id of *@pos or higher, and set *@pos to the id. */
static struct knode *contexts_find_from(loff_t *pos)
{
	unsigned long id = *pos;
	struct knode *knode = knode_get_from(&id);

	if (knode)
		*pos = id;
	return knode;
}

static void *contexts_start(struct seq_file *m, loff_t *pos)
{
	return *pos ? contexts_find_from(pos) : SEQ_START_TOKEN;
}

static void contexts_stop(struct seq_file *m, void *v)
{
	if (v && v != SEQ_START_TOKEN)
		knode_put(v);
}

static void *contexts_next(struct seq_file *m, void *v, loff_t *pos)
{
	contexts_stop(m, v);
	++*pos;
	return contexts_find_from(pos);
}

static const struct seq_operations contexts_sops = {
	.start	= contexts_start,
	.next	= contexts_next,
	.stop	= contexts_stop,
	.show	= contexts_show,
};

DEFINE_SEQ_ATTRIBUTE(contexts);

static int __init contexts_init(void)
{
	struct dentry *folder = debugfs_create_dir("kloc", NULL);

	debugfs_create_file("contexts", 0400, folder, NULL, &contexts_fops);
	return 0;
}
late_initcall(contexts_init);

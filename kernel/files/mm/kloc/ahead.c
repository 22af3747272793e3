// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: those that are about to become active.
 *
 * Who opens the files of a directory one after the other will open the next
 * ones, too. Which these are, the directory's dentries know: they are in the
 * order in which they were made, or looked up the last time.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/stat.h>

#include "kloc.h"

/* Entries of a directory between two that follow one upon the other. */
#define NEAR	4

/* The entry before or after another; the directory's lock is held. */
static struct dentry *sibling(const struct dentry *dentry, int step)
{
	struct hlist_node *const *before = READ_ONCE(dentry->d_sib.pprev);

	if (step > 0)
		return hlist_entry_safe(dentry->d_sib.next, struct dentry, d_sib);
	if (!before || before == &dentry->d_parent->d_children.first)
		return NULL;
	return container_of(before, struct dentry, d_sib.next);
}

/* How far is it to an entry from another, if they are near? */
static int distance(const struct dentry *from, const void *to, int step)
{
	int i;

	for (i = 1; i <= NEAR; i++) {
		from = sibling(from, step);
		if (!from)
			return 0;
		if (from == to)
			return i * step;
	}
	return 0;
}

static void promote(const struct dentry *dentry)
{
	struct inode *inode = d_inode_rcu(dentry);
	struct knode *knode;

	knode = inode && S_ISREG(inode->i_mode) ? rcu_dereference(inode->i_knode)
						: NULL;
	if (knode && !READ_ONCE(knode->inuse))
		kloc_queue_promotion(knode, KLOC_TRIAL_AHEAD);
}

/* A file is opened; the lock of its directory's dentry is held. */
static bool follow(struct kloc_series *series, const struct dentry *dentry)
{
	unsigned int skip, count;
	int step;

	if (series->last == dentry)
		return false;
	step = -distance(dentry, series->last, -1) ?:
	       -distance(dentry, series->last, 1);
	series->last = dentry;
	skip = series->ahead - min(series->ahead, abs(step));
	count = kloc_series_next(series, step);
	if (!count)
		return false;
	for (; skip + count; skip ? skip-- : count--) {
		dentry = sibling(dentry, step);
		if (!dentry)
			break;
		if (!skip)
			promote(dentry);
	}
	return true;
}

/**
 * kloc_look_ahead() - a file is opened: promote those that come next
 * @file: the file
 *
 * Context: RCU read-side critical section.
 */
void kloc_look_ahead(const struct file *file)
{
	struct dentry *dentry = file->f_path.dentry, *parent;
	struct inode *directory;
	struct knode *knode;
	bool ahead = false;

	knode = rcu_dereference(file_inode(file)->i_knode);
	if (!knode || !S_ISREG(file_inode(file)->i_mode))
		return;
	/* Nothing is to be learnt from those that nobody would have to move. */
	if (!test_and_clear_bit(KNODE_AHEAD, &knode->flags) &&
	    !test_bit(KNODE_SLOW, &knode->flags))
		return;

	parent = READ_ONCE(dentry->d_parent);
	spin_lock(&parent->d_lock);
	directory = d_inode_rcu(parent);
	knode = directory ? rcu_dereference(directory->i_knode) : NULL;
	if (knode && dentry->d_parent == parent && parent != dentry &&
	    test_bit(KNODE_DIRECTORY, &knode->flags))
		ahead = follow(&knode->series, dentry);
	spin_unlock(&parent->d_lock);

	if (ahead && kloc_near[numa_node_id()])
		kloc_wake(kloc_near[numa_node_id()]);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of files: what tells that a file is used.
 */
#include <linux/blkdev.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/pagemap.h>
#include <linux/rbtree.h>
#include <linux/rcupdate.h>
#include <linux/shmem_fs.h>
#include <linux/spinlock.h>
#include <linux/sizes.h>

#include "kloc.h"

/* Nothing can be told from a file that is smaller. */
#define LEAST_STREAM	SZ_256K

/* Was it said where the memory of a file of tmpfs should be? */
static bool has_policy(struct inode *inode)
{
	return shmem_mapping(inode->i_mapping) &&
	       !RB_EMPTY_ROOT(&SHMEM_I(inode)->policy.root);
}

static bool takes_part(struct inode *inode)
{
	if (S_ISDIR(inode->i_mode))
		return inode->i_sb->s_type->fs_flags & FS_REQUIRES_DEV;
	if (S_ISBLK(inode->i_mode))
		return sb_is_blkdev_sb(inode->i_sb);
	/*
	 * What the kernel mounted itself has no files but memory of applications
	 * (System V's, memfd's, shared and anonymous), secret or drivers' memory.
	 */
	return S_ISREG(inode->i_mode) && !IS_DAX(inode) &&
	       !(inode->i_sb->s_flags & SB_KERNMOUNT) &&
	       inode->i_sb->s_magic != HUGETLBFS_MAGIC &&
	       inode->i_mapping->a_ops->migrate_folio && !has_policy(inode);
}

/**
 * kloc_knode_of() - the knode of an inode, made if need be
 * @inode: the inode, which the caller has a reference to
 *
 * Context: RCU read-side critical section.
 * Return: the knode; NULL if there is none.
 */
struct knode *kloc_knode_of(struct inode *inode)
{
	struct knode *knode = rcu_dereference(inode->i_knode);
	const struct kloc_node *near = READ_ONCE(kloc_near[numa_node_id()]);

	if (knode || !READ_ONCE(kloc_ready) || !kloc_chosen() ||
	    !takes_part(inode))
		return knode;
	return knode_make(&kloc_kmap, inode, GFP_NOWAIT | __GFP_NOWARN,
			  near ? near->nid : NUMA_NO_NODE);
}

static struct knode *parent_of(const struct knode *knode)
{
	/* It may have gone by now; its number is not used again. */
	return xa_load(&kloc_kmap.knodes, knode->parent);
}

/* Note in the directory how a file fared. */
static void judge(struct knode *knode, bool stream)
{
	struct knode *parent = parent_of(knode);

	if (parent)
		kloc_history_add(&parent->history, knode->stream.name, stream);
}

/*
 * Find the knode of the directory that a file was opened in. The dentry's lock
 * keeps the directory.
 */
static struct knode *directory_of(struct dentry *dentry)
{
	struct inode *directory;
	struct knode *knode;

	spin_lock(&dentry->d_lock);
	directory = d_inode(dentry->d_parent);
	knode = directory ? kloc_knode_of(directory) : NULL;
	spin_unlock(&dentry->d_lock);
	return knode && test_bit(KNODE_DIRECTORY, &knode->flags) ? knode : NULL;
}

/* The hash of the name that a file was opened by. */
static u8 name_of(struct dentry *dentry)
{
	u8 name;

	spin_lock(&dentry->d_lock);
	name = kloc_name_hash(dentry->d_name.name, dentry->d_name.len);
	spin_unlock(&dentry->d_lock);
	return name;
}

/* A file is opened that nobody had open: what will become of it? */
static void predict(struct knode *knode, const struct file *file)
{
	struct dentry *dentry = file->f_path.dentry;
	struct knode *parent;
	bool stream = false;

	/* Used again: the last time it was no stream after all. */
	if (test_and_clear_bit(KNODE_JUDGED, &knode->flags)) {
		judge(knode, false);
		judge(knode, false);
		if (test_bit(KNODE_STREAM, &knode->flags))
			kloc_count(KLOC_MISPREDICTED, knode, 1);
	}
	parent = directory_of(dentry);
	if (!parent)
		return;

	knode->parent = parent->id;
	knode->stream = (struct kloc_stream) { };
	/* In most directories no file was large enough to tell. */
	if (!kloc_history_is_empty(&parent->history)) {
		knode->stream.name = name_of(dentry);
		stream = kloc_history_says_stream(&parent->history,
						  knode->stream.name);
	}
	if (!stream)
		clear_bit(KNODE_STREAM, &knode->flags);
	else if (!test_and_set_bit(KNODE_STREAM, &knode->flags))
		kloc_count(KLOC_PREDICTED, knode, 1);
}

static void touch(struct knode *knode)
{
	if (knode_touch(&kloc_kmap, knode))
		kloc_queue_promotion(knode, KLOC_TRIAL_WHOLE);
}

/* Called by kloc_file_open(). */
void __kloc_file_open(struct file *file)
{
	struct inode *inode = file_inode(file);
	struct knode *knode;

	rcu_read_lock();
	knode = kloc_knode_of(inode);
	if (knode) {
		if (S_ISREG(inode->i_mode) && !atomic_read(&knode->openers))
			predict(knode, file);
		file->f_mode |= FMODE_KLOC;
		if (knode_open(&kloc_kmap, knode))
			kloc_queue_promotion(knode, KLOC_TRIAL_WHOLE);
	}
	rcu_read_unlock();
}

/* Return: whether that was the last one who had it open. */
static bool close(struct knode *knode)
{
	if (kloc_settings.mode == KLOC_ALLACTIVE)
		return !atomic_dec_if_positive(&knode->openers);
	return knode_close(&kloc_kmap, knode);
}

/* Called by kloc_file_close(). */
void __kloc_file_close(struct file *file)
{
	struct inode *inode = file_inode(file);
	struct knode *knode;

	if (!(file->f_mode & FMODE_KLOC))
		return;

	rcu_read_lock();
	knode = rcu_dereference(inode->i_knode);
	if (knode && close(knode) && S_ISREG(inode->i_mode) &&
	    knode->stream.size >= LEAST_STREAM) {
		bool stream = kloc_stream_is_one(&knode->stream, LEAST_STREAM);

		if (!knode->stream.name)
			knode->stream.name = name_of(file->f_path.dentry);
		judge(knode, stream);
		assign_bit(KNODE_JUDGED, &knode->flags, stream);
	}
	rcu_read_unlock();
}

/*
 * Note how a file is read and written. What is asked for beyond its end is not
 * read. Several at once make it look random, which it is.
 */
static void note_access(struct knode *knode, const struct file *file,
			bool write, loff_t pos, size_t count)
{
	loff_t size = i_size_read(file_inode(file));

	if (write && file->f_flags & O_APPEND)
		pos = size;
	if (!write)
		count = min_t(u64, count, max(size - pos, 0));
	if (count)
		kloc_stream_access(&knode->stream, write, pos, count);
}

/* Called by kloc_file_access(). */
void __kloc_file_access(struct file *file, bool write, const loff_t *pos,
			size_t count)
{
	struct inode *inode = file_inode(file);
	struct knode *knode;

	rcu_read_lock();
	knode = kloc_knode_of(inode);
	if (knode) {
		if (pos && S_ISREG(inode->i_mode))
			note_access(knode, file, write, *pos, count);
		/* What one does not use again others may, who have it open. */
		if (file->f_mode & FMODE_NOREUSE &&
		    atomic_read(&knode->openers) <= 1 &&
		    !test_bit(KNODE_STREAM, &knode->flags))
			set_bit(KNODE_STREAM, &knode->flags);
		touch(knode);
	}
	rcu_read_unlock();
}

/* Called by kloc_inode_touch(). */
void __kloc_inode_touch(struct inode *inode)
{
	struct knode *knode;

	rcu_read_lock();
	knode = kloc_knode_of(inode);
	if (knode)
		touch(knode);
	rcu_read_unlock();
}

/* What is removed soon after it was closed was better not put in slow memory. */
static bool is_soon(const struct knode *knode)
{
	u64 since = knode_now() - READ_ONCE(knode->used);

	return since < (u64)READ_ONCE(kloc_half_life_us) * NSEC_PER_USEC;
}

/* Called by kloc_inode_destroy(). */
void __kloc_inode_destroy(struct inode *inode)
{
	struct knode *knode;

	rcu_read_lock();
	knode = rcu_dereference(inode->i_knode);
	if (knode && !inode->i_nlink &&
	    test_bit(KNODE_JUDGED, &knode->flags) &&
	    is_soon(knode)) {
		judge(knode, false);
		judge(knode, false);
	}
	knode_kill(&kloc_kmap, inode);
	rcu_read_unlock();
}

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

#include <trace/events/kloc.h>

/* Nothing can be told from a file that is smaller, and what is done to it is not noted. */
#define LEAST_STREAM	SZ_256K

/* What is read and written of these is not noted. */
#define NO_FILE		(BIT(KNODE_DIRECTORY) | BIT(KNODE_SYSTEM))

/* Files that were judged, modulo 2^16: since it was that, nothing was learnt. */
static u16 judged;

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
 * kloc_knode_make() - make the knode of an inode that has none, if it is to have one
 * @inode: the inode, which the caller has a reference to
 *
 * Context: RCU read-side critical section.
 * Return: the knode; NULL if there is none.
 */
struct knode *kloc_knode_make(struct inode *inode)
{
	const struct kloc_node *near;

	if (!READ_ONCE(kloc_ready) || !kloc_chosen() || !takes_part(inode))
		return NULL;
	near = READ_ONCE(kloc_near[numa_node_id()]);
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

	if (!parent)
		return;
	kloc_history_add(&parent->history, knode->stream.name, stream);
	set_bit(KNODE_HISTORY, &parent->flags);
	WRITE_ONCE(judged, judged + 1);
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

	WRITE_ONCE(knode->judged, READ_ONCE(judged));
	knode->stream = (struct kloc_stream) { };
	clear_bit(KNODE_NOTED, &knode->flags);
	/* In most directories no file was large enough to tell. */
	if (test_bit(KNODE_HISTORY, &parent->flags))
		stream = kloc_history_says_stream(&parent->history,
						  name_of(dentry));
	if (!stream)
		clear_bit(KNODE_STREAM, &knode->flags);
	else if (!test_and_set_bit(KNODE_STREAM, &knode->flags))
		kloc_count(KLOC_PREDICTED, knode, 1);
}

/* A context has become active. */
static void activated(struct knode *knode)
{
	if (test_bit(KNODE_SLOW, &knode->flags))
		kloc_queue_promotion(knode, KLOC_TRIAL_WHOLE);
}

static void touch(struct knode *knode)
{
	if (knode_touch(&kloc_kmap, knode))
		activated(knode);
}

/* Tell the kmap of a file, if it was told of all that came before meanwhile. */
static void list(struct knode *knode)
{
	if (unlikely(!test_bit(KNODE_LISTED, &knode->flags)))
		knode_list_add(&kloc_kmap, knode);
}

/* Open a file as it was opened before. Return: whether that is all. */
static bool open_again(struct file *file)
{
	struct knode *knode;
	bool opened;

	kloc_enter();
	knode = knode_dereference(file_inode(file)->i_knode);
	if (!knode) {
		kloc_leave();
		return !kloc_chosen();
	}
	opened = READ_ONCE(knode->judged) == READ_ONCE(judged) &&
		 !trace_kloc_activate_enabled() && knode_open_again(knode);
	if (opened) {
		file->f_mode |= FMODE_KLOC;
		list(knode);
	}
	kloc_leave();
	return opened;
}

static noinline void open(struct file *file)
{
	struct knode *knode;

	kloc_enter();
	knode = kloc_knode_of(file_inode(file));
	if (knode) {
		if (!(READ_ONCE(knode->flags) & NO_FILE) &&
		    !atomic_read(&knode->openers))
			predict(knode, file);
		file->f_mode |= FMODE_KLOC;
		if (knode_open(&kloc_kmap, knode))
			activated(knode);
	}
	kloc_leave();
}

/* Called by kloc_file_open(). */
void __kloc_file_open(struct file *file)
{
	if (!open_again(file))
		open(file);
}

/* The use of a file has ended that is large enough to tell how it was. */
static void judge_use(struct knode *knode, struct dentry *dentry)
{
	bool stream = kloc_stream_is_one(&knode->stream, LEAST_STREAM);
	struct knode *parent = directory_of(dentry);

	knode->parent = parent ? parent->id : 0;
	knode->stream.name = name_of(dentry);
	judge(knode, stream);
	assign_bit(KNODE_JUDGED, &knode->flags, stream);
}

/* Close a file as it was closed before. Return: whether that is all. */
static bool close_again(const struct inode *inode)
{
	struct knode *knode;
	bool closed;

	kloc_enter();
	knode = knode_dereference(inode->i_knode);
	closed = knode && kloc_settings.mode != KLOC_ALLACTIVE &&
		 !trace_kloc_deactivate_enabled() && knode_close_again(knode);
	if (closed)
		list(knode);
	kloc_leave();
	return closed;
}

static noinline void close(const struct file *file)
{
	struct knode *knode;
	bool last = false;

	kloc_enter();
	knode = knode_dereference(file_inode(file)->i_knode);
	if (knode && kloc_settings.mode == KLOC_ALLACTIVE)
		last = !atomic_dec_if_positive(&knode->openers);
	else if (knode)
		last = knode_close(&kloc_kmap, knode);
	if (last && !(READ_ONCE(knode->flags) & NO_FILE) &&
	    knode->stream.size >= LEAST_STREAM)
		judge_use(knode, file->f_path.dentry);
	kloc_leave();
}

/* Called by kloc_file_close(). */
void __kloc_file_close(struct file *file)
{
	if (file->f_mode & FMODE_KLOC && !close_again(file_inode(file)))
		close(file);
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
	if (!count)
		return;
	kloc_stream_use(&knode->stream, count);
	if (pos + count < LEAST_STREAM)
		return;
	/* What was not noted is taken for what a stream begins with. */
	if (!knode->stream.flags && pos <= LEAST_STREAM) {
		count += pos;
		pos = 0;
	}
	kloc_stream_access(&knode->stream, write, pos, count);
	if (!test_bit(KNODE_NOTED, &knode->flags))
		set_bit(KNODE_NOTED, &knode->flags);
}

/*
 * Does an access say nothing that is not known? The file is in use, has nothing
 * in slow memory, and only its beginning is asked for.
 */
static bool says_nothing(const struct inode *inode, loff_t pos, size_t count)
{
	const struct knode *knode;
	bool nothing;

	kloc_enter();
	knode = knode_dereference(inode->i_knode);
	if (!knode) {
		kloc_leave();
		return !kloc_chosen();
	}
	nothing = pos + count < LEAST_STREAM &&
		  (READ_ONCE(knode->flags) &
		   (KNODE_USED_MASK | BIT(KNODE_SLOW))) == KNODE_USED;
	kloc_leave();
	return nothing;
}

static noinline void access(bool write, const struct file *file, loff_t pos,
			    size_t count)
{
	struct knode *knode;

	kloc_enter();
	knode = kloc_knode_of(file_inode(file));
	if (knode) {
		if (!(READ_ONCE(knode->flags) & NO_FILE))
			note_access(knode, file, write, pos, count);
		/* What one does not use again others may, who have it open. */
		if (file->f_mode & FMODE_NOREUSE &&
		    atomic_read(&knode->openers) <= 1 &&
		    !test_bit(KNODE_STREAM, &knode->flags))
			set_bit(KNODE_STREAM, &knode->flags);
		touch(knode);
	}
	kloc_leave();
}

/* Called by kloc_file_access(). */
void __kloc_file_access(int direction, const struct file *file, loff_t pos,
			size_t count)
{
	if (!says_nothing(file_inode(file), pos, count))
		access(direction == WRITE, file, pos, count);
}

/* Called by kloc_inode_touch(). */
void __kloc_inode_touch(struct inode *inode)
{
	struct knode *knode;

	if (kloc_has_none(inode))
		return;

	kloc_enter();
	knode = kloc_knode_of(inode);
	if (knode)
		touch(knode);
	kloc_leave();
}

/* Called by kloc_inode_destroy(). */
void __kloc_inode_destroy(struct inode *inode)
{
	struct knode *knode;

	if (!rcu_access_pointer(inode->i_knode))
		return;

	rcu_read_lock();
	knode = rcu_dereference(inode->i_knode);
	/* What is removed so soon was better not put in slow memory. */
	if (knode && !inode->i_nlink &&
	    test_bit(KNODE_JUDGED, &knode->flags) &&
	    knode_is_recent(knode, knode_now())) {
		judge(knode, false);
		judge(knode, false);
	}
	knode_kill(&kloc_kmap, inode);
	rcu_read_unlock();
}

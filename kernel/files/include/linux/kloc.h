/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel-level object contexts (KLOC): hooks for the rest of the kernel.
 *
 * Each hook is a no-op behind a static key unless the selected policy of memory tiers
 * needs contexts. Without CONFIG_TIERING, it compiles to nothing. See
 * Documentation/mm/kloc.rst.
 */
#ifndef _LINUX_KLOC_H
#define _LINUX_KLOC_H

#include <linux/errno.h>
#include <linux/jump_label.h>

struct file;
struct inode;

#ifdef CONFIG_TIERING

DECLARE_STATIC_KEY_FALSE(kloc_key);

void __kloc_inode_destroy(struct inode *inode);
void __kloc_file_open(struct file *file);
void __kloc_file_close(struct inode *inode);
void __kloc_file_access(const struct file *file);
void __kloc_inode_touch(struct inode *inode);
long kloc_prctl(unsigned long what, unsigned long pid, unsigned long on,
		unsigned long zero);

static inline bool kloc_is_on(void)
{
	return static_branch_unlikely(&kloc_key);
}

#else /* !CONFIG_TIERING */

static inline bool kloc_is_on(void)
{
	return false;
}

static inline void __kloc_inode_destroy(struct inode *inode) { }
static inline void __kloc_file_open(struct file *file) { }
static inline void __kloc_file_close(struct inode *inode) { }
static inline void __kloc_file_access(const struct file *file) { }
static inline void __kloc_inode_touch(struct inode *inode) { }

static inline long kloc_prctl(unsigned long what, unsigned long pid,
			      unsigned long on, unsigned long zero)
{
	return -EINVAL;
}

#endif /* CONFIG_TIERING */

/**
 * kloc_inode_destroy() - free the context of an inode that is being destroyed
 * @inode: the inode, without users
 */
static inline void kloc_inode_destroy(struct inode *inode)
{
	if (kloc_is_on())
		__kloc_inode_destroy(inode);
}

/**
 * kloc_file_open() - note for a context that its file was opened
 * @file: the new open file, counted in its inode, not visible to others yet
 */
static inline void kloc_file_open(struct file *file)
{
	if (kloc_is_on())
		__kloc_file_open(file);
}

/**
 * kloc_file_close() - note for a context that an open file was released
 * @inode: inode of the file, which does not count the open file any more
 */
static inline void kloc_file_close(struct inode *inode)
{
	if (kloc_is_on())
		__kloc_file_close(inode);
}

/**
 * kloc_file_access() - note for a context that its file is about to be read or written
 * @file: the open file
 *
 * Not called for files without a position, such as pipes.
 */
static inline void kloc_file_access(const struct file *file)
{
	if (kloc_is_on())
		__kloc_file_access(file);
}

/**
 * kloc_inode_touch() - note for a context that its file is used in another way
 * @inode: the inode; the caller holds a reference
 */
static inline void kloc_inode_touch(struct inode *inode)
{
	if (kloc_is_on())
		__kloc_inode_touch(inode);
}

#endif /* _LINUX_KLOC_H */

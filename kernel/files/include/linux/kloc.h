/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contexts of files: what the rest of the kernel calls. See mm/kloc.
 *
 * All of it is a no-op behind a static key until KLOC is switched on, and
 * nothing at all without CONFIG_KLOC.
 */
#ifndef _LINUX_KLOC_H
#define _LINUX_KLOC_H

#include <linux/errno.h>
#include <linux/jump_label.h>
#include <linux/types.h>

struct address_space;
struct file;
struct folio;
struct inode;

/*
 * kswapd leaves it to contexts to demote their pages until its priority is down
 * to this: they have had the time then, or cannot. With the multi-gen LRU its
 * priority begins at about 6.
 */
#define KLOC_KEEPS_PRIORITY	3

#ifdef CONFIG_KLOC

DECLARE_STATIC_KEY_FALSE(kloc_key);
DECLARE_STATIC_KEY_FALSE(kloc_pages_key);

void __kloc_inode_destroy(struct inode *inode);
void __kloc_file_open(struct file *file);
void __kloc_file_close(struct file *file);
void __kloc_file_access(int direction, const struct file *file, loff_t pos,
			size_t count);
void __kloc_inode_touch(struct inode *inode);
struct folio *__kloc_alloc_folio(struct address_space *mapping, gfp_t gfp,
				 unsigned int order);
void __kloc_folio_added(struct folio *folio);
void __kloc_folio_used(struct folio *folio);
bool __kloc_keeps_folio(struct folio *folio);
bool __kloc_keeps_slab(int nid);
void __kloc_folio_moved(struct folio *src, struct folio *dst);
long kloc_prctl(unsigned long what, unsigned long pid, unsigned long on,
		unsigned long zero);

static inline bool kloc_is_on(void)
{
	return static_branch_unlikely(&kloc_key);
}

/* Does it have to be known which pages are used? */
static inline bool kloc_notes_pages(void)
{
	return static_branch_unlikely(&kloc_pages_key);
}

#else /* !CONFIG_KLOC */

static inline bool kloc_is_on(void)
{
	return false;
}

static inline bool kloc_notes_pages(void)
{
	return false;
}

static inline void __kloc_inode_destroy(struct inode *inode) { }
static inline void __kloc_file_open(struct file *file) { }
static inline void __kloc_file_close(struct file *file) { }

static inline void __kloc_file_access(int direction, const struct file *file,
				      loff_t pos, size_t count)
{
}

static inline void __kloc_inode_touch(struct inode *inode) { }

static inline struct folio *__kloc_alloc_folio(struct address_space *mapping,
					       gfp_t gfp, unsigned int order)
{
	return NULL;
}

static inline void __kloc_folio_added(struct folio *folio) { }
static inline void __kloc_folio_used(struct folio *folio) { }

static inline bool __kloc_keeps_folio(struct folio *folio)
{
	return false;
}

static inline bool __kloc_keeps_slab(int nid)
{
	return false;
}

static inline void __kloc_folio_moved(struct folio *src, struct folio *dst)
{
}

static inline long kloc_prctl(unsigned long what, unsigned long pid,
			      unsigned long on, unsigned long zero)
{
	return -EINVAL;
}

#endif /* CONFIG_KLOC */

/**
 * kloc_inode_destroy() - an inode goes, and its context with it
 * @inode: the inode, which nobody uses any more
 */
static inline void kloc_inode_destroy(struct inode *inode)
{
	if (kloc_is_on())
		__kloc_inode_destroy(inode);
}

/**
 * kloc_file_open() - a file has been opened
 * @file: the file, nobody else has it yet
 */
static inline void kloc_file_open(struct file *file)
{
	if (kloc_is_on())
		__kloc_file_open(file);
}

/**
 * kloc_file_close() - a file is closed for the last time
 * @file: the file, its inode and dentry are still there
 */
static inline void kloc_file_close(struct file *file)
{
	if (kloc_is_on())
		__kloc_file_close(file);
}

/**
 * kloc_file_access() - a file is about to be read or written
 * @direction: READ or WRITE
 * @file: the file
 * @pos: where
 * @count: bytes
 *
 * Not called for what has no position.
 */
static inline void kloc_file_access(int direction, const struct file *file,
				    loff_t pos, size_t count)
{
	if (kloc_is_on())
		__kloc_file_access(direction, file, pos, count);
}

/**
 * kloc_inode_touch() - a file is used in another way
 * @inode: the inode, which the caller keeps
 */
static inline void kloc_inode_touch(struct inode *inode)
{
	if (kloc_is_on())
		__kloc_inode_touch(inode);
}

/**
 * kloc_alloc_folio() - allocate page cache where its context should be
 * @mapping: that the folio is for
 * @gfp: how
 * @order: of the folio
 *
 * Nothing is reclaimed, and nobody woken, for having a folio in the one tier
 * rather than in the other.
 *
 * Return: the folio, or NULL: then allocate it as if there were no contexts.
 */
static inline struct folio *kloc_alloc_folio(struct address_space *mapping,
					     gfp_t gfp, unsigned int order)
{
	return kloc_is_on() ? __kloc_alloc_folio(mapping, gfp, order) : NULL;
}

/**
 * kloc_folio_added() - a folio was added to the page cache
 * @folio: the folio, locked
 */
static inline void kloc_folio_added(struct folio *folio)
{
	if (kloc_is_on())
		__kloc_folio_added(folio);
}

/**
 * kloc_folio_used() - a folio of the page cache is used
 * @folio: the folio, which the caller has a reference to
 */
static inline void kloc_folio_used(struct folio *folio)
{
	if (kloc_notes_pages())
		__kloc_folio_used(folio);
}

/**
 * kloc_keeps_folio() - is a folio moved by its context alone?
 * @folio: the folio, locked
 *
 * Return: true if reclaim should not demote it.
 */
static inline bool kloc_keeps_folio(struct folio *folio)
{
	return kloc_is_on() && __kloc_keeps_folio(folio);
}

/**
 * kloc_keeps_slab() - does kswapd leave inodes and dentries where they are?
 * @nid: node that is short of memory
 *
 * Making them again costs more than is won where another tier has room for what
 * can be moved and for new ones.
 *
 * Return: true if they are not to be shrunk there by this task.
 */
static inline bool kloc_keeps_slab(int nid)
{
	return kloc_is_on() && __kloc_keeps_slab(nid);
}

/**
 * kloc_folio_moved() - a folio was migrated, and not by its context
 * @src: where it was
 * @dst: where it is, locked
 */
static inline void kloc_folio_moved(struct folio *src, struct folio *dst)
{
	if (kloc_is_on())
		__kloc_folio_moved(src, dst);
}

#endif /* _LINUX_KLOC_H */

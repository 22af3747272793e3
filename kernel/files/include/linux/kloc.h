/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel-level object contexts (KLOC): hooks for the rest of the kernel.
 *
 * While KLOC is disabled, each hook is a no-op behind a static key. Without
 * CONFIG_KLOC, it compiles to nothing. See Documentation/mm/kloc.rst.
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
 * kswapd does not demote pages of contexts before its priority drops to this
 * value: klocd comes first. At this value klocd had the time to demote them, or
 * cannot. With the multi-gen LRU the priority of kswapd begins at about 6.
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

/* Is the use of single pages tracked? Enabled when fast memory gets short. */
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
 * kloc_inode_destroy() - free the context of an inode that is being destroyed
 * @inode: the inode, without users
 */
static inline void kloc_inode_destroy(struct inode *inode)
{
	if (kloc_is_on())
		__kloc_inode_destroy(inode);
}

/**
 * kloc_file_open() - tell the context of a file that the file was opened
 * @file: the new open file, not visible to anyone else yet
 */
static inline void kloc_file_open(struct file *file)
{
	if (kloc_is_on())
		__kloc_file_open(file);
}

/**
 * kloc_file_close() - tell the context of a file that an open file is released
 * @file: the open file, with its inode and dentry still valid
 */
static inline void kloc_file_close(struct file *file)
{
	if (kloc_is_on())
		__kloc_file_close(file);
}

/**
 * kloc_file_access() - tell a context that its file will be read or written
 * @direction: READ or WRITE
 * @file: the open file
 * @pos: position of the first byte
 * @count: bytes requested
 *
 * Not called for files without a position, such as pipes.
 */
static inline void kloc_file_access(int direction, const struct file *file,
				    loff_t pos, size_t count)
{
	if (kloc_is_on())
		__kloc_file_access(direction, file, pos, count);
}

/**
 * kloc_inode_touch() - tell a context that its file is used in another way
 * @inode: the inode, which the caller has a reference to
 */
static inline void kloc_inode_touch(struct inode *inode)
{
	if (kloc_is_on())
		__kloc_inode_touch(inode);
}

/**
 * kloc_alloc_folio() - allocate a folio of page cache in its context's tier
 * @mapping: mapping that the folio is for
 * @gfp: allocation flags
 * @order: order of the folio
 *
 * Does not reclaim and does not wake kswapd: having a folio in one tier rather
 * than the other is not worth that.
 *
 * Return: the folio, or NULL if the caller must allocate it without contexts.
 */
static inline struct folio *kloc_alloc_folio(struct address_space *mapping,
					     gfp_t gfp, unsigned int order)
{
	return kloc_is_on() ? __kloc_alloc_folio(mapping, gfp, order) : NULL;
}

/**
 * kloc_folio_added() - tell a context that it got a new folio of page cache
 * @folio: the folio, locked
 */
static inline void kloc_folio_added(struct folio *folio)
{
	if (kloc_is_on())
		__kloc_folio_added(folio);
}

/**
 * kloc_folio_used() - track the use of a folio of the page cache
 * @folio: the folio, which the caller has a reference to
 */
static inline void kloc_folio_used(struct folio *folio)
{
	if (kloc_notes_pages())
		__kloc_folio_used(folio);
}

/**
 * kloc_keeps_folio() - check if only its context may demote a folio
 * @folio: the folio, locked
 *
 * Return: true if reclaim should not demote the folio.
 */
static inline bool kloc_keeps_folio(struct folio *folio)
{
	return kloc_is_on() && __kloc_keeps_folio(folio);
}

/**
 * kloc_keeps_slab() - check if kswapd should not shrink inodes and dentries
 * @nid: node that is short of memory
 *
 * While slow memory has free memory for page cache and new slab, reading the
 * shrunk objects from disk again costs more than shrinking them gains.
 *
 * Return: true if this task should not shrink them on the node.
 */
static inline bool kloc_keeps_slab(int nid)
{
	return kloc_is_on() && __kloc_keeps_slab(nid);
}

/**
 * kloc_folio_moved() - tell a context that someone else migrated its folio
 * @src: the old folio
 * @dst: the new folio, locked
 */
static inline void kloc_folio_moved(struct folio *src, struct folio *dst)
{
	if (kloc_is_on())
		__kloc_folio_moved(src, dst);
}

#endif /* _LINUX_KLOC_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kind of each page: the purpose that the guest's kernel uses it for. The model reads
 * it from the kernel's struct page, in the memory that it shares with the guest.
 *
 * Limits:
 * - A new page, which is zeroed or filled before it has an owner, has the kind
 *   that its requester told the page allocator (kloc_machine_tag in the guest's
 *   kernel).
 * - vmalloc, per-CPU memory and drivers' buffers cannot be told from each other;
 *   they are KIND_OTHER.
 */
#ifndef PAGES_H
#define PAGES_H

#include <linux/kloc_machine.h>
#include <stdbool.h>

#include "ram.h"

/* Page kinds. KIND_SLAB and above are slab caches, numbered as they are first seen. */
enum kind {
	KIND_UNKNOWN,		/* of all pages, until the guest describes its structures */
	KIND_FREE,
	KIND_ANON,
	KIND_FILE,		/* page cache of files */
	KIND_BLOCKDEV,		/* page cache of block devices: metadata of file systems */
	KIND_SHMEM,
	KIND_PAGETABLE,
	KIND_STACK,		/* kernel stacks */
	KIND_SOCKET,		/* socket buffers */
	KIND_KERNEL,		/* reserved at boot: text, data, memmap */
	KIND_OTHER,
	KIND_SLAB_OTHER,	/* a slab whose cache is unknown */
	KIND_SLAB,
	KINDS_MAX = 512,
};

#define CACHE_SLOTS	2048	/* entries of pages.caches, a power of two */

struct pages {
	const struct ram *ram;
	bool known;				/* layout is valid */
	struct kloc_machine_layout layout;
	unsigned int kind_count;		/* kinds so far; grows with new slab caches */
	char *names[KINDS_MAX];			/* of kinds from KIND_SLAB on */
	struct {
		uint64_t cache;			/* address of a kmem_cache, 0: empty */
		unsigned int kind;
	} caches[CACHE_SLOTS];			/* hash table from kmem_cache to kind */
};

void pages_init(struct pages *pages, const struct ram *ram);
void pages_free(struct pages *pages);

/*
 * Set the layout of the guest kernel's structures. If it is not valid, return
 * false; then all pages are KIND_UNKNOWN.
 */
bool pages_set_layout(struct pages *pages, const struct kloc_machine_layout *layout);

/*
 * Forget the names of slab caches, to read them again: another cache may have
 * been created at the address of one that was destroyed.
 */
void pages_forget_caches(struct pages *pages);

/* Prefetch, into the host's caches, the struct page that pages_kind() will read. */
void pages_prefetch(const struct pages *pages, uint64_t physical);

/*
 * Return the kind of the page at this physical address, which is being accessed. The
 * kind is below pages->kind_count and never KIND_FREE: a page that looks free but is
 * accessed is on its way to an owner (pages are zeroed before they are handed out), and
 * has the kind that it was requested for, or KIND_OTHER.
 */
unsigned int pages_kind(struct pages *pages, uint64_t physical);

/*
 * Return the kind of the page with this physical frame number. Unlike pages_kind(), it
 * returns KIND_FREE until the page has an owner.
 */
unsigned int pages_state(struct pages *pages, uint64_t frame);

/* Return whether frame tail is a tail of the compound page whose head is frame head. */
bool pages_is_tail_of(const struct pages *pages, uint64_t tail, uint64_t head);

/* Return the name of a kind below KIND_SLAB. */
const char *pages_fixed_name(unsigned int kind);

/* Return the name of any kind, such as "anon" or "slab:dentry"; pages owns the string. */
const char *pages_kind_name(const struct pages *pages, unsigned int kind);

/* Visit count frames from physical on, all of one kind and in one range. */
typedef void (*pages_visit)(void *data, const struct ram_range *range, uint64_t physical,
			    uint64_t count, unsigned int kind);

/* Visit all of the guest's memory, in the order of the ranges. */
void pages_walk(struct pages *pages, pages_visit visit, void *data);

#endif /* PAGES_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a page of the guest is for, read from the guest kernel's own struct
 * page in the memory that the model shares with it.
 */
#ifndef PAGES_H
#define PAGES_H

#include <linux/kloc_machine.h>
#include <stdbool.h>

#include "ram.h"

/* Kinds of pages; those from KIND_SLAB on are slab caches, by name. */
enum kind {
	KIND_UNKNOWN,		/* the guest has not told its layout */
	KIND_FREE,
	KIND_ANON,
	KIND_FILE,
	KIND_BLOCKDEV,		/* of a block device's own mapping: metadata of file systems */
	KIND_SHMEM,
	KIND_PAGETABLE,
	KIND_STACK,
	KIND_SOCKET,
	KIND_KERNEL,		/* reserved at boot: text, data, memmap */
	KIND_OTHER,
	KIND_SLAB_OTHER,	/* a cache that cannot be told */
	KIND_SLAB,
	KINDS_MAX = 512,
};

#define CACHE_SLOTS	2048	/* of the hash table below, a power of two */

struct pages {
	const struct ram *ram;
	bool known;				/* the layout is given */
	struct kloc_machine_layout layout;
	unsigned int kind_count;
	char *names[KINDS_MAX];
	struct {
		uint64_t cache;			/* address of a kmem_cache, 0: none */
		unsigned int kind;
	} caches[CACHE_SLOTS];
};

void pages_init(struct pages *pages, const struct ram *ram);
void pages_free(struct pages *pages);

/*
 * Take over what the guest says of its structures. A layout that makes no
 * sense is refused, and all pages stay KIND_UNKNOWN.
 */
bool pages_set_layout(struct pages *pages, const struct kloc_machine_layout *layout);

/* Caches may have been destroyed and made since: look at their names again. */
void pages_forget_caches(struct pages *pages);

/*
 * The kind of the page at this physical address, which is being accessed; below
 * pages->kind_count. It cannot be free: one that looks so is on its way to an
 * owner (pages are zeroed before they are handed out), and is what it was asked
 * for, or other.
 */
unsigned int pages_kind(struct pages *pages, uint64_t physical);

/*
 * The kind of a frame, by its number in physical memory: KIND_FREE if nobody
 * has it, though it may be accessed on its way to an owner.
 */
unsigned int pages_state(struct pages *pages, uint64_t frame);

/* Do these two frames belong to a compound page, of which one is the head? */
bool pages_is_tail_of(const struct pages *pages, uint64_t tail, uint64_t head);

/* The name of a kind below KIND_SLAB. */
const char *pages_fixed_name(unsigned int kind);

/* "anon", "slab:dentry"; the strings live as long as pages. */
const char *pages_kind_name(const struct pages *pages, unsigned int kind);

/* Called for count frames from physical on, all of one kind and one range. */
typedef void (*pages_visit)(void *data, const struct ram_range *range, uint64_t physical,
			    uint64_t count, unsigned int kind);

/* Walk all of the guest's memory. */
void pages_walk(struct pages *pages, pages_visit visit, void *data);

#endif /* PAGES_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The TLB of one core, its paging-structure cache, and the walk of page tables.
 *
 * The first level has separate arrays for 4 KiB and 2 MiB pages, the second level has one
 * for both. All are set-associative with exact LRU. An entry that the first level evicts
 * stays in the second, unless the second has evicted it before. The paging-structure
 * cache holds the last entries of each of the three levels of directories above the
 * page table (4, 4 and 32 entries), so that most walks read one entry only.
 *
 * An entry is found by its virtual page and the number of its address space; kernel
 * addresses are the same in all spaces. The entry also holds the page's frame: if the page
 * has another frame now, the entry is stale, and is not found.
 *
 * So a switch of address spaces flushes nothing. The guest's processor has no PCID, and
 * its kernel flushes by loading CR3; but the servers that the profiles stand for have
 * PCID, and their kernels keep the entries of the last spaces. Loading CR3 with the value
 * that it has flushes that space: the caller calls tlb_flush_space().
 *
 * Limits:
 * - If a page of a space that is not loaded changes, its entry becomes stale only with a
 *   new frame: not if the page becomes read-only, or its Accessed bit is cleared.
 * - Pages of 1 GiB are held as pages of 2 MiB. All kernel pages count as global.
 * - There are no instruction TLBs, and no speculative walks.
 * - Four-level paging only.
 */
#ifndef TLB_H
#define TLB_H

#include <stdbool.h>

#include "units.h"

#define TLB_HUGE_SHIFT		21
#define TLB_LEVELS		4	/* levels of a page table */
#define TLB_DIRECTORIES		3	/* levels in the paging-structure cache */

struct tlb_shape {
	unsigned int entries, ways;	/* entries / ways is a power of two */
};

struct tlb_config {
	struct tlb_shape small;		/* first level, 4 KiB pages */
	struct tlb_shape huge;		/* first level, 2 MiB pages */
	struct tlb_shape second;	/* second level, both */
};

/* A set-associative array of keys and frames; a set's entries are in order of use. */
struct tlb_array {
	uint64_t *keys;
	uint64_t *frames;
	uint64_t set_mask;
	unsigned int ways;
};

struct tlb {
	struct tlb_array small, huge, second;
	struct tlb_array directories[TLB_DIRECTORIES];	/* the top first; for frames, tables */
};

enum tlb_result { TLB_FIRST, TLB_SECOND, TLB_MISS };

/* Set up an empty TLB. Return false if memory is short. */
bool tlb_init(struct tlb *tlb, const struct tlb_config *config);
void tlb_free(struct tlb *tlb);

/*
 * Look up an address in the address space with this number. physical is its current
 * physical address. A second-level hit is put into the first level. After a miss the
 * caller walks the page table and calls tlb_insert().
 */
enum tlb_result tlb_find(struct tlb *tlb, uint64_t address, uint32_t space,
			 uint64_t physical);

/*
 * Insert a page that tlb_find() has just missed into both levels. page_shift is 12, or
 * 21 and more for a huge page.
 */
void tlb_insert(struct tlb *tlb, uint64_t address, uint32_t space, uint64_t physical,
		unsigned int page_shift);

/* INVLPG: drop the page of this address, of either size, and all directory entries. */
void tlb_flush_page(struct tlb *tlb, uint64_t address, uint32_t space);

/* Drop all entries of one space, but not the kernel's. */
void tlb_flush_space(struct tlb *tlb, uint32_t space);

/* Drop everything, the kernel's entries too. */
void tlb_flush_all(struct tlb *tlb);

/* A walk: the page-table entries that translate an address. */
struct tlb_walk {
	unsigned int levels;		/* 4; 3 for a page of 2 MiB, 2 for 1 GiB */
	unsigned int first;		/* see tlb_skip(); 0 after tlb_walk() */
	unsigned int page_shift;	/* 12, 21 or 30 */
	uint64_t entries[TLB_LEVELS];	/* their physical addresses, the top first */
	uint64_t physical;		/* the translated address */
};

/*
 * Return a pointer to the eight bytes at this guest-physical address, or NULL. They
 * must be writable.
 */
typedef uint64_t *tlb_memory(void *context, uint64_t physical);

/*
 * Walk the page table at root (the value of CR3), and set the Accessed bit in each entry
 * that lacks it, as a processor does. Return false if the address has no page.
 */
bool tlb_walk(struct tlb_walk *walk, uint64_t root, uint64_t address, tlb_memory *memory,
	      void *context);

/*
 * Set walk.first to the first entry that the core has to read: the paging-structure cache
 * has those above. Insert the walk's directory entries into that cache.
 */
void tlb_skip(struct tlb *tlb, struct tlb_walk *walk, uint64_t address, uint32_t space);

#endif /* TLB_H */

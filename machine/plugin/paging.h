/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Address spaces and translation: TLB look-ups, page-table walks, and the guest's flushes
 * and switches of address spaces.
 *
 * A walk reads the entries of the page table through the core's caches. It delays the
 * access, and the stall that it causes is counted for the page table.
 *
 * Limits:
 * - The TLB is looked up on L1 misses only: a line that the L1 holds has no TLB miss.
 * - A walk that sets an Accessed bit does not make the page table's line dirty.
 */
#ifndef PAGING_H
#define PAGING_H

#include "machine.h"

struct access;

/*
 * Translate the address of an access to the line `where`, at at_ps. Return how long it
 * takes, and set *source to the slowest part: the second-level TLB, or the table whose
 * entry took longest.
 */
uint64_t paging_translate(struct machine *machine, unsigned int core,
			  const struct access *access, const struct ram_line *where,
			  uint64_t at_ps, struct overlap_source *source);

/* The core loads CR3: other page tables, or the same ones, which flushes them. */
void paging_set_root(struct machine *machine, unsigned int core, uint64_t root);

/* The core drops the TLB entry of an address, or all entries. */
void paging_flush_page(struct machine *machine, unsigned int core, uint64_t address);
void paging_flush_all(struct machine *machine, unsigned int core);

#endif /* PAGING_H */

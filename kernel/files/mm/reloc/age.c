// SPDX-License-Identifier: GPL-2.0
/*
 * Relocatable slabs: the uses of pages.
 *
 * The CPU sets the accessed bit in the PTE of a page. The bit covers all objects of the
 * page together, and costs a user of the objects one TLB miss a scan.
 */
#include <linux/memory-tiers.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/numa.h>
#include <linux/sched.h>
#include <asm/tlbflush.h>

#include "reloc.h"

/* Scans after which the number of moves of a page is decremented. */
#define RELOC_FORGET	64

/* Scans since boot. Protected by reloc_mutex. */
static unsigned int reloc_scans;

/* Age the pages of a chunk by a scan. Return: true if any page was accessed. */
static bool reloc_age_chunk(unsigned long index)
{
	char *chunk = (char *)reloc_chunk_at(index);
	bool accessed = false;
	unsigned int i;

	for (i = RELOC_FIRST_PAGE; i < RELOC_CHUNK_PAGES; i++) {
		char *addr = chunk + i * PAGE_SIZE;
		struct reloc_page *page = reloc_page_of(addr);
		pte_t *ptep = reloc_pte(addr);
		struct tiering_use use;
		bool young;

		if (reloc_page_nid(page) == NUMA_NO_NODE || !pte_present(ptep_get(ptep)))
			continue;
		young = reloc_pte_test_and_clear_young(ptep);
		use = page->use;
		use.history = tiering_use_history(&use, 1);
		if (young)
			tiering_use_note(&use);
		if (reloc_scans % RELOC_FORGET == 0 && use.moves)
			use.moves--;
		/* reloc_is_idle() reads the history without a lock. */
		WRITE_ONCE(page->use, use);
		page->age = min(page->age + 1, U8_MAX);
		accessed |= young;
	}
	return accessed;
}

/**
 * reloc_age() - end a scan, and note the pages that were accessed in it
 *
 * Context: process; may sleep.
 */
void reloc_age(void)
{
	unsigned long index = 0;
	bool accessed = false;

	if (!reloc_is_enabled())
		return;
	for (;;) {
		mutex_lock(&reloc_mutex);
		index = reloc_next_chunk(index);
		if (index < RELOC_CHUNKS)
			accessed |= reloc_age_chunk(index);
		else
			reloc_scans++;
		mutex_unlock(&reloc_mutex);
		if (index++ >= RELOC_CHUNKS)
			break;
		cond_resched();
	}
	/* A CPU with a stale TLB entry would not set the accessed bit again. */
	if (accessed)
		flush_tlb_kernel_range(RELOC_START, RELOC_START + RELOC_SIZE);
}

/**
 * reloc_is_idle() - test whether a page was unused since the last scan began
 * @addr: the address of an object, which the caller keeps and has not read
 *
 * Context: any.
 * Return: true if the page is idle; false for addresses outside of the arena.
 */
bool reloc_is_idle(const void *addr)
{
	return is_reloc_addr(addr) && !pte_young(ptep_get(reloc_pte(addr))) &&
	       !(READ_ONCE(reloc_page_of(addr)->use.history) & BIT(0));
}

/**
 * reloc_moves() - count the recent moves of an object's page
 * @addr: the address of an object, which the caller keeps
 *
 * Context: any.
 * Return: the moves, of which one is forgotten every 64 scans; 0 for addresses outside
 * of the arena.
 */
unsigned int reloc_moves(const void *addr)
{
	/* The page may move meanwhile, which adds one. */
	return is_reloc_addr(addr) ? data_race(reloc_page_of(addr)->use.moves) : 0;
}

/**
 * reloc_nid_now() - get the current node of an object, without sleeping
 * @addr: the address of an object, which the caller keeps
 *
 * The object may move at any time.
 *
 * Context: any.
 * Return: the node; NUMA_NO_NODE for addresses outside of the arena.
 */
int reloc_nid_now(const void *addr)
{
	return is_reloc_addr(addr) ? page_to_nid(pte_page(ptep_get(reloc_pte(addr)))) :
				     NUMA_NO_NODE;
}

/* SLUB allocates no new objects from slabs in slow memory. */
static bool reloc_holds_demoted;

/**
 * reloc_hold_demoted() - forbid or allow new objects on slabs in slow memory
 * @hold: forbid new objects; for policies that promote used slabs
 *
 * Context: any.
 */
void reloc_hold_demoted(bool hold)
{
	WRITE_ONCE(reloc_holds_demoted, hold);
}

/**
 * reloc_is_away() - test whether an address is below the tier of its home node and on hold
 * @addr: an address in a slab, whose page counts
 *
 * Context: any in which the slab is not freed.
 * Return: true if SLUB must not allocate a new object there.
 */
bool reloc_is_away(const void *addr)
{
	return READ_ONCE(reloc_holds_demoted) &&
	       node_is_toptier(page_to_nid(reloc_desc(addr))) &&
	       !node_is_toptier(reloc_nid_now(addr));
}

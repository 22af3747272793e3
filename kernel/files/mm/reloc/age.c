// SPDX-License-Identifier: GPL-2.0
/*
 * Relocatable slabs: which pages are used.
 *
 * The CPU says in the PTE of a page whether it was accessed since somebody cleared the
 * bit. That is known for all objects of a page together, and costs nobody who uses
 * them anything but that a TLB entry is loaded anew.
 */
#include <linux/memory-tiers.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/numa.h>
#include <linux/sched.h>
#include <asm/tlbflush.h>

#include "reloc.h"

/* Scans after which one move of a page is forgotten. */
#define RELOC_FORGET	64

/* How many scans are over. Protected by reloc_mutex. */
static unsigned int reloc_scans;

/* Pages of a chunk get a scan older. Return: whether any of them was accessed. */
static bool reloc_age_chunk(unsigned long index)
{
	char *chunk = (char *)reloc_chunk_at(index);
	bool accessed = false;
	unsigned int i;

	for (i = RELOC_FIRST_PAGE; i < RELOC_CHUNK_PAGES; i++) {
		char *addr = chunk + i * PAGE_SIZE;
		struct reloc_page *page = reloc_page_of(addr);
		pte_t *ptep = reloc_pte(addr);
		bool young;

		if (reloc_page_nid(page) == NUMA_NO_NODE || !pte_present(ptep_get(ptep)))
			continue;
		young = reloc_pte_test_and_clear_young(ptep);
		WRITE_ONCE(page->history, page->history << 1 | young);
		page->age = min(page->age + 1, U8_MAX);
		page->uses = min(page->uses + young, U8_MAX);
		if (reloc_scans % RELOC_FORGET == 0 && page->moves)
			page->moves--;
		accessed |= young;
	}
	return accessed;
}

/**
 * reloc_age() - a scan is over: note which pages were accessed in it
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
	/* A CPU that has the page in its TLB would not set the bit again. */
	if (accessed)
		flush_tlb_kernel_range(RELOC_START, RELOC_START + RELOC_SIZE);
}

/**
 * reloc_is_idle() - has nobody used a page since the last scan began?
 * @addr: the address of an object, which the caller keeps, and has not looked at
 *
 * Context: any.
 * Return: true if so; false for what is not in the arena.
 */
bool reloc_is_idle(const void *addr)
{
	return is_reloc_addr(addr) && !pte_young(ptep_get(reloc_pte(addr))) &&
	       !(READ_ONCE(reloc_page_of(addr)->history) & BIT(0));
}

/**
 * reloc_nid_now() - which node is an object on at this moment?
 * @addr: the address of an object, which the caller keeps
 *
 * As reloc_nid(), for who cannot sleep. It may move a moment later.
 *
 * Context: any.
 * Return: the node; NUMA_NO_NODE for what is not in the arena.
 */
int reloc_nid_now(const void *addr)
{
	return is_reloc_addr(addr) ? page_to_nid(pte_page(ptep_get(reloc_pte(addr)))) :
				     NUMA_NO_NODE;
}

/* Should slabs that are in slow memory get no new objects? */
static bool reloc_holds_demoted;

/**
 * reloc_hold_demoted() - have slabs in slow memory get no new objects, or have them get some
 * @hold: no new objects; for as long as somebody brings slabs back that are used
 *
 * Context: any.
 */
void reloc_hold_demoted(bool hold)
{
	WRITE_ONCE(reloc_holds_demoted, hold);
}

/**
 * reloc_is_away() - is a slab in a lower tier than the one that it was allocated in, and
 * should it get no new objects there?
 * @addr: the address of the slab
 *
 * Its pages can be on several nodes; this is about the first one.
 *
 * Context: any in which the slab stays.
 * Return: true if so.
 */
bool reloc_is_away(const void *addr)
{
	return READ_ONCE(reloc_holds_demoted) &&
	       node_is_toptier(page_to_nid(reloc_desc(addr))) &&
	       !node_is_toptier(reloc_nid_now(addr));
}

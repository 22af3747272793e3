// SPDX-License-Identifier: GPL-2.0
/*
 * Translation of addresses: looks up TLBs, walks page tables through the caches, and
 * follows the guest's loads of CR3 and flushes.
 */
#include <string.h>

#include "access.h"
#include "hierarchy.h"
#include "paging.h"

#define ROOT_MASK	(~(FRAME_BYTES - 1))	/* of CR3: the root table's address */

/*
 * Read an entry of a page table at at_ps, through the core's caches. The L1 is looked up
 * by the address at which the kernel maps the table. Return how long it takes; set *tier
 * to the tier that served the line, or TIER_CACHE.
 */
static uint64_t read_entry(struct machine *machine, unsigned int number,
			   const struct ram_line *where, uint64_t at_ps, unsigned int *tier)
{
	struct core *core = &machine->cores[number];
	uint64_t key = space_key(&core->space, machine->pages.layout.page_offset +
				 (where->line << LINE_SHIFT));
	struct fetched fetched;

	*tier = TIER_CACHE;
	filter_drop(core->filter, key);
	if (cache_use(&core->l1, cache_set(&core->l1, key), key))
		return 0;
	if (!hierarchy_fetch_from_caches(machine, number, where->line, false, at_ps, &fetched))
		hierarchy_fetch_from_tier(machine, number, where, at_ps, true, false, &fetched);
	hierarchy_fill_l1(machine, number, key, where->line, fetched.flags, at_ps);
	*tier = fetched.tier;
	return fetched.latency_ps + fetched.bandwidth_ps;
}

static uint64_t *word_at(void *context, uint64_t physical)
{
	const struct machine *machine = context;

	return ram_word(&machine->ram, physical);
}

/*
 * Walk the page table for an access at at_ps. Return how long it takes, and set *source
 * to the table whose entry took longest.
 */
static uint64_t walk_tables(struct machine *machine, unsigned int number,
			    const struct access *access, uint64_t at_ps,
			    struct overlap_source *source)
{
	struct core *core = &machine->cores[number];
	uint64_t walk_ps = 0, longest_ps = 0;
	struct tlb_walk walk;

	if (!core->root || !tlb_walk(&walk, core->root & ROOT_MASK, access->address, word_at,
				     machine))
		return 0;
	tlb_skip(&core->tlb, &walk, access->address, core->space.number);
	for (unsigned int level = walk.first; level < walk.levels; level++) {
		const struct ram_line where = ram_resolve(&machine->ram, walk.entries[level]);
		unsigned int tier;
		uint64_t entry_ps;

		if (!where.range)
			continue;
		entry_ps = read_entry(machine, number, &where, at_ps + walk_ps, &tier);
		walk_ps += entry_ps;
		if (entry_ps <= longest_ps)
			continue;
		longest_ps = entry_ps;
		*source = (struct overlap_source){
			.frame = (uint32_t)where.frame,
			.tier = (uint8_t)tier,
			.kernel = access->kernel,
		};
	}
	tlb_insert(&core->tlb, access->address, core->space.number, walk.physical,
		   walk.page_shift);
	machine->region.walks++;
	machine->region.walk_ps += walk_ps;
	return walk_ps;
}

uint64_t paging_translate(struct machine *machine, unsigned int number,
			  const struct access *access, const struct ram_line *where,
			  uint64_t at_ps, struct overlap_source *source)
{
	struct core *core = &machine->cores[number];

	switch (tlb_find(&core->tlb, access->address, core->space.number,
			 where->line << LINE_SHIFT)) {
	case TLB_FIRST:
		return 0;
	case TLB_SECOND:
		source->tier = TIER_CACHE;
		machine->region.stlb_hits++;
		return machine->config.stlb_ps;
	case TLB_MISS:
		break;
	}
	return walk_tables(machine, number, access, at_ps, source);
}

/* All numbers of address spaces are used up: empty the L1s and TLBs, and number anew. */
static void restart_spaces(struct machine *machine)
{
	memset(&machine->directory, 0, sizeof(machine->directory));
	for (unsigned int i = 0; i < machine->config.cores; i++) {
		struct core *core = &machine->cores[i];

		cache_clear(&core->l1);
		filter_clear(core->filter);
		tlb_flush_all(&core->tlb);
		if (core->root)
			spaces_switch(&machine->spaces, &core->space, core->root);
	}
}

void paging_set_root(struct machine *machine, unsigned int number, uint64_t root)
{
	struct core *core = &machine->cores[number];

	if (number >= CORES_MAX)
		return;
	if ((core->root & ROOT_MASK) == (root & ROOT_MASK)) {
		tlb_flush_space(&core->tlb, core->space.number);
		return;
	}
	core->root = root;
	filter_drop_user(core->filter);
	if (spaces_switch(&machine->spaces, &core->space, root))
		restart_spaces(machine);
}

void paging_flush_page(struct machine *machine, unsigned int number, uint64_t address)
{
	struct core *core = &machine->cores[number];

	tlb_flush_page(&core->tlb, address, core->space.number);
}

void paging_flush_all(struct machine *machine, unsigned int number)
{
	tlb_flush_all(&machine->cores[number].tlb);
}

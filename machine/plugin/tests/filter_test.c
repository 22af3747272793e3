// SPDX-License-Identifier: GPL-2.0
/*
 * Filters change no figure: a run in which translated code leaves out accesses has the
 * report of a run in which the model sees all of them.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "rig.h"

#define CORES		3
#define USER		0x7f1234567000ULL
#define KERNEL		0xffff888000000000ULL
#define ROOT		(64 * FRAME_BYTES)	/* of each address space, 16 frames apart */
#define SPACE		(16 * FRAME_BYTES)

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 8;
}

/*
 * Check that each entry of a filter is the first line of its set, and that entries for
 * stores are dirty and not shared.
 */
static void filters_are_right(void)
{
	for (unsigned int i = 0; i < CORES; i++) {
		const struct core *core = &rig.cores[i];

		for (uint64_t entry = 0; entry < FILTER_LINES; entry++) {
			const struct cache_line *first = cache_set(&core->l1, entry);
			uint64_t load = core->filter->loads[entry];
			uint64_t store = core->filter->stores[entry];

			if (load != FILTER_NONE(entry))
				CHECK(first->key == space_key(&core->space, load));
			if (store == FILTER_NONE(entry))
				continue;
			CHECK(store == load);
			CHECK((first->line & (CACHE_DIRTY | CACHE_SHARED)) == CACHE_DIRTY);
		}
	}
}

/* Access one of few lines, as a user or, by another address, as the kernel. */
static void access_any(unsigned int core, unsigned int space, uint64_t number)
{
	uint64_t offset = number % 8 ? number / 8 % 16 * 24 : number / 8 % FRAME_BYTES & ~7ULL;
	uint64_t physical = RIG_SLOW + space * 8 * FRAME_BYTES + offset;
	bool store = number >> 20 & 1;

	if (number >> 21 & 1)
		rig_access(core, KERNEL + physical + (number >> 24) % 4 * MEGA,
			   physical + (number >> 24) % 4 * MEGA, store);
	else
		rig_access(core, USER + offset, physical, store);
}

/*
 * Run a region on three cores in two address spaces, with all operations that change an
 * L1. Return the report.
 */
static char *do_everything(bool skips)
{
	unsigned int spaces[CORES] = { 0 };
	uint64_t state = 88172645463325252ULL;
	char *report;

	rig_skips = skips;
	rig_start("cores=3\nllc_ns=20\nsnoop_ns=50\n");
	for (unsigned int space = 0; space < 2; space++)
		rig_map(ROOT + space * SPACE, USER, RIG_SLOW + space * 8 * FRAME_BYTES);
	rig_call(KLOC_MACHINE_WARM);
	for (int i = 0; i < 100000; i++) {
		uint64_t number = next_random(&state);
		unsigned int core = i / 20 % CORES;

		if (number % 500 == 0) {
			spaces[core] = (unsigned int)(number / 500 % 2);
			paging_set_root(&rig, core, ROOT + spaces[core] * SPACE);
		} else if (number % 500 == 1) {
			paging_flush_all(&rig, core);
		} else if (number % 500 == 2) {
			access_by_device(&rig, RIG_SLOW, 128, number & 1 << 10, rig_now_ps[core]);
		} else {
			access_any(core, spaces[core], number / 500);
		}
		filters_are_right();
		if (i == 30000)
			rig_call(KLOC_MACHINE_BEGIN);
		if (i == 60000)
			rig_call(KLOC_MACHINE_END);
		if (i == 70000)
			rig_call(KLOC_MACHINE_BEGIN);
	}
	rig_call(KLOC_MACHINE_END);
	report = strdup(rig.reports);
	CHECK(report != NULL);
	rig_stop();
	rig_skips = false;
	return report;
}

static void a_filter_changes_nothing(void)
{
	char *all = do_everything(false), *filtered;

	CHECK(rig_skipped == 0);
	filtered = do_everything(true);
	CHECK(rig_skipped > 10000);
	CHECK(!strcmp(all, filtered));
	free(all);
	free(filtered);
}

static void a_line_is_in_no_other_entry(void)
{
	struct filter filter;

	filter_clear(&filter);
	for (uint64_t entry = 0; entry < FILTER_LINES; entry++)
		CHECK((filter.loads[entry] >> LINE_SHIFT) % FILTER_LINES != entry);
}

static void a_small_cache_has_no_filter(void)
{
	rig_start("l1_bytes=16384\n");
	CHECK(!access_is_filtered(&rig));
	rig_stop();
	rig_start("observe=1\n");
	CHECK(!access_is_filtered(&rig));
	rig_stop();
	rig_start("");
	CHECK(access_is_filtered(&rig));
	rig_stop();
}

void test_filter(void)
{
	rig_enter();
	a_line_is_in_no_other_entry();
	a_filter_changes_nothing();
	a_small_cache_has_no_filter();
	rig_leave();
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The observer counts lives, references and misses for the right kind of page.
 */
#include <string.h>

#include "check.h"
#include "fake_guest.h"
#include "observer.h"

#define ANON	0xffff888000123401ULL
#define FILE_	0xffff888000123400ULL
#define NS	PS_PER_NS

static struct observer observer;

/* Begin a region at 1000 ns, with frames 100 to 108 free. */
static void begin(void)
{
	guest_init();
	for (uint64_t frame = 100; frame < 109; frame++)
		guest_page(frame)->references = 0;
	CHECK(observer_init(&observer, &guest.pages, true));
	observer_begin(&observer, 1000 * NS);
}

static void end(uint64_t ns)
{
	observer_end(&observer, ns * NS);
}

static void stop(void)
{
	observer_free(&observer);
	guest_free();
}

/* The guest wrote to some byte of a frame's struct page. */
static void changed(uint64_t frame, uint64_t ns)
{
	observer_page_changed(&observer, guest_page_address(frame) + 28, ns * NS);
}

static void allocate(uint64_t frame, uint64_t mapping, uint64_t ns)
{
	guest_page(frame)->references = 1;
	changed(frame, ns);
	guest_page(frame)->mapping = mapping;
	changed(frame, ns);
}

static void release(uint64_t frame, uint64_t ns)
{
	guest_page(frame)->references = 0;
	changed(frame, ns);
	guest_page(frame)->mapping = 0;
	changed(frame, ns);
}

static void refer(uint64_t frame, unsigned int times)
{
	while (times--)
		observer_reference(&observer, frame << (FRAME_SHIFT - LINE_SHIFT));
}

static const struct use *use_of(unsigned int kind)
{
	return &observer.uses[kind];
}

/*
 * Check that all count values of a histogram are in one bucket, and return its lower
 * end. With count 0, check that it is empty.
 */
static uint64_t only(const struct histogram *histogram, uint64_t count)
{
	uint64_t found = 0, low = 0;

	for (unsigned int bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
		if (!histogram->counts[bucket])
			continue;
		CHECK(!found && histogram->counts[bucket] == count);
		found = histogram->counts[bucket];
		low = histogram_low(bucket);
	}
	CHECK(found == count);
	return low;
}

static void a_life_is_counted(void)
{
	begin();
	allocate(100, ANON, 2000);
	refer(100, 3);
	observer_miss(&observer, 100 << FRAME_SHIFT);
	release(100, 2000 + 512);
	end(9000);
	CHECK(use_of(KIND_ANON)->allocated == 1 && use_of(KIND_ANON)->freed == 1);
	CHECK(use_of(KIND_ANON)->before == 0);
	CHECK(use_of(KIND_ANON)->references == 3 && use_of(KIND_ANON)->misses == 1);
	CHECK(only(&use_of(KIND_ANON)->lifetimes, 1) == 512);
	/* All other frames were in use before and are never freed. */
	CHECK(use_of(KIND_OTHER)->before == GUEST_FRAMES - 9);
	CHECK(use_of(KIND_OTHER)->allocated == 0 && use_of(KIND_OTHER)->freed == 0);
	stop();
}

static void what_does_not_end_has_no_lifetime(void)
{
	begin();
	allocate(100, ANON, 2000);	/* not freed in the region */
	guest_page(300)->references = 0;
	changed(300, 3000);		/* not allocated in the region */
	end(9000);
	CHECK(use_of(KIND_ANON)->allocated == 1 && use_of(KIND_ANON)->freed == 0);
	CHECK(use_of(KIND_OTHER)->freed == 1 && use_of(KIND_OTHER)->allocated == 0);
	only(&use_of(KIND_ANON)->lifetimes, 0);
	only(&use_of(KIND_OTHER)->lifetimes, 0);
	stop();
}

static void a_page_is_what_it_was_for_longest(void)
{
	begin();
	guest_page(100)->references = 1;
	changed(100, 2000);
	refer(100, 2);
	guest_page(100)->mapping = FILE_;
	changed(100, 2010);
	refer(100, 5);
	guest_page(100)->mapping = 0;		/* truncated, still referenced */
	changed(100, 2100);
	release(100, 2105);
	end(9000);
	CHECK(use_of(KIND_FILE)->allocated == 1 && use_of(KIND_FILE)->references == 7);
	CHECK(use_of(KIND_OTHER)->allocated == 0 && use_of(KIND_OTHER)->references == 0);
	stop();
}

static void zeroing_counts_for_the_next_life(void)
{
	begin();
	allocate(100, ANON, 2000);
	refer(100, 1);
	release(100, 2100);
	refer(100, 64);
	allocate(100, FILE_, 2200);
	end(9000);
	CHECK(use_of(KIND_ANON)->references == 1 && use_of(KIND_FILE)->references == 64);
	stop();
}

static void what_nobody_has_is_other(void)
{
	begin();
	refer(101, 7);
	end(9000);
	CHECK(use_of(KIND_OTHER)->references == 7);
	CHECK(use_of(KIND_OTHER)->before == GUEST_FRAMES - 9);
	stop();
}

static void tails_live_and_die_with_their_head(void)
{
	begin();
	guest_page(100)->references = 1;
	changed(100, 2000);
	for (uint64_t tail = 101; tail < 104; tail++) {
		guest_page(tail)->head = guest_page_address(100) + 1;
		changed(tail, 2000);
	}
	guest_page(100)->mapping = ANON;
	changed(100, 2000);
	refer(103, 9);
	release(100, 2512);
	for (uint64_t tail = 101; tail < 104; tail++) {
		guest_page(tail)->head = 0;
		changed(tail, 2512);
	}
	end(9000);
	CHECK(use_of(KIND_ANON)->allocated == 4 && use_of(KIND_ANON)->freed == 4);
	CHECK(use_of(KIND_ANON)->references == 9);
	CHECK(only(&use_of(KIND_ANON)->lifetimes, 4) == 512);
	stop();
}

static void intervals_are_within_a_life(void)
{
	begin();
	allocate(100, ANON, 2000);
	observer_past_l1(&observer, 100 << FRAME_SHIFT, 2000 * NS);
	observer_past_l1(&observer, 100 << FRAME_SHIFT, 2064 * NS);
	observer_past_l1(&observer, 100 << FRAME_SHIFT, 2128 * NS);
	release(100, 2200);
	allocate(100, ANON, 4000);
	observer_past_l1(&observer, 100 << FRAME_SHIFT, 4000 * NS);
	end(9000);
	CHECK(only(&use_of(KIND_ANON)->intervals, 2) == 64);
	stop();
}

static void time_may_step_back(void)
{
	begin();
	allocate(100, ANON, 2000);
	observer_past_l1(&observer, 100 << FRAME_SHIFT, 2000 * NS);
	observer_past_l1(&observer, 100 << FRAME_SHIFT, 1999 * NS);
	release(100, 1999);
	end(9000);
	CHECK(only(&use_of(KIND_ANON)->intervals, 1) == 0);
	CHECK(only(&use_of(KIND_ANON)->lifetimes, 1) == 0);
	stop();
}

static void only_struct_pages_are_looked_at(void)
{
	begin();
	CHECK(observer_is_memmap(&observer, guest_page_address(0)));
	CHECK(observer_is_memmap(&observer, guest_page_address(GUEST_FRAMES) - 1));
	CHECK(!observer_is_memmap(&observer, guest_page_address(GUEST_FRAMES)));
	CHECK(!observer_is_memmap(&observer, guest_page_address(0) - 1));
	CHECK(!observer_is_memmap(&observer, 0));
	stop();
}

void test_observer(void)
{
	a_life_is_counted();
	what_does_not_end_has_no_lifetime();
	a_page_is_what_it_was_for_longest();
	zeroing_counts_for_the_next_life();
	what_nobody_has_is_other();
	tails_live_and_die_with_their_head();
	intervals_are_within_a_life();
	time_may_step_back();
	only_struct_pages_are_looked_at();
}

// SPDX-License-Identifier: GPL-2.0
#include "check.h"
#include "clock.h"

#define QUARTER	250	/* ps per instruction */

static void counts_instructions_and_stalls(void)
{
	struct clock clock;

	clock_init(&clock, QUARTER, true);
	clock_run(&clock, 4000);
	CHECK(clock_now_ps(&clock) == 1000 * PS_PER_NS);
	CHECK(clock_offset_ns(&clock) == -3000);
	clock_stall(&clock, 80 * PS_PER_NS);
	CHECK(clock_now_ps(&clock) == 1080 * PS_PER_NS);
	CHECK(clock_offset_ns(&clock) == -2920);
	/* The same count again costs no time. */
	clock_run(&clock, 4000);
	CHECK(clock_now_ps(&clock) == 1080 * PS_PER_NS);
}

static void guest_time_never_runs_backwards(void)
{
	struct clock clock;
	uint64_t last = 0;

	clock_init(&clock, QUARTER, true);
	for (uint64_t counted = 1; counted < 5000; counted += 1 + counted % 7) {
		uint64_t t;

		clock_run(&clock, counted);
		if (counted % 11 == 0)
			clock_stall(&clock, 333);
		clock_switch(&clock, counted % 3 ? 0 : 2);
		t = counted + (uint64_t)clock_offset_ns(&clock);	/* TSC + offset */
		CHECK(t >= last);
		last = t;
	}
}

static void background_stands_still(void)
{
	struct clock clock;

	clock_init(&clock, QUARTER, true);
	clock_run(&clock, 4000);
	clock_switch(&clock, 3);
	clock_run(&clock, 8000);
	clock_stall(&clock, 500);
	CHECK(clock_now_ps(&clock) == 1000 * PS_PER_NS);
	CHECK(clock_core_ps(&clock) == 2000 * PS_PER_NS + 500);
	CHECK(clock.background.threads[3].instructions == 4000);
	CHECK(clock.background.threads[3].stall_ps == 500);
	clock_switch(&clock, 0);
	clock_run(&clock, 12000);
	CHECK(clock_now_ps(&clock) == 2000 * PS_PER_NS);
	/* The next thread starts when the background core is free, not at T. */
	clock_switch(&clock, 4);
	CHECK(clock_core_ps(&clock) == 2000 * PS_PER_NS + 500);
}

static void shared_background_is_the_workload(void)
{
	struct clock clock;

	clock_init(&clock, QUARTER, false);
	clock_switch(&clock, 3);
	clock_run(&clock, 4000);
	CHECK(clock_now_ps(&clock) == 1000 * PS_PER_NS);
	CHECK(clock.background.threads[3].instructions == 4000);
}

static void device_copies_take_no_time(void)
{
	struct clock clock;

	clock_init(&clock, QUARTER, true);
	clock_run(&clock, 4000);
	clock_device_begin(&clock, 1000);		/* 64 ns a line */
	clock_run(&clock, 9000);
	CHECK(clock.device_ps == 1000 * PS_PER_NS);
	clock_device_line(&clock, 6);
	CHECK(clock.device_ps == 1064 * PS_PER_NS + 6);
	clock_device_end(&clock);
	CHECK(clock_now_ps(&clock) == 1000 * PS_PER_NS);
	CHECK(clock.device_instructions == 5000);
	clock_run(&clock, 13000);
	CHECK(clock_now_ps(&clock) == 2000 * PS_PER_NS);
}

static void read_tsc(struct clock *clock, uint64_t counted)
{
	clock_run(clock, counted);
	clock_read_tsc(clock);
}

static void idle_is_the_jump_of_the_tsc(void)
{
	struct clock clock;

	clock_init(&clock, QUARTER, true);
	read_tsc(&clock, 1000);
	CHECK(clock_sync(&clock, 1000, false) == 0);
	read_tsc(&clock, 1100);
	clock_sync(&clock, 1100 + 5000, true);
	CHECK(clock.idle_ns == 5000 && clock.storage_idle_ns == 5000);
	/* The T that the guest reads is the model's T. */
	CHECK((1100 + 5000 + (uint64_t)clock_offset_ns(&clock)) * PS_PER_NS ==
	      clock_now_ps(&clock));
	read_tsc(&clock, 1200);
	clock_sync(&clock, 1200 + 5000, false);
	CHECK(clock.idle_ns == 5000);
}

static void abandoned_instructions_are_given_back(void)
{
	struct clock clock;

	clock_init(&clock, QUARTER, true);
	read_tsc(&clock, 100000);
	clock_sync(&clock, 100000, false);
	read_tsc(&clock, 204000);
	CHECK(clock_sync(&clock, 200000, false) == 3000);
	CHECK(clock.abandoned == 4000);
	CHECK(clock_now_ps(&clock) == 50000 * PS_PER_NS);
	CHECK(200000 + clock_offset_ns(&clock) == 50000);
}

static void stale_tsc_is_ignored(void)
{
	struct clock clock;

	clock_init(&clock, QUARTER, true);
	read_tsc(&clock, 100000);
	clock_sync(&clock, 100000, false);
	read_tsc(&clock, 200000);
	CHECK(clock_sync(&clock, 150000, false) == 0);
	CHECK(clock_sync(&clock, 0, false) == 0);
	CHECK(clock.abandoned == 0);
	/* Nor does the first TSC say anything about the time before it. */
	clock_init(&clock, QUARTER, true);
	read_tsc(&clock, 100000);
	CHECK(clock_sync(&clock, 50000, false) == 0);
	CHECK(clock.abandoned == 0);
}

static void long_regions_do_not_overflow(void)
{
	struct clock clock;
	uint64_t counted = 0;

	clock_init(&clock, QUARTER, true);
	for (int i = 0; i < 1000; i++) {
		counted += 1000000000;
		clock_run(&clock, counted);
		clock_stall(&clock, 3000000000 * PS_PER_NS);
	}
	CHECK(clock_now_ps(&clock) == 3250000000000ULL * PS_PER_NS);
	CHECK(clock_offset_ns(&clock) == 2250000000000LL);
}

void test_clock(void)
{
	counts_instructions_and_stalls();
	guest_time_never_runs_backwards();
	background_stands_still();
	shared_background_is_the_workload();
	device_copies_take_no_time();
	idle_is_the_jump_of_the_tsc();
	abandoned_instructions_are_given_back();
	stale_tsc_is_ignored();
	long_regions_do_not_overflow();
}

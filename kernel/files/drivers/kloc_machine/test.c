// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the two-tier machine's driver. They do not need the machine.
 */
#include <kunit/test.h>
#include <linux/gfp.h>
#include <linux/sched.h>
#include <linux/sizes.h>

#include "machine.h"

static void disk_transfers_follow_each_other(struct kunit *test)
{
	u64 busy = 0;

	/* 4096 bytes at 1024 bytes per us take 4 us, plus 10 us of latency. */
	KUNIT_EXPECT_EQ(test, 14000,
			kloc_machine_disk_finish(&busy, 0, 4096, 1024, 10000));
	KUNIT_EXPECT_EQ(test, 4000, busy);

	/* The next request waits for the transfer, not for the latency. */
	KUNIT_EXPECT_EQ(test, 18000,
			kloc_machine_disk_finish(&busy, 1000, 4096, 1024, 10000));
	KUNIT_EXPECT_EQ(test, 8000, busy);

	/* An idle disk begins a transfer at once. */
	KUNIT_EXPECT_EQ(test, 114000,
			kloc_machine_disk_finish(&busy, 100000, 4096, 1024,
						 10000));
}

static void disk_rounds_up(struct kunit *test)
{
	u64 busy = 0;

	KUNIT_EXPECT_EQ(test, 171,
			kloc_machine_disk_finish(&busy, 0, 512, 3000, 0));
}

static void disk_without_data(struct kunit *test)
{
	u64 busy = 5000;

	/* A flush completes after the writes before it. */
	KUNIT_EXPECT_EQ(test, 15000,
			kloc_machine_disk_finish(&busy, 1000, 0, 1024, 10000));
	KUNIT_EXPECT_EQ(test, 5000, busy);
}

static void disk_of_unlimited_bandwidth(struct kunit *test)
{
	u64 busy = 0;

	KUNIT_EXPECT_EQ(test, 10000,
			kloc_machine_disk_finish(&busy, 0, SZ_1M, 0, 10000));
	KUNIT_EXPECT_EQ(test, 0, busy);
}

static void timer_is_set_low(struct kunit *test)
{
	u64 one = KLOC_MACHINE_RATE_ONE;

	KUNIT_EXPECT_EQ(test, 500, kloc_machine_timer_scale(1000, one, 1, 10000));
	KUNIT_EXPECT_EQ(test, 2000,
			kloc_machine_timer_scale(1000, 4 * one, 1, 10000));
	KUNIT_EXPECT_EQ(test, 10000,
			kloc_machine_timer_scale(100000, one, 1, 10000));
	KUNIT_EXPECT_EQ(test, 7, kloc_machine_timer_scale(1, one, 7, 10000));
}

static void timer_rate_falls_at_once(struct kunit *test)
{
	u64 one = KLOC_MACHINE_RATE_ONE;

	/* 1000 instructions that took 100 us */
	KUNIT_EXPECT_EQ(test, one / 100,
			kloc_machine_timer_rate(4 * one, 1000, 100000));
}

static void timer_rate_rises_slowly(struct kunit *test)
{
	u64 one = KLOC_MACHINE_RATE_ONE;
	u64 rate = one / 16;
	unsigned int steps;

	for (steps = 0; rate < 4 * one && steps < 1000; steps++) {
		u64 next = kloc_machine_timer_rate(rate, 65536, 16384);

		KUNIT_EXPECT_LE(test, next, rate + rate / 8);
		rate = next;
	}
	KUNIT_EXPECT_LT(test, steps, 100);
	KUNIT_EXPECT_EQ(test, 4 * one,
			kloc_machine_timer_rate(rate, 65536, 16384));
}

static void timer_rate_is_bounded(struct kunit *test)
{
	/* Simulated time stands still while a background thread runs. */
	KUNIT_EXPECT_EQ(test, KLOC_MACHINE_RATE_MAX,
			kloc_machine_timer_rate(KLOC_MACHINE_RATE_MAX, 1000000,
						0));
	KUNIT_EXPECT_EQ(test, KLOC_MACHINE_RATE_MIN,
			kloc_machine_timer_rate(KLOC_MACHINE_RATE_ONE, 1,
						NSEC_PER_SEC));
}

static void timer_trusts_a_low_rate_less(struct kunit *test)
{
	u64 one = KLOC_MACHINE_RATE_ONE;

	KUNIT_EXPECT_EQ(test, 1000, kloc_machine_timer_trust(1000, 4 * one));
	KUNIT_EXPECT_EQ(test, 500, kloc_machine_timer_trust(1000, one / 2));
	KUNIT_EXPECT_EQ(test, 62, kloc_machine_timer_trust(1000, one / 1000));
}

static void background_threads_by_name(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, kloc_machine_is_background("kswapd0"));
	KUNIT_EXPECT_TRUE(test, kloc_machine_is_background("kcompactd1"));
	KUNIT_EXPECT_TRUE(test, kloc_machine_is_background("khugepaged"));
	KUNIT_EXPECT_TRUE(test, kloc_machine_is_background("kdamond.0"));
	KUNIT_EXPECT_TRUE(test, kloc_machine_is_background("klocd/0"));
	KUNIT_EXPECT_FALSE(test, kloc_machine_is_background("kworker/0:1"));
	KUNIT_EXPECT_FALSE(test, kloc_machine_is_background("ksoftirqd/0"));
	KUNIT_EXPECT_FALSE(test, kloc_machine_is_background("jbd2/klocdisk0"));
}

static void new_pages_by_request(struct kunit *test)
{
	gfp_t cache = GFP_HIGHUSER_MOVABLE;
	gfp_t migration = cache | __GFP_NOMEMALLOC | __GFP_NORETRY;

	KUNIT_EXPECT_EQ(test, KLOC_MACHINE_NEW_ANON,
			kloc_machine_new_tag(GFP_HIGHUSER_MOVABLE | __GFP_ZERO));
	KUNIT_EXPECT_EQ(test, KLOC_MACHINE_NEW_ANON,
			kloc_machine_new_tag(GFP_TRANSHUGE));
	KUNIT_EXPECT_EQ(test, KLOC_MACHINE_NEW_FILE,
			kloc_machine_new_tag(cache | __GFP_WRITE));
	KUNIT_EXPECT_EQ(test, KLOC_MACHINE_NEW_FILE,
			kloc_machine_new_tag(cache | __GFP_NORETRY));
	KUNIT_EXPECT_EQ(test, KLOC_MACHINE_NEW_BLOCKDEV,
			kloc_machine_new_tag(GFP_USER | __GFP_MOVABLE));
	KUNIT_EXPECT_EQ(test, 0, kloc_machine_new_tag(GFP_KERNEL | __GFP_COMP));
	KUNIT_EXPECT_EQ(test, 0, kloc_machine_new_tag(__GFP_MOVABLE));
	KUNIT_EXPECT_EQ(test, 0, kloc_machine_new_tag(migration));
}

static struct kunit_case kloc_machine_cases[] = {
	KUNIT_CASE(disk_transfers_follow_each_other),
	KUNIT_CASE(disk_rounds_up),
	KUNIT_CASE(disk_without_data),
	KUNIT_CASE(disk_of_unlimited_bandwidth),
	KUNIT_CASE(timer_is_set_low),
	KUNIT_CASE(timer_rate_falls_at_once),
	KUNIT_CASE(timer_rate_rises_slowly),
	KUNIT_CASE(timer_rate_is_bounded),
	KUNIT_CASE(timer_trusts_a_low_rate_less),
	KUNIT_CASE(background_threads_by_name),
	KUNIT_CASE(new_pages_by_request),
	{}
};

static struct kunit_suite kloc_machine_suite = {
	.name = "kloc_machine",
	.test_cases = kloc_machine_cases,
};

kunit_test_suite(kloc_machine_suite);

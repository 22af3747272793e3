/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: tests of a daemon's budget and scans.
 */
#ifndef _MM_TIERING_DAEMON_KUNIT_H
#define _MM_TIERING_DAEMON_KUNIT_H

#include <kunit/test.h>

#include "../page.h"

/* A rate in bytes a second: 1 byte a nanosecond, 10 million bytes a burst. */
#define DAEMON_TEST_RATE	((s64)NSEC_PER_SEC)
#define DAEMON_TEST_BURST	((s64)TIERING_BURST)

/* Settings that the test changes. */
struct daemon_test {
	struct tiering_settings settings;
	struct tiering_node tn;
	u16 scan;
};

static int daemon_test_init(struct kunit *test)
{
	struct daemon_test *data = kunit_kzalloc(test, sizeof(*data), GFP_KERNEL);

	if (!data)
		return -ENOMEM;
	data->settings = tiering_settings;
	data->scan = tiering_scan;
	data->tn.nid = first_online_node;
	tiering_settings.rate = DAEMON_TEST_RATE;
	tiering_settings.scan_us = USEC_PER_SEC;
	test->priv = data;
	return 0;
}

static void daemon_test_exit(struct kunit *test)
{
	struct daemon_test *data = test->priv;

	if (!data)
		return;
	tiering_settings = data->settings;
	tiering_scan = data->scan;
}

static struct tiering_node *daemon_test_node(struct kunit *test)
{
	struct daemon_test *data = test->priv;

	return &data->tn;
}

/* The budget grows with time, up to a burst. */
static void daemon_test_budget_fills(struct kunit *test)
{
	struct tiering_node *tn = daemon_test_node(test);

	KUNIT_EXPECT_EQ(test, tiering_refill(tn, 0), 0);
	KUNIT_EXPECT_EQ(test, tiering_refill(tn, NSEC_PER_MSEC), NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, tiering_refill(tn, 3 * NSEC_PER_MSEC), 3 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, tiering_refill(tn, NSEC_PER_SEC), DAEMON_TEST_BURST);
	/* The same time counts only once. */
	tn->budget = 0;
	KUNIT_EXPECT_EQ(test, tiering_refill(tn, NSEC_PER_SEC), 0);
}

/* A batch may exceed the budget; later time pays the debt. */
static void daemon_test_debt_is_paid(struct kunit *test)
{
	struct tiering_node *tn = daemon_test_node(test);

	tn->budget = -DAEMON_TEST_RATE / 2;
	KUNIT_EXPECT_LT(test, tiering_refill(tn, NSEC_PER_SEC / 4), 0);
	KUNIT_EXPECT_EQ(test, tiering_refill(tn, NSEC_PER_SEC / 2), 0);
	/* A long idle time does not accumulate. */
	tn->budget = -2 * DAEMON_TEST_RATE;
	KUNIT_EXPECT_EQ(test, tiering_refill(tn, 100 * (u64)NSEC_PER_SEC), -DAEMON_TEST_RATE);
}

/* Moves without a limit leave no debt for a limit that is set later. */
static void daemon_test_no_limit_no_debt(struct kunit *test)
{
	struct tiering_node *tn = daemon_test_node(test);

	tn->budget = -DAEMON_TEST_RATE;
	tiering_settings.rate = 0;
	KUNIT_EXPECT_EQ(test, tiering_refill(tn, NSEC_PER_SEC), S64_MAX);
	tn->budget -= 1000 * DAEMON_TEST_RATE;
	KUNIT_EXPECT_EQ(test, tiering_refill(tn, 2 * NSEC_PER_SEC), S64_MAX);
	tiering_settings.rate = DAEMON_TEST_RATE;
	KUNIT_EXPECT_EQ(test, tiering_refill(tn, 2 * NSEC_PER_SEC + NSEC_PER_MSEC),
			NSEC_PER_MSEC);
}

/* One node's daemon advances the global scan. */
static void daemon_test_one_node_leads(struct kunit *test)
{
	struct tiering_node *tn = daemon_test_node(test);
	const struct tiering_policy policy = { .needs = TIERING_MOVES };
	u16 scan = tiering_scan;

	tn->counts = false;
	tiering_end_scan(&policy, tn);
	KUNIT_EXPECT_EQ(test, tiering_scan, scan);
	tn->counts = true;
	tiering_end_scan(&policy, tn);
	KUNIT_EXPECT_EQ(test, tiering_scan, (u16)(scan + 1));
}

/* Per-CPU folio batches are drained at most once a second, however short scans are. */
static void daemon_test_drains_seldom(struct kunit *test)
{
	struct tiering_node *tn = daemon_test_node(test);
	u64 now = 100 * (u64)NSEC_PER_SEC;

	tn->undrained = true;
	tiering_drain(tn, now);
	KUNIT_EXPECT_FALSE(test, tn->undrained);
	tn->undrained = true;
	tiering_drain(tn, now + NSEC_PER_SEC - 1);
	KUNIT_EXPECT_TRUE(test, tn->undrained);
	tiering_drain(tn, now + NSEC_PER_SEC);
	KUNIT_EXPECT_FALSE(test, tn->undrained);
}

/* The daemon wakes kswapd at most eight times a scan. */
static void daemon_test_asks_seldom(struct kunit *test)
{
	struct tiering_node *tn = daemon_test_node(test);
	u64 now = 100 * (u64)NSEC_PER_SEC;

	tiering_ask_for_room(tn, now, 0);
	KUNIT_EXPECT_EQ(test, tn->asked, now);
	tiering_ask_for_room(tn, now + NSEC_PER_SEC / TIERING_LOOKS - 1, 0);
	KUNIT_EXPECT_EQ(test, tn->asked, now);
	now += NSEC_PER_SEC / TIERING_LOOKS;
	tiering_ask_for_room(tn, now, 0);
	KUNIT_EXPECT_EQ(test, tn->asked, now);
}

static struct kunit_case daemon_test_cases[] = {
	KUNIT_CASE(daemon_test_budget_fills),
	KUNIT_CASE(daemon_test_debt_is_paid),
	KUNIT_CASE(daemon_test_no_limit_no_debt),
	KUNIT_CASE(daemon_test_one_node_leads),
	KUNIT_CASE(daemon_test_drains_seldom),
	KUNIT_CASE(daemon_test_asks_seldom),
	{}
};

static struct kunit_suite daemon_test_suite = {
	.name = "tiering-daemon",
	.init = daemon_test_init,
	.exit = daemon_test_exit,
	.test_cases = daemon_test_cases,
};

kunit_test_suite(daemon_test_suite);

#endif /* _MM_TIERING_DAEMON_KUNIT_H */

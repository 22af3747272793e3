/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policy kloc: tests of the thresholds that adapt to wasted copies.
 */
#ifndef _MM_TIERING_POLICY_KLOC_COPIES_KUNIT_H
#define _MM_TIERING_POLICY_KLOC_COPIES_KUNIT_H

#include <kunit/test.h>

/* Count more copies, some of them wasted. Return: the new threshold. */
static unsigned int copies_test_count(struct policy_kloc_copies *copies,
				      unsigned long moved, unsigned long wasted)
{
	policy_kloc_copies_count(copies, (struct tiering_copies) {
		.moved = copies->seen.moved + moved,
		.wasted = copies->seen.wasted + wasted,
	});
	return copies->value;
}

static void copies_test_waste_makes_stricter(struct kunit *test)
{
	struct policy_kloc_copies copies = { .least = 2, .most = 9, .value = 2 };

	KUNIT_EXPECT_EQ(test, copies_test_count(&copies, 8000, 1001), 4);
	KUNIT_EXPECT_EQ(test, copies_test_count(&copies, 8000, 8000), 8);
	KUNIT_EXPECT_EQ(test, copies_test_count(&copies, 8000, 8000), 9);
	KUNIT_EXPECT_EQ(test, copies_test_count(&copies, 8000, 8000), 9);
}

/*
 * Hysteresis: the threshold is stable between one wasted copy in eight and in sixteen.
 */
static void copies_test_value_is_steady(struct kunit *test)
{
	struct policy_kloc_copies copies = { .least = 2, .most = 9, .value = 5 };

	KUNIT_EXPECT_EQ(test, copies_test_count(&copies, 8000, 1000), 5);
	KUNIT_EXPECT_EQ(test, copies_test_count(&copies, 8000, 501), 5);
	KUNIT_EXPECT_EQ(test, copies_test_count(&copies, 8000, 500), 4);
	KUNIT_EXPECT_EQ(test, copies_test_count(&copies, 8000, 0), 3);
	KUNIT_EXPECT_EQ(test, copies_test_count(&copies, 8000, 0), 2);
	KUNIT_EXPECT_EQ(test, copies_test_count(&copies, 8000, 0), 2);
}

/* A high threshold does not stay for long after the waste. */
static void copies_test_value_falls(struct kunit *test)
{
	struct policy_kloc_copies copies = { .least = 2, .most = 255, .value = 255 };
	unsigned int times;

	KUNIT_EXPECT_EQ(test, copies_test_count(&copies, 8000, 0), 255 - 32);
	for (times = 1; copies_test_count(&copies, 0, 0) > 2; times++)
		KUNIT_ASSERT_LT(test, times, 64);
}

/* Count intervals without copies until the threshold falls. */
static unsigned int copies_test_pause(struct policy_kloc_copies *copies)
{
	unsigned int value = copies->value, intervals = 0;

	while (copies_test_count(copies, 0, 0) == value)
		intervals++;
	return intervals;
}

/* Waste before the threshold falls does not make the pause longer. */
static void copies_test_climb_is_one_pause(struct kunit *test)
{
	struct policy_kloc_copies copies = { .least = 2, .most = 9, .value = 2 };

	KUNIT_EXPECT_EQ(test, copies_test_count(&copies, 8000, 8000), 4);
	KUNIT_EXPECT_EQ(test, copies_test_count(&copies, 8000, 8000), 8);
	KUNIT_EXPECT_EQ(test, copies_test_count(&copies, 8000, 8000), 9);
	KUNIT_EXPECT_EQ(test, copies_test_pause(&copies), 1);
}

/* If all files are equally hot, copies are tried less and less often. */
static void copies_test_pauses_double(struct kunit *test)
{
	struct policy_kloc_copies copies = { .least = 2, .most = 9, .value = 8 };
	unsigned int pause;

	for (pause = 1; pause <= POLICY_KLOC_PAUSE; pause *= 2) {
		KUNIT_EXPECT_EQ(test, copies_test_count(&copies, 8000, 8000), 9);
		KUNIT_EXPECT_EQ(test, copies_test_pause(&copies), pause);
	}
	KUNIT_EXPECT_EQ(test, copies_test_count(&copies, 8000, 8000), 9);
	KUNIT_EXPECT_EQ(test, copies_test_pause(&copies), POLICY_KLOC_PAUSE);
	/* Copies that pay end this. */
	while (copies.pause)
		copies_test_count(&copies, 8000, 0);
	KUNIT_EXPECT_EQ(test, copies.value, 2);
}

/* The same if only the smallest threshold wastes copies. */
static void copies_test_pauses_double_at_the_least(struct kunit *test)
{
	struct policy_kloc_copies copies = { .least = 2, .most = 9, .value = 2 };
	unsigned int pause;

	for (pause = 1; pause <= POLICY_KLOC_PAUSE; pause *= 2) {
		KUNIT_EXPECT_EQ(test, copies_test_count(&copies, 8000, 8000), 4);
		KUNIT_EXPECT_EQ(test, copies_test_pause(&copies), pause);
		KUNIT_EXPECT_EQ(test, copies.value, 3);
		KUNIT_EXPECT_EQ(test, copies_test_count(&copies, 8000, 0), 2);
	}
}

/* A few wasted copies do not raise the threshold; without copies it falls. */
static void copies_test_few_copies(struct kunit *test)
{
	struct policy_kloc_copies copies = { .least = 2, .most = 9, .value = 5 };
	const unsigned long some = TIERING_BATCH;

	KUNIT_EXPECT_EQ(test, copies_test_count(&copies, some, some / 8), 5);
	KUNIT_EXPECT_EQ(test, copies_test_count(&copies, some / 8, some / 8), 5);
	KUNIT_EXPECT_EQ(test, copies_test_count(&copies, some / 2, some / 8 + 1), 9);
	KUNIT_EXPECT_EQ(test, copies_test_pause(&copies), 1);
	KUNIT_EXPECT_EQ(test, copies.value, 8);
}

/* The waste of earlier copies does not keep the threshold up. */
static void copies_test_earlier_copies(struct kunit *test)
{
	struct policy_kloc_copies copies = { .least = 2, .most = 9, .value = 9 };

	KUNIT_EXPECT_EQ(test, copies_test_count(&copies, 0, 8000), 8);
	KUNIT_EXPECT_EQ(test, copies_test_count(&copies, 1, 8000), 7);
}

/* Only the copies since the last adaptation count. */
static void copies_test_counts_differences(struct kunit *test)
{
	struct policy_kloc_copies copies = {
		.least = 2, .most = 9, .value = 5,
		.seen = { .moved = ULONG_MAX - 10, .wasted = ULONG_MAX },
	};

	KUNIT_EXPECT_EQ(test, copies_test_count(&copies, 8000, 2000), 9);
	KUNIT_EXPECT_EQ(test, copies.seen.moved, 7989);
	KUNIT_EXPECT_EQ(test, copies.seen.wasted, 1999);
}

static struct kunit_case copies_test_cases[] = {
	KUNIT_CASE(copies_test_waste_makes_stricter),
	KUNIT_CASE(copies_test_value_is_steady),
	KUNIT_CASE(copies_test_value_falls),
	KUNIT_CASE(copies_test_climb_is_one_pause),
	KUNIT_CASE(copies_test_pauses_double),
	KUNIT_CASE(copies_test_pauses_double_at_the_least),
	KUNIT_CASE(copies_test_few_copies),
	KUNIT_CASE(copies_test_earlier_copies),
	KUNIT_CASE(copies_test_counts_differences),
	{}
};

static struct kunit_suite copies_test_suite = {
	.name = "tiering-kloc-copies",
	.test_cases = copies_test_cases,
};

kunit_test_suite(copies_test_suite);

#endif /* _MM_TIERING_POLICY_KLOC_COPIES_KUNIT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: tests of the bounds of cgroups.
 */
#ifndef _MM_TIERING_BOUNDS_KUNIT_H
#define _MM_TIERING_BOUNDS_KUNIT_H

#include <kunit/test.h>

/* What is written to memory.tiering.slowdown, and what it means. */
static const struct {
	const char *text;
	int error;
	unsigned int bp;
} bounds_test_texts[] = {
	{ "3", 0, 300 },
	{ "0", 0, 0 },
	{ "2.5", 0, 250 },
	{ "0.05", 0, 5 },
	{ "100", 0, 10000 },
	{ "100.00", 0, 10000 },
	{ "default", 0, TIERING_NO_BOUND },
	{ "100.01", -ERANGE },
	{ "101", -ERANGE },
	{ "4294967297", -ERANGE },
	{ "", -EINVAL },
	{ ".5", -EINVAL },
	{ "3.", -EINVAL },
	{ "3.125", -EINVAL },
	{ "3.+5", -EINVAL },
	{ "3.5.5", -EINVAL },
	{ "-3", -EINVAL },
	{ "+3", -EINVAL },
	{ "3 %", -EINVAL },
	{ "max", -EINVAL },
	{ "default.5", -EINVAL },
};

static void bounds_test_parse(struct kunit *test)
{
	unsigned int bp;
	char text[16];
	int i;

	for (i = 0; i < ARRAY_SIZE(bounds_test_texts); i++) {
		strscpy(text, bounds_test_texts[i].text);
		KUNIT_EXPECT_EQ_MSG(test, tiering_bound_parse(text, &bp),
				    bounds_test_texts[i].error, "%s",
				    bounds_test_texts[i].text);
		if (!bounds_test_texts[i].error)
			KUNIT_EXPECT_EQ_MSG(test, bp, bounds_test_texts[i].bp, "%s",
					    bounds_test_texts[i].text);
	}
}

/* The root has no bound, and belongs to nobody's. */
static void bounds_test_root(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, tiering_bound(root_mem_cgroup), TIERING_NO_BOUND);
	KUNIT_EXPECT_NULL(test, tiering_bound_parent(root_mem_cgroup));
}

static struct kunit_case bounds_test_cases[] = {
	KUNIT_CASE(bounds_test_parse),
	KUNIT_CASE(bounds_test_root),
	{}
};

static struct kunit_suite bounds_test_suite = {
	.name = "tiering-bounds",
	.test_cases = bounds_test_cases,
};

kunit_test_suite(bounds_test_suite);

#endif /* _MM_TIERING_BOUNDS_KUNIT_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * Buckets of a histogram cover all durations, without gaps.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "histogram.h"
#include "units.h"

static void buckets_follow_each_other(void)
{
	CHECK(histogram_low(0) == 0 && histogram_low(7) == 7 && histogram_low(8) == 8);
	CHECK(histogram_low(16) == 16 && histogram_low(17) == 18 && histogram_low(24) == 32);
	for (unsigned int bucket = 1; bucket < HISTOGRAM_BUCKETS; bucket++) {
		uint64_t low = histogram_low(bucket - 1), width = histogram_low(bucket) - low;

		CHECK(width >= 1 && (width == 1 || width <= low / 8));
	}
}

static void what_is_added_is_in_its_bucket(void)
{
	const uint64_t values[] = { 0, 7, 8, 15, 16, 17, 1000, 123456789, ~0ULL };
	struct histogram histogram;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		unsigned int bucket = 0;

		memset(&histogram, 0, sizeof(histogram));
		histogram_add(&histogram, values[i]);
		while (!histogram.counts[bucket])
			bucket++;
		CHECK(histogram.counts[bucket] == 1);
		CHECK(histogram_low(bucket) <= values[i]);
		CHECK(bucket == HISTOGRAM_BUCKETS - 1 || values[i] < histogram_low(bucket + 1));
	}
}

static void what_is_written(void)
{
	static struct histogram histogram;
	char *text = NULL;
	size_t size;
	struct json json = { .file = open_memstream(&text, &size) };

	histogram_add(&histogram, 3);
	histogram_add(&histogram, 17);
	histogram_add(&histogram, 16);
	histogram_put(&histogram, &json, NULL);
	fclose(json.file);
	CHECK(!strcmp(text, "[[3,4,1],[16,18,2]]"));
	free(text);
}

void test_histogram(void)
{
	buckets_follow_each_other();
	what_is_added_is_in_its_bucket();
	what_is_written();
}

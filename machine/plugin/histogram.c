// SPDX-License-Identifier: GPL-2.0
/*
 * A histogram of durations with logarithmic buckets.
 */
#include "histogram.h"

#define PART_SHIFT	3		/* 2^3 buckets for each power of two */
#define PARTS		(1U << PART_SHIFT)

static unsigned int bucket_of(uint64_t ns)
{
	unsigned int power;

	if (ns < PARTS)
		return (unsigned int)ns;
	power = 63 - (unsigned int)__builtin_clzll(ns);
	return (power - PART_SHIFT + 1) * PARTS + ((ns >> (power - PART_SHIFT)) & (PARTS - 1));
}

void histogram_add(struct histogram *histogram, uint64_t ns)
{
	histogram->counts[bucket_of(ns)]++;
}

uint64_t histogram_low(unsigned int bucket)
{
	if (bucket < PARTS)
		return bucket;
	return (PARTS + bucket % PARTS) * (1ULL << (bucket / PARTS - 1));
}

void histogram_put(const struct histogram *histogram, struct json *json, const char *key)
{
	json_open_array(json, key);
	for (unsigned int bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
		if (!histogram->counts[bucket])
			continue;
		json_open_array(json, NULL);
		json_unsigned(json, NULL, histogram_low(bucket));
		json_unsigned(json, NULL, histogram_low(bucket + 1));
		json_unsigned(json, NULL, histogram->counts[bucket]);
		json_close_array(json);
	}
	json_close_array(json);
}

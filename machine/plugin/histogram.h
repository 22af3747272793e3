/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How often which durations occurred: eight buckets for each power of two of
 * nanoseconds, so that a percentile is off by no more than an eighth.
 */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include "json.h"

#define HISTOGRAM_BUCKETS	496

struct histogram {
	uint64_t counts[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *histogram, uint64_t ns);

/* The least that falls in this bucket; of the one after it, where this ends. */
uint64_t histogram_low(unsigned int bucket);

/* [[from, to, count], ...] of the buckets that are not empty. */
void histogram_put(const struct histogram *histogram, struct json *json, const char *key);

#endif /* HISTOGRAM_H */

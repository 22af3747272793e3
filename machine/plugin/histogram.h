/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A histogram of durations in ns, with eight buckets for each power of two, so
 * that a percentile read from it is off by at most an eighth.
 */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include "json.h"

#define HISTOGRAM_BUCKETS	496

struct histogram {
	uint64_t counts[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *histogram, uint64_t ns);

/* Return a bucket's lower bound in ns, which is the end of the bucket before. */
uint64_t histogram_low(unsigned int bucket);

/* Write [[from, to, count], ...] of the buckets that are not empty; to is exclusive. */
void histogram_put(const struct histogram *histogram, struct json *json, const char *key);

#endif /* HISTOGRAM_H */

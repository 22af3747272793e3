/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs that work on many small files share: random numbers, files
 * whose size and contents follow from who they are, and the time of operations.
 */
#ifndef FILES_H
#define FILES_H

#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The state of a generator of random numbers (SplitMix64). */
struct random {
	uint64_t state;
};

static inline uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static inline uint64_t draw(struct random *random, uint64_t below)
{
	random->state += 0x9e3779b97f4a7c15ull;
	return mix(random->state) % below;
}

/* Fills the buffer with what the file `id` has from `offset` on; all in bytes, in words of 8. */
static inline void fill(uint64_t *buffer, size_t bytes, uint64_t id, size_t offset)
{
	uint64_t first = mix(id + 1) + offset / 8;

	for (size_t i = 0; i < (bytes + 7) / 8; i++)
		buffer[i] = first + i;
}

/* Ends the program unless the buffer holds what the file `id` has from its begin on. */
static inline void verify(const uint64_t *buffer, size_t bytes, uint64_t id, const char *path)
{
	uint64_t first = mix(id + 1);

	for (size_t i = 0; i < bytes / 8; i++)
		if (buffer[i] != first + i)
			errx(1, "%s: wrong contents at byte %zu", path, 8 * i);
}

/* Reads the whole of an open file of `bytes` and verifies it. */
static inline void read_verified(int file, uint64_t *buffer, size_t bytes, uint64_t id,
				 const char *path)
{
	ssize_t got = read(file, buffer, bytes + 1);

	if (got != (ssize_t)bytes)
		errx(1, "%s: read %zd bytes and not %zu", path, got, bytes);
	verify(buffer, bytes, id, path);
}

/* Operations and their time, in buckets of 1/8 of a power of two of ns. */
#define BUCKETS (64 * 8)
struct times {
	uint64_t count[BUCKETS];
};

static inline uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static inline uint64_t bucket_start(unsigned int bucket)
{
	return bucket < 8 ? bucket : (8ull + bucket % 8) << (bucket / 8 - 1);
}

static inline void add_time(struct times *times, uint64_t ns)
{
	unsigned int shift = ns < 8 ? 0 : 60 - __builtin_clzll(ns);

	times->count[ns < 8 ? ns : 8 * shift + (ns >> shift)]++;
}

/* Prints lines "time FROM TO COUNT", in ns. */
static inline void print_times(const struct times *times)
{
	for (unsigned int i = 0; i + 1 < BUCKETS; i++)
		if (times->count[i])
			printf("time %llu %llu %llu\n", (unsigned long long)bucket_start(i),
			       (unsigned long long)bucket_start(i + 1),
			       (unsigned long long)times->count[i]);
}

static inline unsigned long number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (!*text || *end)
		errx(2, "'%s' is no number", text);
	return value;
}

#endif

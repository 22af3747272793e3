/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the workload programs: random numbers, files whose size and contents
 * follow from a 64-bit id, a histogram of operation times, processes, and parsing of
 * arguments.
 *
 * All functions end the program with a message if they fail.
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A random number generator (SplitMix64). Any @state is a valid seed. */
struct random {
	uint64_t state;
};

/* Return a hash of @z: the output function of SplitMix64. */
static inline uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* Return a random number from 0 to @below - 1. */
static inline uint64_t draw(struct random *random, uint64_t below)
{
	random->state += 0x9e3779b97f4a7c15ull;
	return mix(random->state) % below;
}

/*
 * Fill @buffer with the contents of file @id from @offset on. @bytes is rounded up to a
 * multiple of 8, and @offset must be one.
 */
static inline void fill(uint64_t *buffer, size_t bytes, uint64_t id, size_t offset)
{
	uint64_t first = mix(id + 1) + offset / 8;

	for (size_t i = 0; i < (bytes + 7) / 8; i++)
		buffer[i] = first + i;
}

/*
 * Check that @buffer holds the first @bytes of file @id. Only complete words of 8 bytes are
 * compared.
 */
static inline void verify(const uint64_t *buffer, size_t bytes, uint64_t id, const char *path)
{
	uint64_t first = mix(id + 1);

	for (size_t i = 0; i < bytes / 8; i++)
		if (buffer[i] != first + i)
			errx(1, "%s: wrong contents at byte %zu", path, 8 * i);
}

/* Read the open file @id, which must have exactly @bytes, and verify its contents. */
static inline void read_verified(int file, uint64_t *buffer, size_t bytes, uint64_t id,
				 const char *path)
{
	ssize_t got = read(file, buffer, bytes + 1);

	if (got != (ssize_t)bytes)
		errx(1, "%s: read %zd bytes and not %zu", path, got, bytes);
	verify(buffer, bytes, id, path);
}

/* A histogram of operation times in ns; eight buckets for each power of two. */
#define BUCKETS (64 * 8)
struct times {
	uint64_t count[BUCKETS];
};

/* Return the time of CLOCK_MONOTONIC in ns. */
static inline uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

/* Return the smallest time, in ns, that falls into @bucket. */
static inline uint64_t bucket_start(unsigned int bucket)
{
	return bucket < 8 ? bucket : (8ull + bucket % 8) << (bucket / 8 - 1);
}

/* Count one operation that took @ns. */
static inline void add_time(struct times *times, uint64_t ns)
{
	unsigned int shift = ns < 8 ? 0 : 60 - __builtin_clzll(ns);

	times->count[ns < 8 ? ns : 8 * shift + (ns >> shift)]++;
}

/* Add the times of another histogram. */
static inline void add_times(struct times *times, const struct times *more)
{
	for (unsigned int i = 0; i < BUCKETS; i++)
		times->count[i] += more->count[i];
}

/* Print a line "time FROM TO COUNT" for each bucket that is not empty; times are in ns. */
static inline void print_times(FILE *to, const struct times *times)
{
	for (unsigned int i = 0; i + 1 < BUCKETS; i++)
		if (times->count[i])
			fprintf(to, "time %llu %llu %llu\n", (unsigned long long)bucket_start(i),
				(unsigned long long)bucket_start(i + 1),
				(unsigned long long)times->count[i]);
}

/* Return the number that the argument @text stands for. */
static inline unsigned long number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (!*text || *end)
		errx(2, "'%s' not a number", text);
	return value;
}

/* An argument NAME=VALUE, whose value is a number or a text. */
struct setting {
	const char *name;
	unsigned long *number;
	const char **text;
};

/* Set what the arguments say; both arrays end with a name, or an argument, of NULL. */
static inline void set_all(const struct setting *settings, char **arguments)
{
	for (; *arguments; arguments++) {
		const char *value = strchr(*arguments, '=');
		size_t length = value ? (size_t)(value - *arguments) : 0;
		const struct setting *at = settings;

		while (at->name && (strlen(at->name) != length ||
				    strncmp(*arguments, at->name, length)))
			at++;
		if (!value || !at->name)
			errx(2, "'%s' is not NAME=VALUE with a name of the usage", *arguments);
		if (at->number)
			*at->number = number(value + 1);
		else
			*at->text = value + 1;
	}
}

/* Run work(0) to work(@processes - 1), each in a process of its own, and wait for all. */
static inline void in_processes(unsigned long processes, void (*work)(unsigned long process))
{
	int status;

	for (unsigned long process = 0; process < processes; process++) {
		pid_t child = fork();

		if (child < 0)
			err(1, "fork");
		if (child == 0) {
			work(process);
			_exit(0);
		}
	}
	while (processes--)
		if (wait(&status) < 0 || status != 0)
			errx(1, "a process failed");
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* Shared code of test programs whose use of pages is known: a clock, errors, arguments. */
#ifndef KNOWN_H
#define KNOWN_H

#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LINE	64

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static inline long argument(int argc, char **argv, int index, const char *usage)
{
	char *end;
	long value;

	if (index >= argc) {
		fprintf(stderr, "usage: %s %s\n", argv[0], usage);
		exit(2);
	}
	value = strtol(argv[index], &end, 0);
	if (*end || end == argv[index]) {
		fprintf(stderr, "%s: '%s' is not a number\n", argv[0], argv[index]);
		exit(2);
	}
	return value;
}

#endif /* KNOWN_H */

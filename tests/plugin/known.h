/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared code of the programs with known answers, which test the timing model:
 * memory on a node, the clocks, and the line of JSON that each program prints.
 *
 * The machine's TSC counts instructions, 1 ns each, and jumps only while the machine
 * idles. CLOCK_MONOTONIC is simulated time. So between two points where the program
 * neither waits nor is preempted for long, it stalled for elapsed_ns - instructions x
 * CPI.
 */
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

#define LINE		64
#define MPOL_BIND	2

struct reading {
	uint64_t monotonic_ns;
	uint64_t cpu_ns;	/* of this thread */
	uint64_t tsc;
};

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline struct reading read_clocks(void)
{
	struct reading reading;

	reading.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	reading.monotonic_ns = clock_ns(CLOCK_MONOTONIC);
	reading.tsc = __builtin_ia32_rdtsc();
	return reading;
}

static inline void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* Return this many bytes of memory with all pages on a node; node -1: on any node. */
static inline void *memory_on_node(size_t bytes, long node)
{
	unsigned long mask = 1UL << node;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		fail("mmap");
	if (node >= 0 &&
	    syscall(SYS_mbind, memory, bytes, MPOL_BIND, &mask, 8 * sizeof(mask), 0))
		fail("mbind");
	for (size_t i = 0; i < bytes; i += 4096)
		memory[i] = 1;
	return memory;
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

static inline void report(const char *program, long node, uint64_t accesses, uint64_t bytes,
			  struct reading from, struct reading to)
{
	printf("{\"program\": \"%s\", \"node\": %ld, \"accesses\": %lu, \"bytes\": %lu, "
	       "\"elapsed_ns\": %lu, \"cpu_ns\": %lu, \"instructions\": %lu}\n",
	       program, node, accesses, bytes, to.monotonic_ns - from.monotonic_ns,
	       to.cpu_ns - from.cpu_ns, to.tsc - from.tsc);
	fflush(stdout);
}

#endif /* KNOWN_H */

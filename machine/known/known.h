/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared code of the programs with known answers (known_*.c), which `kloc bench
 * machine` runs: clocks, pinned threads, memory on a node, and the lines that the
 * programs print.
 *
 * Each result is one line on standard output, "known NAME VALUE UNIT". An error is a
 * message on standard error and exit status 1.
 */
#ifndef KNOWN_H
#define KNOWN_H

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LINE		64UL
#define SMALL_PAGE	4096UL
#define HUGE_PAGE	(2UL << 20)

/* From linux/mempolicy.h, which is not in libc. */
#define KNOWN_MPOL_BIND		2
#define KNOWN_MPOL_MF_STRICT	1

#define CORES_MAX	8
#define NODES_MAX	4	/* two sockets, each with a node of fast and one of slow memory */

static inline __attribute__((noreturn)) void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static inline uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Print the result of this name, a printf format. */
static inline __attribute__((format(printf, 3, 4))) void result(double value, const char *unit,
								const char *name, ...)
{
	va_list arguments;

	printf("known ");
	va_start(arguments, name);
	vprintf(name, arguments);
	va_end(arguments);
	printf(" %.6g %s\n", value, unit);
	fflush(stdout);
}

/*
 * Return the name of the tier whose memory a node of the first socket is. The fast nodes of
 * all sockets come first, so that node 0 is fast on every machine.
 */
static inline const char *tier_name(int node)
{
	return node ? "slow" : "fast";
}

/* Return argument number index as a number from low to high; end the program if it is none. */
static inline long argument(int argc, char **argv, int index, long low, long high,
			    const char *usage)
{
	char *end = NULL;
	long value = index < argc ? strtol(argv[index], &end, 10) : 0;

	if (!end || *end || end == argv[index] || value < low || value > high) {
		fprintf(stderr, "usage: %s %s\n", argv[0], usage);
		exit(2);
	}
	return value;
}

/* Let the calling thread run on one CPU only. */
static inline void pin(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		fail("sched_setaffinity");
}

/* Return the next number of a pseudo-random sequence (xorshift64); state must not be 0. */
static inline uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* End the program unless the page at this address is on the node. */
static inline void check_node(void *page, int node)
{
	int where = -1;

	if (syscall(SYS_move_pages, 0, 1UL, &page, NULL, &where, 0))
		fail("move_pages");
	if (where != node) {
		fprintf(stderr, "memory is on node %d, and should be on node %d\n", where, node);
		exit(1);
	}
}

/* Return whether the mapping that begins at memory has this many bytes of huge pages. */
static inline bool has_huge_pages(const char *memory, size_t bytes)
{
	char line[256];
	FILE *maps = fopen("/proc/self/smaps", "r");
	bool here = false, huge = false;
	unsigned long from, to, kib;

	if (!maps)
		fail("/proc/self/smaps");
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			here = (unsigned long)memory >= from && (unsigned long)memory < to;
		else if (here && sscanf(line, "AnonHugePages: %lu", &kib) == 1)
			huge = kib << 10 >= bytes;
	}
	fclose(maps);
	return huge;
}

/*
 * Return zeroed anonymous memory on a node, present and aligned to huge pages: all in
 * huge pages, so that the TLB does not matter, or all in small ones. bytes is a
 * multiple of the page size. End the program if the kernel has no such memory.
 */
static inline char *memory_on(int node, size_t bytes, bool huge)
{
	unsigned long nodes = 1UL << node;
	char *space = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *memory;

	if (space == MAP_FAILED)
		fail("mmap");
	memory = (char *)(((uintptr_t)space + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
	if (madvise(memory, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE))
		fail("madvise");
	if (syscall(SYS_mbind, memory, bytes, KNOWN_MPOL_BIND, &nodes, 8 * sizeof(nodes),
		    KNOWN_MPOL_MF_STRICT))
		fail("mbind");
	for (size_t at = 0; at < bytes; at += SMALL_PAGE)
		*(volatile char *)(memory + at) = 0;
	check_node(memory, node);
	check_node(memory + bytes - SMALL_PAGE, node);
	if (huge && !has_huge_pages(memory, bytes)) {
		fprintf(stderr, "the kernel gave no huge pages on node %d\n", node);
		exit(1);
	}
	return memory;
}

static inline void release(char *memory, size_t bytes)
{
	if (munmap(memory, bytes))
		fail("munmap");
}

/* Return the numbers from 0 to count - 1 in random order, allocated by malloc. */
static inline uint32_t *shuffled(size_t count)
{
	uint32_t *order = malloc(count * sizeof(*order));
	uint64_t state = 88172645463325252ULL;

	if (!order)
		fail("malloc");
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	for (size_t i = count - 1; i; i--) {
		size_t j = next_random(&state) % (i + 1);
		uint32_t other = order[j];

		order[j] = order[i];
		order[i] = other;
	}
	return order;
}

/*
 * A crew: threads on consecutive cores, which start to measure together. Each thread
 * works on a struct member of its own; data is the program's.
 */
struct crew {
	pthread_t threads[CORES_MAX];
	pthread_barrier_t start;
	int count;
};

struct member {
	struct crew *crew;
	int core;
	void *data;
};

/* Begin work(member) in a thread for each member. The caller sets core and data. */
static inline void crew_begin(struct crew *crew, int count, struct member *members,
			      void *(*work)(void *member))
{
	crew->count = count;
	pthread_barrier_init(&crew->start, NULL, (unsigned int)count);
	for (int i = 0; i < count; i++) {
		members[i].crew = crew;
		errno = pthread_create(&crew->threads[i], NULL, work, &members[i]);
		if (errno)
			fail("pthread_create");
	}
}

/* Wait until the whole crew is here. The thread has prepared its work, and runs on its core. */
static inline void crew_ready(struct member *member)
{
	pthread_barrier_wait(&member->crew->start);
}

static inline void crew_end(struct crew *crew)
{
	for (int i = 0; i < crew->count; i++)
		pthread_join(crew->threads[i], NULL);
	pthread_barrier_destroy(&crew->start);
}

#endif /* KNOWN_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * sets [pairs]: four sets of memory, each of them read in a way of its own; two of them
 * fit in the fast memory of the machine `tiered`.
 *
 * Without an argument, memory is where the kernel puts it; prints "kernel NS", the time of
 * reading. With `pairs`, each two of the sets in turn are in fast memory and the others in
 * slow memory; prints "A,B NS" for each pair.
 */
#include <stdbool.h>

#include "known.h"

#define MPOL_DEFAULT	0
#define MPOL_BIND	2

#define SETS		4
#define SET_BYTES	(48UL << 20)
#define LINES		(SET_BYTES / LINE)
/* Shares no factor with LINES: one cycle through all of them, which no prefetcher follows. */
#define STRIDE		514229UL
#define ROUNDS		3
#define LANES		8

struct set {
	char *memory;
	void *at[LANES];
};

static void bind_to(int mode, unsigned long nodes)
{
	if (syscall(SYS_set_mempolicy, mode, nodes ? &nodes : NULL, nodes ? 64UL : 0UL))
		fail("set_mempolicy");
}

static void fill(struct set *set)
{
	set->memory = mmap(NULL, SET_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	if (set->memory == MAP_FAILED)
		fail("mmap");
	if (madvise(set->memory, SET_BYTES, MADV_NOHUGEPAGE))
		fail("madvise");
	for (size_t i = 0; i < LINES; i++)
		*(void **)(set->memory + i * LINE) = set->memory + (i + STRIDE) % LINES * LINE;
	for (size_t lane = 0; lane < LANES; lane++)
		set->at[lane] = set->memory + LINES / LANES * lane * LINE;
}

/* Follow so many pointers, one after the other. */
static void chase(struct set *set, size_t steps)
{
	void *at = set->at[0];

	for (size_t step = 0; step < steps; step++)
		at = *(void *volatile *)at;
	set->at[0] = at;
}

/* Follow as many in each of LANES lanes, whose misses overlap. */
static void chase_lanes(struct set *set, size_t steps)
{
	for (size_t step = 0; step < steps; step++)
#pragma GCC unroll 8
		for (size_t lane = 0; lane < LANES; lane++)
			set->at[lane] = *(void *volatile *)set->at[lane];
}

/* Read all lines in order. */
static void stream(struct set *set)
{
	for (size_t i = 0; i < LINES; i++)
		(void)*(void *volatile *)(set->memory + i * LINE);
}

/*
 * Sets 1 and 2 have the most misses, but those of set 1 overlap and set 2 is prefetched;
 * sets 0 and 3 are read one line after the other.
 */
static uint64_t read_all(struct set *sets)
{
	uint64_t began = clock_ns(CLOCK_MONOTONIC);

	for (int round = 0; round < ROUNDS; round++) {
		chase(&sets[0], 200000);
		chase_lanes(&sets[1], 60000);
		stream(&sets[2]);
		chase(&sets[3], 150000);
	}
	return clock_ns(CLOCK_MONOTONIC) - began;
}

static void measure(const char *name, unsigned int in_fast, bool bound)
{
	struct set sets[SETS];

	for (int i = 0; i < SETS; i++) {
		if (bound)
			bind_to(MPOL_BIND, in_fast >> i & 1 ? 1UL << 0 : 1UL << 1);
		fill(&sets[i]);
	}
	if (bound)
		bind_to(MPOL_DEFAULT, 0);
	printf("%s %lu\n", name, read_all(sets));
	for (int i = 0; i < SETS; i++)
		munmap(sets[i].memory, SET_BYTES);
}

int main(int argc, char **argv)
{
	if (argc == 1) {
		measure("kernel", 0, false);
		return 0;
	}
	if (argc != 2 || strcmp(argv[1], "pairs")) {
		fprintf(stderr, "usage: sets [pairs]\n");
		return 2;
	}
	for (unsigned int a = 0; a < SETS; a++) {
		for (unsigned int b = a + 1; b < SETS; b++) {
			char name[8];

			snprintf(name, sizeof(name), "%u,%u", a, b);
			measure(name, 1U << a | 1U << b, true);
		}
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * hotset THREADS MIB MS: threads that read the same set of MIB mebibytes over and over,
 * for MS milliseconds of simulated time. Each address is read from the line before, so
 * that a thread waits for each line and the host has few instructions to execute.
 *
 * The set begins in slow memory (node 1), and no memory policy keeps it there. So a
 * tiering policy must promote it.
 */
#include <pthread.h>

#include "known.h"

#define MPOL_DEFAULT	0
#define MPOL_PREFERRED	1

#define STEP		(5 * LINE)	/* no stream */

static char *set;
static size_t size;
static uint64_t end_ns;

static void prefer(int mode, unsigned long nodes)
{
	if (syscall(SYS_set_mempolicy, mode, nodes ? &nodes : NULL, nodes ? 64UL : 0UL))
		fail("set_mempolicy");
}

static void *read_on(void *unused)
{
	(void)unused;
	while (clock_ns(CLOCK_MONOTONIC) < end_ns)
		for (void *volatile *at = (void *volatile *)set; at; at = *at)
			;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int count;

	if (argc != 4 || (count = atoi(argv[1])) < 1 || count > 64) {
		fprintf(stderr, "usage: hotset THREADS MIB MS\n");
		return 2;
	}
	size = (size_t)atoi(argv[2]) * 1024 * 1024;
	set = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (set == MAP_FAILED)
		fail("mmap");
	if (madvise(set, size, MADV_NOHUGEPAGE))
		fail("madvise");
	prefer(MPOL_PREFERRED, 1UL << 1);
	/* The last line has a null pointer. */
	for (size_t at = 0; at + 2 * STEP <= size; at += STEP)
		*(void **)(set + at) = set + at + STEP;
	prefer(MPOL_DEFAULT, 0);
	end_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)atoi(argv[3]) * 1000000;
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, read_on, NULL))
			fail("pthread_create");
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("{\"program\": \"hotset\", \"threads\": %d}\n", count);
	return 0;
}

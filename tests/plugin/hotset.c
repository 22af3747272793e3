// SPDX-License-Identifier: GPL-2.0
/*
 * hotset THREADS MIB MS: threads that read the same set of MIB mebibytes over and over,
 * for MS milliseconds of simulated time.
 *
 * The set begins in slow memory (node 1), and no memory policy keeps it there. So a
 * tiering policy must promote it.
 */
#include <pthread.h>

#include "known.h"

#define MPOL_DEFAULT	0
#define MPOL_PREFERRED	1

static volatile uint64_t *set;
static size_t words;
static uint64_t end_ns;

static void prefer(int mode, unsigned long nodes)
{
	if (syscall(SYS_set_mempolicy, mode, nodes ? &nodes : NULL, nodes ? 64UL : 0UL))
		fail("set_mempolicy");
}

static void *read_on(void *unused)
{
	uint64_t sum = 0;

	(void)unused;
	while (clock_ns(CLOCK_MONOTONIC) < end_ns)
		for (size_t i = 0; i < words; i += 5 * LINE / sizeof(*set))
			sum += set[i];
	return (void *)(uintptr_t)(sum & 0);
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int count;

	if (argc != 4 || (count = atoi(argv[1])) < 1 || count > 64) {
		fprintf(stderr, "usage: hotset THREADS MIB MS\n");
		return 2;
	}
	words = (size_t)atoi(argv[2]) * 1024 * 1024 / sizeof(*set);
	set = mmap(NULL, words * sizeof(*set), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (set == MAP_FAILED)
		fail("mmap");
	if (madvise((void *)set, words * sizeof(*set), MADV_NOHUGEPAGE))
		fail("madvise");
	prefer(MPOL_PREFERRED, 1UL << 1);
	for (size_t i = 0; i < words; i += 512)
		set[i] = i;
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

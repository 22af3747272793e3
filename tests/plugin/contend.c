// SPDX-License-Identifier: GPL-2.0
/*
 * contend THREADS ROUNDS: threads that share locks and pass messages, as servers do.
 *
 * Each round of a thread computes for about a microsecond, walks through a list of its
 * own that the caches do not hold, updates shared counters under one of four locks, and
 * every 16th round passes a byte to the next thread and waits for one of the previous
 * thread. Prints rounds of all threads a millisecond of simulated time.
 */
#include <pthread.h>
#include <sched.h>

#include "known.h"

#define THREADS_MAX	8
#define LOCKS		4
#define COUNTERS	64
#define LINES		(64 * 1024)	/* of each thread's list: 4 MiB */
#define STEPS		4		/* of the list each round */
#define COMPUTED	2000		/* iterations each round, two instructions each */
#define PASS		16		/* rounds between messages */

struct line {
	struct line *next;
	uint64_t pad[LINE / 8 - 1];
};

static struct shared {
	pthread_mutex_t lock;
	uint64_t counters[COUNTERS];
} shared[LOCKS];

static int pipes[THREADS_MAX][2];
static int threads, rounds;
static pthread_barrier_t start;

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Return one cycle through new lines in random order. */
static struct line *make_list(uint64_t *random)
{
	struct line *lines = mmap(NULL, LINES * sizeof(*lines), PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t *order = malloc(LINES * sizeof(*order));

	if (lines == MAP_FAILED || !order)
		fail("memory of a list");
	for (uint32_t i = 0; i < LINES; i++)
		order[i] = i;
	for (uint32_t i = LINES - 1; i; i--) {
		uint32_t j = (uint32_t)(next_random(random) % (i + 1)), other = order[j];

		order[j] = order[i];
		order[i] = other;
	}
	for (uint32_t i = 0; i < LINES; i++)
		lines[order[i]].next = &lines[order[(i + 1) % LINES]];
	free(order);
	return lines;
}

static void compute(void)
{
	uint64_t left = COMPUTED;

	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(left) : : "cc");
}

static void update(struct shared *part)
{
	pthread_mutex_lock(&part->lock);
	for (int i = 0; i < COUNTERS; i++)
		part->counters[i]++;
	pthread_mutex_unlock(&part->lock);
}

static void pass_on(int number)
{
	char byte = 0;

	if (write(pipes[(number + 1) % threads][1], &byte, 1) != 1 ||
	    read(pipes[number][0], &byte, 1) != 1)
		fail("pipe");
}

static void *work(void *data)
{
	int number = (int)(intptr_t)data;
	uint64_t random = (uint64_t)number + 1;
	volatile struct line *at = make_list(&random);

	pthread_barrier_wait(&start);
	for (int round = 0; round < rounds; round++) {
		compute();
		for (int step = 0; step < STEPS; step++)
			at = at->next;
		update(&shared[next_random(&random) % LOCKS]);
		if (round % PASS == PASS - 1)
			pass_on(number);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const char usage[] = "THREADS ROUNDS";
	pthread_t workers[THREADS_MAX];
	uint64_t begin;

	threads = (int)argument(argc, argv, 1, usage);
	rounds = (int)argument(argc, argv, 2, usage);
	if (threads < 1 || threads > THREADS_MAX || rounds < 1) {
		fprintf(stderr, "contend: 1 to %d threads, and some rounds\n", THREADS_MAX);
		return 2;
	}
	pthread_barrier_init(&start, NULL, (unsigned int)threads + 1);
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&shared[i].lock, NULL);
	for (int i = 0; i < threads; i++) {
		if (pipe(pipes[i]) ||
		    pthread_create(&workers[i], NULL, work, (void *)(intptr_t)i))
			fail("a thread");
	}
	pthread_barrier_wait(&start);
	begin = clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < threads; i++)
		pthread_join(workers[i], NULL);
	printf("%.6g\n", (double)threads * rounds * 1e6 /
	       (double)(clock_ns(CLOCK_MONOTONIC) - begin));
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the workload programs that keep their memory from the load to the check: a server
 * that obeys the lines of a FIFO and answers to another one, its threads, and memory in huge
 * pages or in base pages.
 *
 * A program that includes this header defines obey() and the work of its threads. If anything
 * is wrong, it calls fail(): the message is the answer, and the program ends with status 1.
 */
#ifndef SERVE_H
#define SERVE_H

#include "files.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>

#define HUGE_PAGE (2ul << 20)
#define LINE 128
#define THREADS_MAX 64

/* Not exit(): other threads are running. */
#define fail(...) (warnx(__VA_ARGS__), _exit(1))

static const char *ask_path, *answer_path;
static unsigned long threads = 1;
static unsigned long huge;

/* Settings that each of these programs has. */
#define SERVE_SETTINGS                                                                \
	{ "ask", NULL, &ask_path }, { "answer", NULL, &answer_path },                 \
	{ "threads", &threads, NULL }, { "huge", &huge, NULL }

/*
 * Return @bytes of zeroed memory that begins at a huge page: in huge pages if `huge` is set,
 * else in base pages. A page is allocated when it is first written.
 */
static inline void *map(size_t bytes)
{
	size_t length = (bytes + 2 * HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	char *at = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		fail("no %zu bytes of memory", bytes);
	at += -(uintptr_t)at & (HUGE_PAGE - 1);
	/* A kernel without huge pages knows neither advice. */
	if (madvise(at, length - HUGE_PAGE, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) && huge)
		fail("the kernel has no transparent huge pages (CONFIG_TRANSPARENT_HUGEPAGE)");
	return at;
}

/* The threads wait at `begin`, do the work of a run, and wait at `end`. */
static struct {
	pthread_barrier_t begin, end, between;
	void (*work)(unsigned long thread);
} pool;

static inline void *pool_thread(void *argument)
{
	for (;;) {
		pthread_barrier_wait(&pool.begin);
		pool.work((unsigned long)argument);
		pthread_barrier_wait(&pool.end);
	}
	return NULL;
}

/* Start `threads` threads, which live as long as the program. */
static inline void start_threads(void)
{
	pthread_t started;

	if (!threads || threads > THREADS_MAX)
		fail("threads=%lu is not from 1 to %d", threads, THREADS_MAX);
	pthread_barrier_init(&pool.begin, NULL, (unsigned int)threads + 1);
	pthread_barrier_init(&pool.end, NULL, (unsigned int)threads + 1);
	pthread_barrier_init(&pool.between, NULL, (unsigned int)threads);
	for (unsigned long thread = 0; thread < threads; thread++)
		if (pthread_create(&started, NULL, pool_thread, (void *)thread))
			fail("no thread %lu of %lu", thread, threads);
}

/* Call work(0) to work(threads - 1), each in a thread of its own, and wait for all. */
static inline void in_threads(void (*work)(unsigned long thread))
{
	pool.work = work;
	pthread_barrier_wait(&pool.begin);
	pthread_barrier_wait(&pool.end);
}

/* Wait in the work of a thread for all others. Return true in one of the threads. */
static inline bool meet(void)
{
	return pthread_barrier_wait(&pool.between) == PTHREAD_BARRIER_SERIAL_THREAD;
}

/* Print "huge BYTES": how much of the program's memory is in huge pages. */
static inline void print_huge(FILE *answer)
{
	FILE *rollup = fopen("/proc/self/smaps_rollup", "r");
	unsigned long kilobytes = 0;
	char line[LINE];

	while (rollup && fgets(line, sizeof(line), rollup))
		if (sscanf(line, "AnonHugePages: %lu", &kilobytes) == 1)
			break;
	if (rollup)
		fclose(rollup);
	fprintf(answer, "huge %lu\n", kilobytes << 10);
}

/* Wait for a line of `ask`, and put it into @line. */
static inline void receive(char *line)
{
	FILE *ask = fopen(ask_path, "r");

	if (!ask || !fgets(line, LINE, ask))
		fail("%s: no line", ask_path);
	fclose(ask);
	line[strcspn(line, "\n")] = '\0';
}

/* Wait for a reader of `answer`, which gets error messages, too. */
static inline FILE *open_answer(void)
{
	FILE *answer = fopen(answer_path, "w");

	if (!answer || dup2(fileno(answer), STDERR_FILENO) < 0)
		fail("%s: cannot be opened", answer_path);
	return answer;
}

/* End the answer. */
static inline void close_answer(FILE *answer)
{
	fclose(answer);
	if (dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
		_exit(1);
}

/*
 * Start the threads, call load(), answer "ready", and then obey lines until one is "stop".
 * obey() writes the answer to a line. stop() checks what the program has, and answers to "stop".
 */
static inline void serve(void (*load)(void), void (*obey)(const char *line, FILE *answer),
			 void (*stop)(FILE *answer))
{
	char line[LINE];
	FILE *answer;

	if (!ask_path || !answer_path)
		errx(2, "ask or answer is missing");
	answer = open_answer();
	start_threads();
	load();
	fprintf(answer, "ready\n");
	for (;;) {
		close_answer(answer);
		receive(line);
		answer = open_answer();
		if (!strcmp(line, "stop"))
			break;
		obey(line, answer);
	}
	stop(answer);
	print_huge(answer);
	fclose(answer);
	/* The threads wait for another run. */
	_exit(0);
}

#endif

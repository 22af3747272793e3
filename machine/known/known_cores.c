// SPDX-License-Identifier: GPL-2.0
/*
 * known_cores CORES: how cores run beside each other, and how late a sleeper wakes.
 *
 *	cores.loop.one, cores.loop.all	us of a loop of ITERATIONS x 2 instructions, on one
 *					core, and on all at once (the slowest core), the best
 *					of LOOPS times
 *	cores.modified			ns a load of a line that another core has modified
 *	cores.spin			us a round trip by spinning on a shared word
 *	cores.pipe			us a round trip through two pipes
 *	cores.sleep			us that a sleep of 1000 us takes
 *
 * With one core only the first and the last.
 */
#include "chases.h"

#include <sys/prctl.h>

#define ITERATIONS	(4UL << 20)
#define LOOPS		5
#define MODIFIED	256UL	/* lines: half of an L1 of 32 KiB */
#define ROUNDS		512	/* in which one core modifies them, and another reads them */
#define SPINS		300
#define PIPES		500
#define SLEEPS		50
#define SLEEP_NS	1000000L

/* The number of the turn, which two cores take alternately. */
static volatile uint64_t turn __attribute__((aligned(LINE)));
static struct cycle cycle __attribute__((aligned(LINE)));

static void *run_loop(void *data)
{
	struct member *member = data;
	uint64_t begin, left = ITERATIONS;

	pin(member->core);
	crew_ready(member);
	begin = now_ns();
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(left) : : "cc");
	*(uint64_t *)member->data = now_ns() - begin;
	return NULL;
}

/* Return how long the loop takes on the slowest of this many cores, which begin together, in us. */
static double time_loops_once(int cores)
{
	struct member members[CORES_MAX];
	uint64_t taken[CORES_MAX], longest = 0;
	struct crew crew;

	for (int core = 0; core < cores; core++)
		members[core] = (struct member){ .core = core, .data = &taken[core] };
	crew_begin(&crew, cores, members, run_loop);
	crew_end(&crew);
	for (int core = 0; core < cores; core++)
		if (taken[core] > longest)
			longest = taken[core];
	return (double)longest / 1000;
}

/*
 * Return the shortest of LOOPS such times. The kernel may run something of its own on a core while
 * the loop is there, which a round then includes; cores that slow each other down show in each.
 */
static double time_loops(int cores)
{
	double shortest = time_loops_once(cores);

	for (int i = 1; i < LOOPS; i++) {
		double taken = time_loops_once(cores);

		if (taken < shortest)
			shortest = taken;
	}
	return shortest;
}

/* Run work on cores 0 and 1, and return what it has left in member 0's data. */
static double run_pair(void *(*work)(void *member))
{
	struct member members[2];
	struct crew crew;
	double taken = 0;

	turn = 0;
	members[0] = (struct member){ .core = 0, .data = &taken };
	members[1] = (struct member){ .core = 1, .data = NULL };
	crew_begin(&crew, 2, members, work);
	crew_end(&crew);
	return taken;
}

static void wait_for_turn(uint64_t number)
{
	while (turn != number)
		;
}

static int compare_times(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return (a > b) - (a < b);
}

/*
 * Core 1 writes all lines, core 0 reads them, ROUNDS times. The median round counts: in some the
 * kernel may have run something of its own.
 */
static void *pass_lines(void *data)
{
	struct member *member = data;
	uint64_t begin, taken[ROUNDS];
	void **at = cycle_at(&cycle, 0);

	pin(member->core);
	crew_ready(member);
	for (uint64_t round = 0; round < 2 * ROUNDS; round += 2) {
		wait_for_turn(round + !member->core);
		if (member->core) {
			for (size_t place = 0; place < cycle.lines; place++)
				*(void *volatile *)cycle_at(&cycle, place) =
					cycle_at(&cycle, place + 1);
		} else {
			begin = now_ns();
			at = chase(at, MODIFIED / UNROLLED);
			__asm__ volatile("" : : "r"(at));
			taken[round / 2] = now_ns() - begin;
		}
		turn = round + 1 + !member->core;
	}
	if (!member->core) {
		qsort(taken, ROUNDS, sizeof(*taken), compare_times);
		*(double *)member->data = (double)taken[ROUNDS / 2] / MODIFIED;
	}
	return NULL;
}

static void *spin(void *data)
{
	struct member *member = data;
	uint64_t begin;

	pin(member->core);
	crew_ready(member);
	begin = now_ns();
	for (uint64_t round = 0; round < 2 * SPINS; round += 2) {
		wait_for_turn(round + (uint64_t)member->core);
		turn = round + (uint64_t)member->core + 1;
	}
	if (!member->core)
		*(double *)member->data = (double)(now_ns() - begin) / SPINS / 1000;
	return NULL;
}

static int pipes[2][2];

/* Core 0 writes to the first pipe and reads from the second one; core 1 the reverse. */
static void *pass_bytes(void *data)
{
	struct member *member = data;
	uint64_t begin;
	char byte = 0;

	pin(member->core);
	crew_ready(member);
	begin = now_ns();
	for (int i = 0; i < PIPES; i++) {
		if (!member->core && write(pipes[0][1], &byte, 1) != 1)
			fail("write to a pipe");
		if (read(pipes[!member->core][0], &byte, 1) != 1)
			fail("read from a pipe");
		if (member->core && write(pipes[1][1], &byte, 1) != 1)
			fail("write to a pipe");
	}
	if (!member->core)
		*(double *)member->data = (double)(now_ns() - begin) / PIPES / 1000;
	return NULL;
}

/* Return the mean time that a sleep of SLEEP_NS takes, in us. */
static double time_sleeps(void)
{
	const struct timespec sleep = { .tv_nsec = SLEEP_NS };
	uint64_t begin, taken = 0;

	for (int i = 0; i < SLEEPS; i++) {
		begin = now_ns();
		if (nanosleep(&sleep, NULL))
			fail("nanosleep");
		taken += now_ns() - begin;
	}
	return (double)taken / SLEEPS / 1000;
}

int main(int argc, char **argv)
{
	int cores = (int)argument(argc, argv, 1, 1, CORES_MAX, "CORES");

	pin(0);
	result(time_loops(1), "us", "cores.loop.one");
	if (cores > 1) {
		result(time_loops(cores), "us", "cores.loop.all");
		cycle = make_cycle(memory_on(0, HUGE_PAGE, true), MODIFIED * LINE);
		result(run_pair(pass_lines), "ns", "cores.modified");
		result(run_pair(spin), "us", "cores.spin");
		if (pipe(pipes[0]) || pipe(pipes[1]))
			fail("pipe");
		result(run_pair(pass_bytes), "us", "cores.pipe");
	}
	/* The expectation has no slack. */
	if (prctl(PR_SET_TIMERSLACK, 1UL))
		fail("prctl");
	result(time_sleeps(), "us", "cores.sleep");
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * known_latency NODE CORES MBPS: the latency of memory on a node, by a chase on core 0
 * through more memory than the caches hold.
 *
 *	TIER.idle		ns a load, while the other cores are idle
 *	TIER.loaded.PERCENT	ns a load, while the other cores read sequentially, all
 *				together at PERCENT of MBPS (megabytes a second)
 *	TIER.traffic.PERCENT	GB/s that they did read
 *	TIER.together		ns a load, while all cores chase; the mean of all cores
 */
#include "chases.h"

#define CHASED		(32UL << 20)
#define READ		(8UL << 20)	/* by each of the other cores, again and again */
#define LOADS		(64UL << 10)
/* The caches keep nothing of what was done before so many loads. */
#define WARM_UP		(16UL << 10)
/* Readers read so many lines at once, at most, then wait until the rate allows more. */
#define BURST_MAX	16
/* About how long they wait: long beside a look at the clock, short beside a queue. */
#define BURST_NS	200

static const int percents[] = { 25, 50, 77, 93, 96 };

static struct cycle cycle;
static volatile bool chasing;

struct reader {
	char *memory;
	double bytes_per_ns;
	uint64_t bytes;		/* read while core 0 was chasing */
	double ns;		/* how long that was */
};

static void read_burst(const volatile char *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += LINE)
		(void)*(const volatile uint64_t *)(at + i);
}

/* Return a power of two of lines, so that a buffer is a whole number of bursts. */
static size_t burst_bytes(double bytes_per_ns)
{
	size_t lines = 1;

	while (lines < BURST_MAX && 2 * lines * LINE <= bytes_per_ns * BURST_NS)
		lines *= 2;
	return lines * LINE;
}

/* Read at the rate of the struct reader until core 0 has stopped chasing. */
static void *read_on(void *data)
{
	struct member *member = data;
	struct reader *reader = member->data;
	size_t burst = burst_bytes(reader->bytes_per_ns);
	double burst_ns = (double)burst / reader->bytes_per_ns, due;
	uint64_t begin;

	pin(member->core);
	crew_ready(member);
	begin = now_ns();
	due = 0;
	for (size_t at = 0; chasing; at = (at + burst) % READ) {
		read_burst(reader->memory + at, burst);
		reader->bytes += burst;
		due += burst_ns;
		while (chasing && (double)(now_ns() - begin) < due)
			;
		/* What was missed is not made up for: the rate is an upper bound. */
		if ((double)(now_ns() - begin) > due + burst_ns)
			due = (double)(now_ns() - begin);
	}
	reader->ns = (double)(now_ns() - begin);
	return NULL;
}

/* Return ns a load of a chase from this place of the cycle on. */
static double measure(size_t place)
{
	void **at = chase(cycle_at(&cycle, place), WARM_UP / UNROLLED);
	uint64_t begin = now_ns();

	at = chase(at, LOADS / UNROLLED);
	__asm__ volatile("" : : "r"(at));
	return (double)(now_ns() - begin) / LOADS;
}

static void *chase_and_stop(void *data)
{
	struct member *member = data;

	pin(member->core);
	crew_ready(member);
	*(double *)member->data = measure(0);
	chasing = false;
	return NULL;
}

static void *work(void *data)
{
	struct member *member = data;

	return member->core ? read_on(data) : chase_and_stop(data);
}

static void measure_loaded(int node, int cores, int percent, double bytes_per_ns, char *memory)
{
	struct member members[CORES_MAX];
	struct reader readers[CORES_MAX] = { 0 };
	double latency, rate = 0;
	struct crew crew;

	members[0] = (struct member){ .core = 0, .data = &latency };
	for (int core = 1; core < cores; core++) {
		readers[core].memory = memory + (size_t)(core - 1) * READ;
		readers[core].bytes_per_ns = bytes_per_ns * percent / 100 / (cores - 1);
		members[core] = (struct member){ .core = core, .data = &readers[core] };
	}
	chasing = true;
	crew_begin(&crew, cores, members, work);
	crew_end(&crew);
	for (int core = 1; core < cores; core++)
		rate += (double)readers[core].bytes / readers[core].ns;
	result(latency, "ns", "%s.loaded.%d", tier_name(node), percent);
	result(rate, "GB/s", "%s.traffic.%d", tier_name(node), percent);
}

static void *chase_too(void *data)
{
	struct member *member = data;

	pin(member->core);
	crew_ready(member);
	/* Cores begin far from each other, and each ends before the next one's begin. */
	*(double *)member->data = measure((size_t)member->core * (cycle.lines / CORES_MAX));
	return NULL;
}

static void measure_together(int node, int cores)
{
	struct member members[CORES_MAX];
	double latencies[CORES_MAX], sum = 0;
	struct crew crew;

	for (int core = 0; core < cores; core++)
		members[core] = (struct member){ .core = core, .data = &latencies[core] };
	crew_begin(&crew, cores, members, chase_too);
	crew_end(&crew);
	for (int core = 0; core < cores; core++)
		sum += latencies[core];
	result(sum / cores, "ns", "%s.together", tier_name(node));
}

int main(int argc, char **argv)
{
	const char usage[] = "NODE CORES MBPS";
	int node = (int)argument(argc, argv, 1, 0, NODES_MAX - 1, usage);
	int cores = (int)argument(argc, argv, 2, 1, CORES_MAX, usage);
	double bytes_per_ns = (double)argument(argc, argv, 3, 1, 1L << 40, usage) / 1000;
	char *memory;

	pin(0);
	cycle = make_cycle(memory_on(node, CHASED, true), CHASED);
	result(measure(0), "ns", "%s.idle", tier_name(node));
	if (cores == 1)
		return 0;
	memory = memory_on(node, (size_t)(cores - 1) * READ, true);
	for (size_t i = 0; i < sizeof(percents) / sizeof(*percents); i++)
		measure_loaded(node, cores, percents[i], bytes_per_ns, memory);
	measure_together(node, cores);
	return 0;
}

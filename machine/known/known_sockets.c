// SPDX-License-Identifier: GPL-2.0
/*
 * known_sockets CORES STRIDE: memory of a core's own socket, and of the other socket.
 * Core I of socket S is CPU S x STRIDE + I, with I below CORES.
 *
 * "local" are cores of socket 1 in memory of socket 1, and "remote" those of socket 0 in
 * the same memory.
 *
 *	sockets.local.TIER.idle, sockets.remote.TIER.idle	ns a load, by a chase
 *	sockets.local.TIER.read, sockets.remote.TIER.read	GB/s that CORES cores read
 *								in sequence
 *	sockets.local.TIER.write, sockets.remote.TIER.write	GB/s that they store to
 *	sockets.both		GB/s that the cores of both sockets read, each from the fast
 *				memory of the other socket
 *	sockets.shared		GB/s that they read, all from the fast memory of socket 0
 *	sockets.traffic		GB/s that all cores of socket 0 but one read from the fast
 *				memory of socket 1
 *	sockets.loaded		ns a load of a chase, by that one, in the same memory
 */
#include "chases.h"
#include "streams.h"

#define CHASED		(32UL << 20)
#define LOADS		(64UL << 10)
/* The caches keep nothing of what was done before so many loads: they are 4 MiB of lines. */
#define WARM_UP		(64UL << 10)
/* What loads the memory for others looks after so many bytes whether they have ended. */
#define PIECE		(4UL << 10)

static const char *const tiers[] = { "fast", "slow" };
static const char *const ways[] = { "remote", "local" };	/* by the socket of the cores */

static int cores, stride;
static struct cycle cycle;
static volatile bool measuring;

static int node_of(int tier, int socket)
{
	return 2 * tier + socket;
}

static double chase_cycle(void)
{
	void **at = chase(cycle_at(&cycle, 0), WARM_UP / UNROLLED);
	uint64_t begin = now_ns();

	at = chase(at, LOADS / UNROLLED);
	__asm__ volatile("" : : "r"(at));
	return (double)(now_ns() - begin) / LOADS;
}

/* Let each core of the sockets from first to last stream through its part of memory. */
static double stream_on(char *const *memory, int first, int last, bool store)
{
	struct share shares[CORES_MAX];
	int cpus[CORES_MAX], count = 0;

	for (int socket = first; socket <= last; socket++)
		for (int core = 0; core < cores; core++) {
			cpus[count] = socket * stride + core;
			shares[count++] = (struct share){
				.memory = (volatile uint64_t *)(memory[socket] +
								(size_t)core * EACH),
				.store = store,
			};
		}
	return stream_all(shares, cpus, count);
}

static void measure_tier(int tier)
{
	size_t bytes = (size_t)cores * EACH;
	char *chased = memory_on(node_of(tier, 1), CHASED, true);
	char *streamed = memory_on(node_of(tier, 1), bytes, true);
	char *const memory[] = { streamed, streamed };

	cycle = make_cycle(chased, CHASED);
	for (int socket = 0; socket < 2; socket++) {
		const char *way = ways[socket], *name = tiers[tier];

		pin(socket * stride);
		result(chase_cycle(), "ns", "sockets.%s.%s.idle", way, name);
		result(stream_on(memory, socket, socket, false), "GB/s", "sockets.%s.%s.read",
		       way, name);
		result(stream_on(memory, socket, socket, true), "GB/s", "sockets.%s.%s.write",
		       way, name);
	}
	free(cycle.order);
	release(chased, CHASED);
	release(streamed, bytes);
}

/* Read through the core's memory again and again while others measure, and set its rate. */
static void *read_on(void *data)
{
	struct member *member = data;
	struct share *share = member->data;
	uint64_t begin, bytes = 0, sum = 0;

	pin(member->core);
	pass(share);
	crew_ready(member);
	begin = now_ns();
	for (; measuring; bytes += PIECE) {
		const volatile uint64_t *piece = share->memory + bytes % EACH / 8;

		for (size_t i = 0; i < PIECE / 8; i += LINES * LINE / 8)
#pragma GCC unroll LINES
			for (size_t line = 0; line < LINES; line++)
				sum += piece[i + line * LINE / 8];
	}
	share->rate = (double)bytes / (double)(now_ns() - begin);
	__asm__ volatile("" : : "r"(sum));
	return NULL;
}

static void *chase_and_stop(void *data)
{
	struct member *member = data;

	pin(member->core);
	crew_ready(member);
	*(double *)member->data = chase_cycle();
	measuring = false;
	return NULL;
}

static void *chase_or_read(void *data)
{
	struct member *member = data;

	return member->core ? read_on(data) : chase_and_stop(data);
}

static void measure_both(void)
{
	size_t bytes = (size_t)cores * EACH;
	char *const memory[] = {
		memory_on(node_of(0, 1), bytes, true),
		memory_on(node_of(0, 0), bytes, true),
	};

	result(stream_on(memory, 0, 1, false), "GB/s", "sockets.both");
	release(memory[0], bytes);
	release(memory[1], bytes);
}

static void *stream_and_stop(void *data)
{
	stream(data);
	measuring = false;
	return NULL;
}

/* Cores that are nearer than others read faster: they read on until the others have ended. */
static void *stream_or_read(void *data)
{
	struct member *member = data;

	return member->core < stride ? read_on(data) : stream_and_stop(data);
}

static void measure_shared(void)
{
	size_t bytes = 2 * (size_t)cores * EACH;
	char *memory = memory_on(node_of(0, 0), bytes, true);
	struct member members[CORES_MAX];
	struct share shares[CORES_MAX];
	struct crew crew;
	double rate = 0;

	for (int i = 0; i < 2 * cores; i++) {
		shares[i] = (struct share){
			.memory = (volatile uint64_t *)(memory + (size_t)i * EACH),
		};
		members[i] = (struct member){
			.core = i / cores * stride + i % cores,
			.data = &shares[i],
		};
	}
	measuring = true;
	crew_begin(&crew, 2 * cores, members, stream_or_read);
	crew_end(&crew);
	for (int i = 0; i < 2 * cores; i++)
		rate += shares[i].rate;
	result(rate, "GB/s", "sockets.shared");
	release(memory, bytes);
}

static void measure_loaded(void)
{
	size_t bytes = (size_t)cores * EACH;
	char *memory = memory_on(node_of(0, 1), bytes, true);
	char *chased = memory_on(node_of(0, 1), CHASED, true);
	struct member members[CORES_MAX];
	struct share shares[CORES_MAX];
	double latency, rate = 0;
	struct crew crew;

	cycle = make_cycle(chased, CHASED);
	members[0] = (struct member){ .core = 0, .data = &latency };
	for (int core = 1; core < cores; core++) {
		shares[core] = (struct share){
			.memory = (volatile uint64_t *)(memory + (size_t)core * EACH),
		};
		members[core] = (struct member){ .core = core, .data = &shares[core] };
	}
	measuring = true;
	crew_begin(&crew, cores, members, chase_or_read);
	crew_end(&crew);
	for (int core = 1; core < cores; core++)
		rate += shares[core].rate;
	result(rate, "GB/s", "sockets.traffic");
	result(latency, "ns", "sockets.loaded");
}

int main(int argc, char **argv)
{
	const char usage[] = "CORES STRIDE";

	cores = (int)argument(argc, argv, 1, 1, CORES_MAX / 2, usage);
	stride = (int)argument(argc, argv, 2, cores, CORES_MAX / 2, usage);
	measure_tier(0);
	measure_tier(1);
	measure_both();
	measure_shared();
	if (cores > 1)
		measure_loaded();
	return 0;
}

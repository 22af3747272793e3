/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sequential access: loops that read through memory, or store to it, on several cores at
 * once.
 */
#ifndef STREAMS_H
#define STREAMS_H

#include "known.h"

#define EACH	(16UL << 20)	/* bytes of each core */

/* Loops are unrolled to this many lines, so that nearly all instructions access memory. */
enum { LINES = 8 };

struct share {
	volatile uint64_t *memory;
	bool store;
	double rate;	/* bytes per ns */
};

static inline void read_through(const volatile uint64_t *memory)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < EACH / 8; i += LINES * LINE / 8)
#pragma GCC unroll LINES
		for (size_t line = 0; line < LINES; line++)
			sum += memory[i + line * LINE / 8];
}

static inline void store_through(volatile uint64_t *memory)
{
	for (size_t i = 0; i < EACH / 8; i += LINES * LINE / 8)
#pragma GCC unroll LINES
		for (size_t line = 0; line < LINES; line++)
			memory[i + line * LINE / 8] = i;
}

static inline void pass(const struct share *share)
{
	if (share->store)
		store_through(share->memory);
	else
		read_through(share->memory);
}

/* Access the core's share twice, and measure the second time: caches are then as always. */
static inline void *stream(void *data)
{
	struct member *member = data;
	struct share *share = member->data;
	uint64_t begin;

	pin(member->core);
	pass(share);
	crew_ready(member);
	begin = now_ns();
	pass(share);
	share->rate = (double)EACH / (double)(now_ns() - begin);
	return NULL;
}

/* Stream through these shares, each on the CPU of its number. Return the bytes per ns of all. */
static inline double stream_all(struct share *shares, const int *cpus, int count)
{
	struct member members[CORES_MAX];
	struct crew crew;
	double rate = 0;

	for (int i = 0; i < count; i++)
		members[i] = (struct member){ .core = cpus[i], .data = &shares[i] };
	crew_begin(&crew, count, members, stream);
	crew_end(&crew);
	for (int i = 0; i < count; i++)
		rate += shares[i].rate;
	return rate;
}

#endif /* STREAMS_H */

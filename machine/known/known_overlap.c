// SPDX-License-Identifier: GPL-2.0
/*
 * known_overlap NODE: how many misses of one core overlap, in memory on a node.
 *
 *	TIER.chases.N		ns a load, of N independent chases in one loop
 *	TIER.list		ns a node of a linked list, whose values are summed up
 *	TIER.sum		ns a word of an array that is summed up in random order
 *	TIER.chains		ns a look-up in a hash table, which visits CHAIN nodes
 *	TIER.stores		ns a store to a random line
 */
#include "chases.h"

#define BYTES		(32UL << 20)
#define LINES		(BYTES / LINE)
#define ACCESSES	(64UL << 10)
/* The caches keep nothing of what was done before so many accesses: they are 4 MiB of lines. */
#define WARM_UP		(64UL << 10)
#define CHAIN		4UL
#define BUCKETS		(LINES / CHAIN)

struct node {
	struct node *next;
	uint64_t value;
};

/* Return the line of memory that a number means. */
static char *line_at(char *memory, size_t line)
{
	return memory + line * LINE;
}

/*
 * The compiler copies this for each number of lanes, so that it can keep the lanes in
 * registers.
 */
static inline __attribute__((always_inline)) double time_lanes(const struct cycle *cycle,
							       int lanes)
{
	void **at[LANES_MAX];
	uint64_t begin;

	for (int lane = 0; lane < lanes; lane++)
		at[lane] = cycle_at(cycle, (size_t)lane * (cycle->lines / LANES_MAX));
	chase_lanes(at, lanes, WARM_UP / (size_t)lanes);
	begin = now_ns();
	chase_lanes(at, lanes, ACCESSES / (size_t)lanes);
	return (double)(now_ns() - begin) / ACCESSES;
}

static void measure_chases(char *memory, const char *tier)
{
	struct cycle cycle = make_cycle(memory, BYTES);

	result(time_lanes(&cycle, 1), "ns", "%s.chases.1", tier);
	result(time_lanes(&cycle, 2), "ns", "%s.chases.2", tier);
	result(time_lanes(&cycle, 4), "ns", "%s.chases.4", tier);
	result(time_lanes(&cycle, 8), "ns", "%s.chases.8", tier);
	result(time_lanes(&cycle, 16), "ns", "%s.chases.16", tier);
	free(cycle.order);
}

static const struct node *walk(const struct node *node, size_t count, uint64_t *sum)
{
	for (size_t i = 0; i < count; i++) {
		*sum += node->value;
		node = node->next;
	}
	return node;
}

static void measure_list(char *memory, const char *tier)
{
	uint32_t *order = shuffled(LINES);
	const struct node *node;
	uint64_t begin, sum = 0;

	for (size_t i = 0; i < LINES; i++) {
		struct node *each = (struct node *)line_at(memory, order[i]);

		each->next = (struct node *)line_at(memory, order[(i + 1) % LINES]);
		each->value = i;
	}
	node = walk((struct node *)line_at(memory, order[0]), WARM_UP, &sum);
	begin = now_ns();
	node = walk(node, ACCESSES, &sum);
	result((double)(now_ns() - begin) / ACCESSES, "ns", "%s.list", tier);
	__asm__ volatile("" : : "r"(node), "r"(sum));
	free(order);
}

static uint64_t sum_up(const volatile char *memory, size_t count, uint64_t *random)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += *(const volatile uint64_t *)(memory +
						    next_random(random) % LINES * LINE);
	return sum;
}

static void measure_sum(char *memory, const char *tier)
{
	uint64_t begin, random = 1;

	memset(memory, 0, BYTES);
	sum_up(memory, WARM_UP, &random);
	begin = now_ns();
	sum_up(memory, ACCESSES, &random);
	result((double)(now_ns() - begin) / ACCESSES, "ns", "%s.sum", tier);
}

/* Return the last node of the chain of a random key, which is the one with that key. */
static const struct node *look_up(char *memory, uint64_t *random)
{
	uint64_t bucket = next_random(random) % BUCKETS;
	uint64_t key = bucket + (CHAIN - 1) * BUCKETS;
	const volatile struct node *node = (struct node *)line_at(memory, bucket);

	while (node->value != key)
		node = node->next;
	return (const struct node *)node;
}

/* The first node of each bucket is in an array, and the others are anywhere behind it. */
static void make_table(char *memory)
{
	uint32_t *order = shuffled(LINES - BUCKETS);

	for (size_t bucket = 0; bucket < BUCKETS; bucket++) {
		struct node *node = (struct node *)line_at(memory, bucket);

		for (size_t depth = 0; depth < CHAIN; depth++) {
			size_t other = order[(bucket + depth * BUCKETS) % (LINES - BUCKETS)];

			node->value = bucket + depth * BUCKETS;
			node->next = (struct node *)line_at(memory, BUCKETS + other);
			node = node->next;
		}
	}
	free(order);
}

static void measure_chains(char *memory, const char *tier)
{
	uint64_t begin, random = 1;

	make_table(memory);
	for (size_t i = 0; i < WARM_UP / CHAIN; i++)
		look_up(memory, &random);
	begin = now_ns();
	for (size_t i = 0; i < ACCESSES / CHAIN; i++)
		look_up(memory, &random);
	result((double)(now_ns() - begin) / (ACCESSES / CHAIN), "ns", "%s.chains", tier);
}

static void store_to_lines(volatile char *memory, size_t count, uint64_t *random)
{
	for (size_t i = 0; i < count; i++)
		*(volatile uint64_t *)(memory + next_random(random) % LINES * LINE) = i;
}

static void measure_stores(char *memory, const char *tier)
{
	uint64_t begin, random = 1;

	store_to_lines(memory, WARM_UP, &random);
	begin = now_ns();
	store_to_lines(memory, ACCESSES, &random);
	result((double)(now_ns() - begin) / ACCESSES, "ns", "%s.stores", tier);
}

int main(int argc, char **argv)
{
	int node = (int)argument(argc, argv, 1, 0, NODES_MAX - 1, "NODE");
	char *memory;

	pin(0);
	memory = memory_on(node, BYTES, true);
	measure_chases(memory, tier_name(node));
	measure_list(memory, tier_name(node));
	measure_sum(memory, tier_name(node));
	measure_chains(memory, tier_name(node));
	measure_stores(memory, tier_name(node));
	return 0;
}

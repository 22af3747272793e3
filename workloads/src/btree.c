// SPDX-License-Identifier: GPL-2.0
/*
 * btree ask=FIFO answer=FIFO keys=NUMBER [threads=NUMBER] [huge=1]
 *
 * Random look-ups in a B+tree in memory. Keys and values have 8 bytes, and a node has 16 of them,
 * or 16 keys and children. The program is a server (serve.h).
 *
 * The tree is built from sorted keys, as databases build an index: leaves are full and lie side
 * by side, and so do the nodes of each level above. Each level is in memory of its own. The keys
 * ascend in steps of random length, and the value of a key is a hash of it.
 *
 * The lines that it obeys:
 *
 *	run LOOKUPS SEED	Look up so many keys in each thread, drawn uniformly, and compare
 *			their values. The answer is "lookups NUMBER", of all threads.
 *	stop		Go through the tree, compare all keys and values, and end. The answer is
 *			"keys NUMBER" and "huge BYTES".
 */
#include "serve.h"

#define WAYS 16
#define LEVELS_MAX 16
/* The random bits of a key: those above them are its rank. */
#define STEP_BITS 20

struct node {
	/* Sorted. Those that a last node does not have are the largest number. */
	uint64_t key[WAYS];
	union {
		struct node *child[WAYS];
		uint64_t value[WAYS];
	};
};

static unsigned long keys;
static const struct node *root;
/* Levels above the leaves. */
static unsigned int height;
static struct node *level[LEVELS_MAX];

static const struct setting known[] = {
	SERVE_SETTINGS, { "keys", &keys, NULL }, { NULL, NULL, NULL },
};

static struct {
	uint64_t lookups, seed;
} work;

/* Return key number @rank. */
static uint64_t key_of(uint64_t rank)
{
	return rank << STEP_BITS | (mix(rank) & ((1ul << STEP_BITS) - 1));
}

static uint64_t value_of(uint64_t key)
{
	return mix(key + 1);
}

static unsigned long nodes_of(unsigned long entries)
{
	return (entries + WAYS - 1) / WAYS;
}

/* Write the leaves of a thread's share of the keys. */
static void load_leaves(unsigned long thread)
{
	unsigned long count = nodes_of(keys);

	for (unsigned long at = count * thread / threads; at < count * (thread + 1) / threads; at++) {
		struct node *leaf = &level[0][at];

		for (unsigned long i = 0; i < WAYS; i++) {
			uint64_t key = key_of(at * WAYS + i);

			if (at * WAYS + i >= keys)
				key = UINT64_MAX;
			leaf->key[i] = key;
			leaf->value[i] = value_of(key);
		}
	}
}

/* Write the nodes above @below, which has @entries nodes. */
static void load_level(struct node *nodes, struct node *below, unsigned long entries)
{
	for (unsigned long at = 0; at < nodes_of(entries); at++)
		for (unsigned long i = 0; i < WAYS; i++) {
			unsigned long entry = at * WAYS + i;

			nodes[at].key[i] = entry < entries ? below[entry].key[0] : UINT64_MAX;
			nodes[at].child[i] = entry < entries ? &below[entry] : NULL;
		}
}

static void load(void)
{
	unsigned long count = nodes_of(keys);

	level[0] = map(count * sizeof(struct node));
	in_threads(load_leaves);
	while (count > 1) {
		level[height + 1] = map(nodes_of(count) * sizeof(struct node));
		load_level(level[height + 1], level[height], count);
		count = nodes_of(count);
		height++;
	}
	root = level[height];
}

/* Return the place of the last key of a node that is at most @key, 0 if there is none. */
static unsigned int find(const struct node *node, uint64_t key)
{
	unsigned int at = 0;

	for (unsigned int step = WAYS / 2; step; step /= 2)
		at += node->key[at + step] <= key ? step : 0;
	return at;
}

/* Return the value of a key, and 0 if the tree does not have it. */
static uint64_t look_up(uint64_t key)
{
	const struct node *node = root;
	unsigned int at;

	for (unsigned int above = height; above; above--)
		node = node->child[find(node, key)];
	at = find(node, key);
	return node->key[at] == key ? node->value[at] : 0;
}

static void run_thread(unsigned long thread)
{
	struct random random = { .state = mix(work.seed) + thread };

	for (uint64_t i = 0; i < work.lookups; i++) {
		uint64_t key = key_of(draw(&random, keys));

		if (look_up(key) != value_of(key))
			fail("key %lu: not found, or with a wrong value", key);
	}
}

static void obey(const char *line, FILE *answer)
{
	if (sscanf(line, "run %lu %lu", &work.lookups, &work.seed) != 2)
		fail("'%s' is neither 'run LOOKUPS SEED' nor 'stop'", line);
	in_threads(run_thread);
	fprintf(answer, "lookups %lu\n", threads * work.lookups);
}

/* Compare all keys and values below @node, which is @above levels above the leaves. */
static uint64_t check_node(const struct node *node, unsigned int above, uint64_t rank)
{
	for (unsigned int i = 0; i < WAYS && rank < keys; i++) {
		uint64_t key = key_of(rank);

		if (node->key[i] != key || (!above && node->value[i] != value_of(key)))
			fail("key %lu: not in its place, or with a wrong value", key);
		rank = above ? check_node(node->child[i], above - 1, rank) : rank + 1;
	}
	return rank;
}

static void stop(FILE *answer)
{
	fprintf(answer, "keys %lu\n", check_node(root, height, 0));
}

int main(int count, char **arguments)
{
	if (count < 2)
		errx(2, "usage: btree ask=FIFO answer=FIFO keys=NUMBER [threads=NUMBER] [huge=1]");
	set_all(known, arguments + 1);
	if (!keys || keys >> (64 - STEP_BITS))
		errx(2, "keys is missing or out of range");
	serve(load, obey, stop);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * gups ask=FIFO answer=FIFO blocks=NUMBER hot=NUMBER share=NUMBER [threads=NUMBER] [huge=1]
 * gups ask=FIFO answer=FIFO blocks=NUMBER classes=NUMBER ratio=NUMBER [threads=NUMBER] [huge=1]
 *
 * Random updates of a table of words of 8 bytes, after RandomAccess of the HPC Challenge, whose
 * unit is giga-updates per second. The table is in memory, and the program is a server (serve.h).
 *
 * The table has blocks of 2 MiB, `blocks` for each of `threads` threads: thread T updates blocks
 * T, T + threads and so on, which no other thread does. The blocks of a thread are divided into
 * classes, at places drawn at random. Either `hot` of them are the hot set, which gets `share` of
 * 1000 updates, and the others get the rest. Or there are `classes` classes of equal size, each of
 * which gets `ratio` times as many updates as the next one. An update draws a class, and then a
 * word of it uniformly. It reads the word, adds the random number, and writes it.
 *
 * The lines that it obeys:
 *
 *	run UPDATES SEED PLACES MOVE	Do so many updates in each thread. PLACES is the seed of
 *			the classes' places, SEED that of the updates. If MOVE is 1, after half of
 *			the updates the hot set is other blocks, none of which was hot before. The
 *			answer is a line "part UPDATES NS" for all updates, or one for each half:
 *			updates of all threads, and how long they took.
 *	stop		Check the table, and end. Word I is I at first. What was added to the
 *			words is added up in two sums, and in one of them multiplied by the
 *			word's number. Each thread has added up the same when it did its updates,
 *			so that a lost, repeated or misplaced update is found. The answer is
 *			"updates NUMBER", all since the start, and "huge BYTES".
 */
#include "serve.h"

#define WORD_BITS 18
#define WORDS (1ul << WORD_BITS)
#define CLASS_BITS 24
#define BLOCK_BITS (64 - CLASS_BITS - WORD_BITS)
#define CLASSES_MAX 16

static unsigned long blocks, hot, share, classes, ratio;

static const struct setting known[] = {
	SERVE_SETTINGS,
	{ "blocks", &blocks, NULL }, { "hot", &hot, NULL }, { "share", &share, NULL },
	{ "classes", &classes, NULL }, { "ratio", &ratio, NULL }, { NULL, NULL, NULL },
};

static uint64_t *table;

/* A class is drawn if the lowest CLASS_BITS of the random number are below @below. */
static struct {
	uint64_t below;
	unsigned long first, count;
} class[CLASSES_MAX];

static struct worker {
	/* The thread's blocks, those of the first class first. */
	uint64_t **block;
	/* The sums of what it added. */
	uint64_t sum, weighted, updates;
} __attribute__((aligned(64))) workers[THREADS_MAX];

static struct {
	uint64_t updates, seed, places;
	bool move;
	uint64_t ended[2];
} work;

static void set_classes(void)
{
	double all = 0, until = 0, weight = 1;

	if (!classes) {
		class[0].below = (share << CLASS_BITS) / 1000;
		class[0].count = hot;
		class[1].below = 1ul << CLASS_BITS;
		class[1].first = hot;
		class[1].count = blocks - hot;
		return;
	}
	for (unsigned long at = 0; at < classes; at++, weight /= (double)ratio)
		all += weight;
	weight = 1;
	for (unsigned long at = 0; at < classes; at++, weight /= (double)ratio) {
		until += weight;
		class[at].below = (uint64_t)(until / all * (1 << CLASS_BITS) + 0.5);
		class[at].count = blocks / classes;
		class[at].first = at * class[at].count;
	}
	class[classes - 1].below = 1ul << CLASS_BITS;
}

static uint64_t *block_of(unsigned long thread, unsigned long number)
{
	return table + (number * threads + thread) * WORDS;
}

static void load_blocks(unsigned long thread)
{
	struct worker *own = &workers[thread];

	own->block = calloc(blocks, sizeof(*own->block));
	if (!own->block)
		fail("no memory for a list of %lu blocks", blocks);
	for (unsigned long number = 0; number < blocks; number++) {
		uint64_t *block = block_of(thread, number);

		for (unsigned long word = 0; word < WORDS; word++)
			block[word] = (uint64_t)(block - table) + word;
	}
}

static void load(void)
{
	table = map(threads * blocks * WORDS * sizeof(*table));
	in_threads(load_blocks);
}

/* Draw the places of the classes. If @moved, no block is in the class that it was in before. */
static void place(unsigned long thread, bool moved)
{
	struct random random = { .state = mix(work.places) + thread };
	uint64_t **block = workers[thread].block;
	unsigned long from = moved ? class[0].count : 0, order[blocks];

	for (unsigned long at = 0; at < blocks; at++)
		order[at] = at;
	for (unsigned long at = blocks; at > 1; at--) {
		unsigned long other = draw(&random, at), number = order[other];

		order[other] = order[at - 1];
		order[at - 1] = number;
	}
	for (unsigned long at = 0; at < blocks; at++)
		block[at] = block_of(thread, order[(from + at) % blocks]);
}

/* Do @count updates, and return the random number after them. */
static uint64_t update(struct worker *own, uint64_t count, uint64_t x)
{
	uint64_t sum = 0, weighted = 0;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t *word;
		unsigned int at = 0;

		/* Marsaglia's xorshift. */
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		while ((x & ((1ul << CLASS_BITS) - 1)) >= class[at].below)
			at++;
		word = own->block[class[at].first +
				  ((x >> CLASS_BITS & ((1ul << BLOCK_BITS) - 1)) *
				   class[at].count >> BLOCK_BITS)];
		word += x >> (64 - WORD_BITS);
		*word += x;
		sum += x;
		weighted += x * (uint64_t)(word - table);
	}
	own->sum += sum;
	own->weighted += weighted;
	own->updates += count;
	return x;
}

static void run_thread(unsigned long thread)
{
	struct worker *own = &workers[thread];
	/* Any state but 0. */
	uint64_t x = mix(mix(work.seed) + thread) | 1;
	uint64_t before = work.move ? work.updates / 2 : work.updates;

	place(thread, false);
	x = update(own, before, x);
	if (meet())
		work.ended[0] = now();
	if (!work.move)
		return;
	place(thread, true);
	update(own, work.updates - before, x);
	if (meet())
		work.ended[1] = now();
}

static void obey(const char *line, FILE *answer)
{
	uint64_t began = now(), before;
	unsigned long updates, seed, places, move;

	if (sscanf(line, "run %lu %lu %lu %lu", &updates, &seed, &places, &move) != 4 || move > 1)
		fail("'%s' is neither 'run UPDATES SEED PLACES MOVE' nor 'stop'", line);
	work.updates = updates;
	work.seed = seed;
	work.places = places;
	work.move = move;
	in_threads(run_thread);
	before = move ? updates / 2 : updates;
	fprintf(answer, "part %lu %lu\n", threads * before, work.ended[0] - began);
	if (move)
		fprintf(answer, "part %lu %lu\n", threads * (updates - before),
			work.ended[1] - work.ended[0]);
}

static void stop(FILE *answer)
{
	uint64_t sum = 0, weighted = 0, updates = 0;

	for (uint64_t word = 0; word < threads * blocks * WORDS; word++) {
		sum += table[word] - word;
		weighted += (table[word] - word) * word;
	}
	for (unsigned long thread = 0; thread < threads; thread++) {
		sum -= workers[thread].sum;
		weighted -= workers[thread].weighted;
		updates += workers[thread].updates;
	}
	if (sum || weighted)
		fail("updates were lost, repeated or misplaced: the table's sums are wrong");
	fprintf(answer, "updates %lu\n", updates);
}

int main(int count, char **arguments)
{
	if (count < 2)
		errx(2, "usage: gups ask=FIFO answer=FIFO blocks=NUMBER ... (see its source)");
	set_all(known, arguments + 1);
	if (!blocks || blocks > 1 << 16)
		errx(2, "blocks is missing or out of range");
	if (classes ? classes > CLASSES_MAX || blocks % classes || !ratio || hot || share :
		      !hot || hot >= blocks || !share || share >= 1000)
		errx(2, "neither hot and share, nor classes and ratio, are in range");
	set_classes();
	serve(load, obey, stop);
}

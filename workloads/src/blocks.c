// SPDX-License-Identifier: GPL-2.0
/*
 * blocks load|run|check NAME=NUMBER...
 *
 * Reads and writes of blocks of 4 KiB through the page cache, in files of the current
 * directory. A program of its own, because fio sleeps for 0.35 s when it starts and when it
 * ends, and executes more instructions for each block than the kernel does, where Filebench
 * spends 86 % of its time in the kernel.
 *
 * Threads number 0 to `sequential` - 1 go through files of `sequential_blocks` blocks, from a
 * block that the seed chooses and from the beginning again; `random` more threads draw blocks
 * of files of `random_blocks`. Each thread has a file of its own. Blocks are drawn by Zipf's
 * law with theta = `zipf` / 10, or uniformly if `zipf` is 0. Often drawn blocks lie far apart.
 *
 * `load` writes all files, each by a thread of its own.
 *
 * `run` does `operations` reads and writes in each thread, half of them reads, with the
 * random numbers of `seed`. It prints "KIND NUMBER" for the kinds read and write, and lines
 * "time FROM TO COUNT" with the histogram of their times, in ns.
 *
 * `check` reads all files, and prints "verified BLOCKS".
 *
 * A block holds its file and number at its beginning and at its end, which each read checks;
 * `check` compares every byte. A wrong block ends the program with status 1.
 */
#include <math.h>
#include <pthread.h>
#include <stdbool.h>

#include "files.h"

#define BLOCK 4096
#define WORDS (BLOCK / 8)
#define THREADS_MAX 64
/* A prime, which shares no factor with a number of blocks: see choose(). */
#define STRIDE 15485863

static unsigned long sequential, sequential_blocks, drawing, random_blocks, zipf;
static unsigned long operations, seed;

static const struct setting known[] = {
	{ "sequential", &sequential, NULL }, { "sequential_blocks", &sequential_blocks, NULL },
	{ "random", &drawing, NULL }, { "random_blocks", &random_blocks, NULL },
	{ "zipf", &zipf, NULL }, { "operations", &operations, NULL },
	{ "seed", &seed, NULL }, { NULL, NULL, NULL },
};

/* The words of a block between its first and its last one. */
static uint64_t pattern[WORDS];

static pthread_barrier_t begin;

static struct worker {
	unsigned long number;
	unsigned long blocks;
	unsigned long reads, writes, verified;
	struct times times;
	pthread_t thread;
} workers[THREADS_MAX];

static uint64_t tag(const struct worker *own, unsigned long block)
{
	return own->number << 40 | block;
}

static void check_block(const struct worker *own, unsigned long block, const uint64_t *words)
{
	if (words[0] != tag(own, block) || words[WORDS - 1] != words[0])
		errx(1, "file.%lu: wrong contents of block %lu", own->number, block);
}

static void write_block(const struct worker *own, int file, unsigned long block, uint64_t *words)
{
	words[0] = words[WORDS - 1] = tag(own, block);
	if (pwrite(file, words, BLOCK, (off_t)(block * BLOCK)) != BLOCK)
		err(1, "file.%lu: write", own->number);
}

static void read_block(const struct worker *own, int file, unsigned long block, uint64_t *words)
{
	ssize_t got = pread(file, words, BLOCK, (off_t)(block * BLOCK));

	if (got != BLOCK)
		err(1, "file.%lu: read %zd bytes of block %lu", own->number, got, block);
	check_block(own, block, words);
}

static int open_file(const struct worker *own, int flags)
{
	char name[32];
	int file;

	snprintf(name, sizeof(name), "file.%lu", own->number);
	file = open(name, flags, 0644);
	if (file < 0)
		err(1, "%s", name);
	return file;
}

/* Return the block of an operation of a thread that chooses at random. */
static unsigned long choose(struct random *random, unsigned long blocks)
{
	double uniform, power, rank;

	if (!zipf)
		return draw(random, blocks);
	/* The inverse of the distribution function of ranks from 1 to `blocks` + 1. */
	uniform = (double)draw(random, 1ul << 32) / (double)(1ul << 32);
	power = 1 - (double)zipf / 10;
	rank = pow(1 + uniform * (pow((double)blocks + 1, power) - 1), 1 / power);
	return (unsigned long)(rank - 1) % blocks * STRIDE % blocks;
}

static void *load_file(void *argument)
{
	struct worker *own = argument;
	int file = open_file(own, O_WRONLY | O_CREAT | O_TRUNC);
	uint64_t words[WORDS];

	memcpy(words, pattern, BLOCK);
	for (unsigned long block = 0; block < own->blocks; block++)
		write_block(own, file, block, words);
	close(file);
	return NULL;
}

static void *run_file(void *argument)
{
	struct worker *own = argument;
	int file = open_file(own, O_RDWR);
	struct random random = { .state = mix(seed) + own->number };
	unsigned long next = draw(&random, own->blocks);
	uint64_t out[WORDS], in[WORDS];

	memcpy(out, pattern, BLOCK);
	memset(in, 0, BLOCK);
	pthread_barrier_wait(&begin);
	for (unsigned long i = 0; i < operations; i++) {
		bool is_read = draw(&random, 2);
		unsigned long block = next++ % own->blocks;
		uint64_t began;

		if (own->number >= sequential)
			block = choose(&random, own->blocks);
		began = now();
		if (is_read)
			read_block(own, file, block, in);
		else
			write_block(own, file, block, out);
		add_time(&own->times, now() - began);
		own->reads += is_read;
		own->writes += !is_read;
	}
	close(file);
	return NULL;
}

static void *check_file(void *argument)
{
	struct worker *own = argument;
	int file = open_file(own, O_RDONLY);
	uint64_t words[WORDS];

	for (unsigned long block = 0; block < own->blocks; block++) {
		read_block(own, file, block, words);
		if (memcmp(words + 1, pattern + 1, BLOCK - 16))
			errx(1, "file.%lu: wrong contents of block %lu", own->number, block);
		own->verified++;
	}
	if (lseek(file, 0, SEEK_END) != (off_t)(own->blocks * BLOCK))
		errx(1, "file.%lu: more than %lu blocks", own->number, own->blocks);
	close(file);
	return NULL;
}

/* Do the work in a thread for each worker, and wait for all. */
static void in_threads(unsigned long count, void *(*work)(void *))
{
	pthread_barrier_init(&begin, NULL, (unsigned int)count);
	for (unsigned long number = 0; number < count; number++) {
		struct worker *own = &workers[number];

		own->number = number;
		own->blocks = number < sequential ? sequential_blocks : random_blocks;
		if (pthread_create(&own->thread, NULL, work, own))
			errx(1, "pthread_create");
	}
	for (unsigned long number = 0; number < count; number++)
		pthread_join(workers[number].thread, NULL);
}

static void report(unsigned long count)
{
	static struct worker all;

	for (unsigned long number = 0; number < count; number++) {
		all.reads += workers[number].reads;
		all.writes += workers[number].writes;
		for (int bucket = 0; bucket < BUCKETS; bucket++)
			all.times.count[bucket] += workers[number].times.count[bucket];
	}
	printf("read %lu\nwrite %lu\n", all.reads, all.writes);
	print_times(stdout, &all.times);
}

int main(int argc, char **argv)
{
	unsigned long threads, verified = 0;
	struct random random = { .state = 1 };

	if (argc < 3)
		errx(2, "usage: blocks load|run|check NAME=NUMBER...");
	set_all(known, argv + 2);
	threads = sequential + drawing;
	if (!threads || threads > THREADS_MAX || (sequential && !sequential_blocks) ||
	    (drawing && !random_blocks) || zipf == 10)
		errx(2, "the numbers of threads or blocks, or zipf, are out of range");
	for (int i = 0; i < WORDS; i++)
		pattern[i] = draw(&random, UINT64_MAX);
	if (!strcmp(argv[1], "load")) {
		in_threads(threads, load_file);
	} else if (!strcmp(argv[1], "run")) {
		in_threads(threads, run_file);
		report(threads);
	} else if (!strcmp(argv[1], "check")) {
		in_threads(threads, check_file);
		for (unsigned long number = 0; number < threads; number++)
			verified += workers[number].verified;
		printf("verified %lu\n", verified);
	} else {
		errx(2, "'%s' is not load, run or check", argv[1]);
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * rocksdb_clients load db=DIR [NAME=NUMBER...]
 * rocksdb_clients serve db=DIR log=DIR ask=FIFO answer=FIFO [NAME=NUMBER...]
 *
 * Links with: librocksdb-dev -lrocksdb
 *
 * A server that has RocksDB built in and runs as long as the machine. db_bench would start
 * anew for each slice of a warm-up, and most of what a slice does would be this start.
 *
 * `load` fills the database `db` with the keys 0 to `keys` - 1 in their order, without a
 * write-ahead log, so that each memtable becomes a table file. It completes compaction.
 *
 * `serve` opens `db`, creates a second database `log`, writes "ready" to `answer`, and then
 * obeys the lines that it reads from `ask`:
 *
 *	run OPERATIONS SEED	Do so many operations of each of four kinds. `clients`
 *				threads overwrite random keys, read random keys, and read
 *				`scan` keys in sequence, in a random order. Meanwhile
 *				`writers` threads append keys to the log. The answer is
 *				"operations NUMBER", and lines "time FROM TO COUNT" with
 *				the histogram of the times of operations, in ns.
 *	stop			Close both databases and end. The answer is "log KEYS": how
 *				many keys were appended.
 *
 * A key in sequence is an operation, and its time is that of the step to it; a scan's first
 * one includes the search for it. Keys are overwritten uniformly; those that are read or
 * begin a scan are chosen with the skew of db_bench's --read_random_exp_range=`skew`. Each
 * value begins with its key, which each read checks. If anything is wrong, the answer is a message,
 * and the program ends with status 1.
 */
#include <math.h>
#include <pthread.h>
#include <rocksdb/c.h>

#include "files.h"

/* Bytes of a key, a number in decimal. */
#define KEY 16
#define VALUE_MAX 8192
/* Values are parts of so many random bytes. */
#define RANDOM_BYTES (64 << 10)
#define BATCH 100
#define BLOOM_BITS 10
/* So many that writers seldom wait for a flush, as on a server that is not overloaded. */
#define MEMTABLES 6
/* A prime, which shares no factor with a number of keys: see skewed_key(). */
#define STRIDE 15485863
#define THREADS_MAX 64
#define KINDS 4
#define LINE 80

/*
 * End the program. Not by exit(), which would destroy what RocksDB's threads and others still
 * use.
 */
#define fail(...) (warnx(__VA_ARGS__), _exit(1))

static const char *db_path, *log_path, *ask_path, *answer_path;
static unsigned long keys, value, memtable, table, level, block, cache, open_files;
static unsigned long clients, writers, scan, skew;

/* Sizes are in bytes; `open_files` is 0 for all. */
static const struct setting known[] = {
	{ "db", NULL, &db_path }, { "log", NULL, &log_path }, { "ask", NULL, &ask_path },
	{ "answer", NULL, &answer_path }, { "keys", &keys, NULL }, { "value", &value, NULL },
	{ "memtable", &memtable, NULL }, { "table", &table, NULL }, { "level", &level, NULL },
	{ "block", &block, NULL }, { "cache", &cache, NULL },
	{ "open_files", &open_files, NULL }, { "clients", &clients, NULL },
	{ "writers", &writers, NULL }, { "scan", &scan, NULL }, { "skew", &skew, NULL },
	{ NULL, NULL, NULL },
};

static rocksdb_t *db, *log_db;
static rocksdb_readoptions_t *reading;
static rocksdb_writeoptions_t *writing;
static char random_bytes[RANDOM_BYTES];

/* What a run does, and how far it is. */
static struct {
	uint64_t operations, seed;
	uint64_t claimed, appended;
} work;

static uint64_t log_keys;
static pthread_barrier_t begin, end;
static struct times times[THREADS_MAX];

/* End the program if a call of RocksDB failed. */
static void check(char *error)
{
	if (error)
		fail("%s", error);
}

static rocksdb_t *open_db(const char *path)
{
	rocksdb_options_t *with = rocksdb_options_create();
	rocksdb_block_based_table_options_t *tables = rocksdb_block_based_options_create();
	char *error = NULL;
	rocksdb_t *opened;

	rocksdb_options_set_create_if_missing(with, 1);
	rocksdb_options_set_compression(with, rocksdb_no_compression);
	rocksdb_options_set_write_buffer_size(with, memtable);
	rocksdb_options_set_max_write_buffer_number(with, MEMTABLES);
	rocksdb_options_set_target_file_size_base(with, table);
	rocksdb_options_set_max_bytes_for_level_base(with, level);
	rocksdb_options_set_max_open_files(with, open_files ? (int)open_files : -1);
	rocksdb_block_based_options_set_block_size(tables, block);
	rocksdb_block_based_options_set_block_cache(tables, rocksdb_cache_create_lru(cache));
	rocksdb_block_based_options_set_filter_policy(
		tables, rocksdb_filterpolicy_create_bloom(BLOOM_BITS));
	rocksdb_options_set_block_based_table_factory(with, tables);
	opened = rocksdb_open(with, path, &error);
	check(error);
	return opened;
}

/* Write the key with that number to @text, and a value for it to @data. */
static void make_pair(struct random *random, unsigned long number, char *text, char *data)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%0*lu", KEY, number);
	memcpy(text, digits, KEY);
	memcpy(data, random_bytes + draw(random, RANDOM_BYTES - value), value);
	memcpy(data, digits, KEY);
}

static void check_value(const char *key, size_t key_bytes, const char *data, size_t bytes)
{
	if (key_bytes != KEY || bytes != value || memcmp(data, key, KEY))
		fail("key %.*s: wrong value of %zu bytes", (int)key_bytes, key, bytes);
}

static void load(void)
{
	rocksdb_flushoptions_t *flushing = rocksdb_flushoptions_create();
	rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
	/*
	 * Keys to a memtable: it is flushed before it is full, because RocksDB would flush
	 * several full ones to one file.
	 */
	unsigned long each = memtable / (value + 2 * KEY) * 7 / 8;
	struct random random = { .state = 1 };
	char *error = NULL, key[KEY], data[VALUE_MAX];

	rocksdb_writeoptions_disable_WAL(writing, 1);
	for (unsigned long at = 0; at < keys; at++) {
		make_pair(&random, at, key, data);
		rocksdb_writebatch_put(batch, key, KEY, data, value);
		if (at % BATCH == BATCH - 1 || at == keys - 1) {
			rocksdb_write(db, writing, batch, &error);
			check(error);
			rocksdb_writebatch_clear(batch);
		}
		if (at % each == each - 1) {
			rocksdb_flush(db, flushing, &error);
			check(error);
		}
	}
	rocksdb_flush(db, flushing, &error);
	check(error);
	rocksdb_wait_for_compact(db, rocksdb_wait_for_compact_options_create(), &error);
	check(error);
}

/* Return a key: few are chosen often, and those lie far apart. */
static unsigned long skewed_key(struct random *random)
{
	double uniform = (double)draw(random, 1ul << 32) / (double)(1ul << 32);

	return (unsigned long)(exp(-(double)skew * uniform) * (double)keys) * STRIDE % keys;
}

static void overwrite(struct random *random)
{
	char *error = NULL, key[KEY], data[VALUE_MAX];

	make_pair(random, draw(random, keys), key, data);
	rocksdb_put(db, writing, key, KEY, data, value, &error);
	check(error);
}

static void append(struct random *random)
{
	char *error = NULL, key[KEY], data[VALUE_MAX];

	make_pair(random, __atomic_fetch_add(&log_keys, 1, __ATOMIC_RELAXED), key, data);
	rocksdb_put(log_db, writing, key, KEY, data, value, &error);
	check(error);
}

static void read_one(struct random *random)
{
	char *error = NULL, key[32];
	rocksdb_pinnableslice_t *found;
	const char *data;
	size_t bytes;

	snprintf(key, sizeof(key), "%0*lu", KEY, skewed_key(random));
	found = rocksdb_get_pinned(db, reading, key, KEY, &error);
	check(error);
	if (!found)
		fail("key %s was not found", key);
	data = rocksdb_pinnableslice_value(found, &bytes);
	check_value(key, KEY, data, bytes);
	rocksdb_pinnableslice_destroy(found);
}

/* Read @count keys in sequence, from the beginning again after the last one. */
static void read_sequence(struct random *random, unsigned long count, struct times *own)
{
	rocksdb_iterator_t *at = rocksdb_create_iterator(db, reading);
	char *error = NULL, first[32];
	uint64_t began = now();

	snprintf(first, sizeof(first), "%0*lu", KEY, skewed_key(random));
	rocksdb_iter_seek(at, first, KEY);
	for (unsigned long i = 0; i < count; i++) {
		size_t key_bytes, bytes;
		const char *key, *data;
		uint64_t ended;

		if (!rocksdb_iter_valid(at))
			rocksdb_iter_seek_to_first(at);
		key = rocksdb_iter_key(at, &key_bytes);
		data = rocksdb_iter_value(at, &bytes);
		check_value(key, key_bytes, data, bytes);
		rocksdb_iter_next(at);
		ended = now();
		add_time(own, ended - began);
		began = ended;
	}
	rocksdb_iter_get_error(at, &error);
	check(error);
	rocksdb_iter_destroy(at);
}

/*
 * Do a thread's part of a run's operations. Those of clients are claimed `scan` at a time, of
 * one kind each; the kinds take turns, so that each run has the same number of each.
 */
static void serve_clients(struct random *random, struct times *own)
{
	uint64_t turns = 3 * ((work.operations + scan - 1) / scan);

	for (;;) {
		uint64_t turn = __atomic_fetch_add(&work.claimed, 1, __ATOMIC_RELAXED);
		uint64_t before = turn / 3 * scan, count;

		if (turn >= turns)
			return;
		count = before + scan > work.operations ? work.operations - before : scan;
		if (turn % 3 == 0) {
			read_sequence(random, count, own);
			continue;
		}
		for (uint64_t i = 0; i < count; i++) {
			uint64_t began = now();

			if (turn % 3 == 1)
				overwrite(random);
			else
				read_one(random);
			add_time(own, now() - began);
		}
	}
}

static void write_log(struct random *random, struct times *own)
{
	while (__atomic_fetch_add(&work.appended, 1, __ATOMIC_RELAXED) < work.operations) {
		uint64_t began = now();

		append(random);
		add_time(own, now() - began);
	}
}

static void *thread(void *argument)
{
	unsigned long number = (unsigned long)argument;

	for (;;) {
		struct random random;

		pthread_barrier_wait(&begin);
		random.state = mix(work.seed) + number;
		if (number < clients)
			serve_clients(&random, &times[number]);
		else
			write_log(&random, &times[number]);
		pthread_barrier_wait(&end);
	}
	return NULL;
}

static void start_threads(void)
{
	pthread_t started;

	if (clients + writers > THREADS_MAX)
		errx(2, "%lu threads are more than %d", clients + writers, THREADS_MAX);
	pthread_barrier_init(&begin, NULL, (unsigned int)(clients + writers + 1));
	pthread_barrier_init(&end, NULL, (unsigned int)(clients + writers + 1));
	for (unsigned long number = 0; number < clients + writers; number++)
		if (pthread_create(&started, NULL, thread, (void *)number))
			fail("pthread_create");
}

static void run(uint64_t operations, uint64_t seed, FILE *answer)
{
	static struct times all;

	memset(times, 0, sizeof(times));
	memset(&all, 0, sizeof(all));
	work.operations = operations;
	work.seed = seed;
	work.claimed = work.appended = 0;
	pthread_barrier_wait(&begin);
	pthread_barrier_wait(&end);
	for (unsigned long number = 0; number < clients + writers; number++)
		for (int bucket = 0; bucket < BUCKETS; bucket++)
			all.count[bucket] += times[number].count[bucket];
	fprintf(answer, "operations %llu\n", (unsigned long long)(KINDS * operations));
	print_times(answer, &all);
}

/* Wait for a line of `ask`, and put it into @line. */
static void receive(char *line)
{
	FILE *ask = fopen(ask_path, "r");

	if (!ask || !fgets(line, LINE, ask))
		fail("%s: no line", ask_path);
	fclose(ask);
	line[strcspn(line, "\n")] = '\0';
}

/* Wait for a reader of `answer`, which gets error messages, too. */
static FILE *open_answer(void)
{
	FILE *answer = fopen(answer_path, "w");

	if (!answer || dup2(fileno(answer), STDERR_FILENO) < 0)
		fail("%s: cannot be opened", answer_path);
	return answer;
}

/* End the answer. */
static void close_answer(FILE *answer)
{
	fclose(answer);
	if (dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
		_exit(1);
}

/* Obey a line, and return whether it was "stop". */
static int obey(const char *line, FILE *answer)
{
	unsigned long operations, seed;

	if (sscanf(line, "run %lu %lu", &operations, &seed) == 2) {
		run(operations, seed, answer);
		return 0;
	}
	if (strcmp(line, "stop"))
		fail("'%s' is neither 'run OPERATIONS SEED' nor 'stop'", line);
	rocksdb_close(db);
	rocksdb_close(log_db);
	fprintf(answer, "log %llu\n", (unsigned long long)log_keys);
	return 1;
}

static void serve(void)
{
	FILE *answer = open_answer();
	char line[LINE];
	int stopped;

	db = open_db(db_path);
	log_db = open_db(log_path);
	start_threads();
	fprintf(answer, "ready\n");
	do {
		close_answer(answer);
		receive(line);
		answer = open_answer();
		stopped = obey(line, answer);
	} while (!stopped);
	fclose(answer);
	/* The threads wait for another run. */
	_exit(0);
}

int main(int count, char **arguments)
{
	struct random random = { .state = 1 };

	if (count < 3)
		errx(2, "usage: rocksdb_clients load|serve db=DIR [NAME=VALUE...]");
	set_all(known, arguments + 2);
	if (!db_path || !keys || value < KEY || value > VALUE_MAX || !memtable || !table)
		errx(2, "db, keys, value, memtable or table is missing or out of range");
	for (size_t i = 0; i < RANDOM_BYTES; i++)
		random_bytes[i] = (char)draw(&random, 256);
	reading = rocksdb_readoptions_create();
	writing = rocksdb_writeoptions_create();
	if (!strcmp(arguments[1], "load")) {
		db = open_db(db_path);
		load();
		rocksdb_close(db);
	} else if (!strcmp(arguments[1], "serve")) {
		if (!log_path || !ask_path || !answer_path || !clients || !writers || !scan)
			errx(2, "log, ask, answer, clients, writers or scan is missing");
		serve();
	} else {
		errx(2, "'%s' is neither load nor serve", arguments[1]);
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * rocksdb_clients load db=DIR [NAME=NUMBER...]
 * rocksdb_clients serve db=DIR ask=FIFO answer=FIFO [NAME=NUMBER...]
 *
 * Links with: librocksdb-dev -lrocksdb
 *
 * A server that has RocksDB built in and runs as long as the machine. db_bench would start
 * anew for each slice of a warm-up, and most of what a slice does would be this start.
 *
 * Keys 0 to `keys` - 1 are divided among `databases` databases in the directory `db`, each with
 * a range of them, as db_bench does with --num_multi_db: 16 clients that write to one database
 * would mostly wait for each other.
 *
 * `load` fills the databases with their keys in order, without a write-ahead log, so that each
 * memtable becomes a table file. It completes compaction.
 *
 * With steady=1, it then overwrites keys, as often as it takes until all writes of as many keys
 * cause about the same compaction, and completes that. The databases have different numbers of
 * files in level 0 at the end, and when they are opened, memtables that are full to different
 * degrees: they are not all compacted at the same time.
 *
 * `serve` opens the databases, writes "ready" to `answer`, and then obeys the lines that it
 * reads from `ask`:
 *
 *	run TURNS SEED	`clients` threads take that many turns. A turn is `turn` operations
 *			of one kind: random reads, sequential reads, random writes or
 *			sequential writes. The kinds alternate, and what a turn does follows
 *			from its number and the seed, whichever thread takes it. The answer is
 *			"KIND NUMBER", the operations of each kind, and for each kind a line
 *			"times KIND" and lines "time FROM TO COUNT" with the histogram of its
 *			times in ns.
 *	stop		Close the databases, open them again, read them completely, and end.
 *			The answer is "keys NUMBER".
 *
 * Reads choose keys as db_bench does with --read_random_exp_range=`skew`: a random read each
 * key, a sequential one its first; at the end of a database it continues at its beginning.
 * Random writes choose all keys alike. Turns of sequential writes alternate between the databases,
 * and continue in each where the one before ended.
 *
 * A value begins with its key and with a version, which says how often it was written. A read
 * fails if it finds an older version than was written before it began. The last read of all
 * databases compares each byte of the last version of each key, and RocksDB verifies all
 * checksums. If anything is wrong, the answer is a message, and the program ends with status 1.
 */
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <rocksdb/c.h>

#include "files.h"

/* Bytes of a key, a number in decimal. */
#define KEY 16
#define VALUE_MAX 65536
/* Values are parts of so many random bytes. */
#define RANDOM_BYTES (128 << 10)
#define BATCH 20
#define BLOOM_BITS 10
#define BYTES_PER_SYNC (1 << 20)
/* So many that writers seldom wait for a flush, as on a server that is not overloaded. */
#define MEMTABLES 6
/* Memtables that age() writes to a database. */
#define AGE 48
/* So many files in level 0 are compacted: RocksDB's default. */
#define LEVEL0_FILES 4
/*
 * With so many files in level 0, writers of a database wait for its compaction. So what there is
 * to compact is bounded, and compaction follows from what is written, however fast the machine is.
 */
#define LEVEL0_STOP 6
/* A prime, which shares no factor with a number of keys: see skewed_key(). */
#define STRIDE 15485863
#define THREADS_MAX 64
#define DATABASES_MAX 16
/* Flushes and compactions that run at a time, of all databases. */
#define JOBS 4
/* The same with steady=1: they keep up with the writers. */
#define STEADY_JOBS 8
/* Writes of one key take turns: so many keys can be written at a time. */
#define LOCKS 1024
#define LINE 80

enum kind { READ_RANDOM, WRITE_RANDOM, READ_SEQUENCE, WRITE_SEQUENCE, KINDS };

static const char *const kinds[KINDS] = {
	[READ_RANDOM] = "read_random",
	[WRITE_RANDOM] = "write_random",
	[READ_SEQUENCE] = "read_sequence",
	[WRITE_SEQUENCE] = "write_sequence",
};

/*
 * End the program. Not by exit(), which would destroy what RocksDB's threads and others still
 * use.
 */
#define fail(...) (warnx(__VA_ARGS__), _exit(1))

static const char *db_path, *ask_path, *answer_path;
static unsigned long keys, value, memtable, table, level, block, cache, open_files, steady;
static unsigned long databases, clients, turn_length, skew;

/*
 * Sizes are in bytes, that of the cache for all databases together. `open_files` is for all
 * databases together, too, or 0 for no limit.
 */
static const struct setting known[] = {
	{ "db", NULL, &db_path }, { "ask", NULL, &ask_path }, { "answer", NULL, &answer_path },
	{ "keys", &keys, NULL }, { "value", &value, NULL }, { "memtable", &memtable, NULL },
	{ "table", &table, NULL }, { "level", &level, NULL }, { "block", &block, NULL },
	{ "cache", &cache, NULL }, { "open_files", &open_files, NULL },
	{ "steady", &steady, NULL },
	{ "databases", &databases, NULL }, { "clients", &clients, NULL }, { "turn", &turn_length, NULL }, { "skew", &skew, NULL },
	{ NULL, NULL, NULL },
};

/* What a value begins with. */
struct head {
	char key[KEY];
	uint64_t version;
};

static rocksdb_t *dbs[DATABASES_MAX];
static rocksdb_readoptions_t *reading;
static rocksdb_writeoptions_t *writing;
static char random_bytes[RANDOM_BYTES];

/* How often each key was written, and what protects a write. */
static uint32_t *versions;
static pthread_mutex_t locks[LOCKS];

/* What a run does, and how far it is. */
static struct {
	uint64_t turns, seed;
	uint64_t taken;
} work;

/* The turns of sequential writes of all runs. */
static uint64_t sequences;
static pthread_barrier_t begin, end;

static struct client {
	uint64_t done[KINDS];
	struct times times[KINDS];
} client[THREADS_MAX];

/* End the program if a call of RocksDB failed. */
static void check(char *error)
{
	if (error)
		fail("%s", error);
}

/* Return the first key of a database, or for `databases` the number of keys. */
static unsigned long first_key(unsigned long database)
{
	return database * keys / databases;
}

/* Return the database that has a key. */
static unsigned long database_of(unsigned long number)
{
	unsigned long database = number * databases / keys;

	return number < first_key(database + 1) ? database : database + 1;
}

/* Return the key that is read after a key. */
static unsigned long next_key(unsigned long number)
{
	unsigned long database = database_of(number);

	return number + 1 < first_key(database + 1) ? number + 1 : first_key(database);
}

static void open_databases(void)
{
	rocksdb_options_t *with = rocksdb_options_create();
	rocksdb_block_based_table_options_t *tables = rocksdb_block_based_options_create();

	rocksdb_options_set_create_if_missing(with, 1);
	rocksdb_options_set_compression(with, rocksdb_no_compression);
	rocksdb_options_set_write_buffer_size(with, memtable);
	rocksdb_options_set_max_write_buffer_number(with, MEMTABLES);
	rocksdb_options_set_target_file_size_base(with, table);
	rocksdb_options_set_max_bytes_for_level_base(with, level);
	rocksdb_options_set_max_background_jobs(with, steady ? STEADY_JOBS : JOBS);
	if (steady) {
		rocksdb_options_set_level0_file_num_compaction_trigger(with, LEVEL0_FILES);
		rocksdb_options_set_level0_slowdown_writes_trigger(with, LEVEL0_STOP);
		rocksdb_options_set_level0_stop_writes_trigger(with, LEVEL0_STOP);
	}
	/* As db_bench does by default. */
	rocksdb_options_set_enable_pipelined_write(with, 1);
	/* Clients outnumber cores: who waits for a log must not spin. */
	rocksdb_options_set_enable_write_thread_adaptive_yield(with, 0);
	/* As RocksDB's tuning guide advises: files reach the disk as they are written. */
	rocksdb_options_set_bytes_per_sync(with, BYTES_PER_SYNC);
	rocksdb_options_set_max_open_files(with,
					   open_files ? (int)(open_files / databases) : -1);
	rocksdb_block_based_options_set_block_size(tables, block);
	rocksdb_block_based_options_set_block_cache(tables, rocksdb_cache_create_lru(cache));
	rocksdb_block_based_options_set_filter_policy(
		tables, rocksdb_filterpolicy_create_bloom(BLOOM_BITS));
	rocksdb_options_set_block_based_table_factory(with, tables);
	if (mkdir(db_path, 0755) && access(db_path, W_OK))
		fail("%s: cannot be written", db_path);
	for (unsigned long database = 0; database < databases; database++) {
		char *error = NULL, path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%lu", db_path, database);
		dbs[database] = rocksdb_open(with, path, &error);
		check(error);
	}
}

static void close_databases(void)
{
	for (unsigned long database = 0; database < databases; database++)
		rocksdb_close(dbs[database]);
}

/* Write the key with that number to @text, of KEY bytes and a NUL. */
static void put_key(char *text, unsigned long number)
{
	for (int at = KEY - 1; at >= 0; at--, number /= 10)
		text[at] = (char)('0' + number % 10);
	text[KEY] = '\0';
}

/* Return the part of a value after its head. */
static const char *body(unsigned long number, uint64_t version)
{
	return random_bytes + mix(number + (version << 32)) % (RANDOM_BYTES - value);
}

/* Add version @version of a key to @batch. */
static void add_pair(rocksdb_writebatch_t *batch, unsigned long number, uint64_t version)
{
	char text[KEY + 1];
	const char *const key[] = { text };
	const size_t key_bytes[] = { KEY };
	struct head head = { .version = version };
	const char *const parts[] = { (char *)&head, body(number, version) };
	const size_t part_bytes[] = { sizeof(head), value - sizeof(head) };

	put_key(text, number);
	memcpy(head.key, text, KEY);
	rocksdb_writebatch_putv(batch, 1, key, key_bytes, 2, parts, part_bytes);
}

/* Check a value that was read, and return its version. */
static uint64_t check_value(const char *key, size_t key_bytes, const char *data, size_t bytes)
{
	struct head head;

	if (key_bytes != KEY || bytes != value || memcmp(data, key, KEY))
		fail("key %.*s: wrong value of %zu bytes", (int)key_bytes, key, bytes);
	memcpy(&head, data, sizeof(head));
	return head.version;
}

static void check_version(const char *key, uint64_t version, uint64_t least)
{
	if (version < least)
		fail("key %.*s: version %llu was read after %llu was written", KEY, key,
		     (unsigned long long)version, (unsigned long long)least);
}

static uint32_t last_version(unsigned long number)
{
	return __atomic_load_n(&versions[number], __ATOMIC_ACQUIRE);
}

/*
 * Return to how many keys a memtable is filled: it is flushed before it is full, because RocksDB
 * would flush several full ones to one file.
 */
static unsigned long memtable_keys(void)
{
	return memtable / (value + 2 * KEY) * 7 / 8;
}

/* Write the batch, which is empty afterwards. */
static void write_batch(rocksdb_t *db, rocksdb_writebatch_t *batch)
{
	char *error = NULL;

	rocksdb_write(db, writing, batch, &error);
	check(error);
	rocksdb_writebatch_clear(batch);
}

/*
 * Overwrite @count keys of a database with what they have: half of them in sequence, so that the
 * last is followed by the first key that serve overwrites in sequence, and half drawn.
 */
static void overwrite(unsigned long database, unsigned long count, struct random *random)
{
	rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
	unsigned long first = first_key(database), has = first_key(database + 1) - first;

	for (unsigned long at = 0; at < count; at++) {
		unsigned long number = at % 2 ? draw(random, has) : has - 1 - at / 2 % has;

		add_pair(batch, first + number, 0);
		if (at % BATCH == BATCH - 1 || at + 1 == count)
			write_batch(dbs[database], batch);
	}
	rocksdb_writebatch_destroy(batch);
}

static void flush(rocksdb_t *db)
{
	rocksdb_flushoptions_t *flushing = rocksdb_flushoptions_create();
	char *error = NULL;

	rocksdb_flush(db, flushing, &error);
	check(error);
	rocksdb_flushoptions_destroy(flushing);
}

static void finish_compaction(rocksdb_t *db)
{
	rocksdb_wait_for_compact_options_t *all = rocksdb_wait_for_compact_options_create();
	char *error = NULL;

	rocksdb_wait_for_compact(db, all, &error);
	check(error);
	rocksdb_wait_for_compact_options_destroy(all);
}

static void load(unsigned long database)
{
	unsigned long from = first_key(database), to = first_key(database + 1);
	rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
	unsigned long each = memtable_keys();

	for (unsigned long at = from; at < to; at++) {
		unsigned long count = at - from + 1;

		add_pair(batch, at, 0);
		if (count % BATCH == 0 || count % each == 0 || at + 1 == to)
			write_batch(dbs[database], batch);
		if (count % each == 0 || at + 1 == to)
			flush(dbs[database]);
	}
	rocksdb_writebatch_destroy(batch);
	finish_compaction(dbs[database]);
}

/* Return the number of files in level 0, which are compacted when there are LEVEL0_FILES. */
static unsigned long level0_files(rocksdb_t *db)
{
	char *text = rocksdb_property_value(db, "rocksdb.num-files-at-level0");
	unsigned long count = text ? number(text) : 0;

	free(text);
	return count;
}

/* Overwrite keys until compaction is in its steady state, with an own phase of each database. */
static void age(unsigned long database)
{
	struct random random = { .state = mix(database) };
	unsigned long flushed = 0;

	while (flushed < AGE || level0_files(dbs[database]) != database % LEVEL0_FILES) {
		overwrite(database, memtable_keys(), &random);
		flush(dbs[database]);
		finish_compaction(dbs[database]);
		flushed++;
	}
}

/* Let the memtables of the databases become full one after the other, and not all at a time. */
static void stagger_memtables(void)
{
	struct random random = { .state = 1 };

	for (unsigned long database = 0; database < databases; database++)
		overwrite(database, memtable_keys() * database / databases, &random);
}

/* Return a key: few are chosen often, and those lie far apart. */
static unsigned long skewed_key(struct random *random)
{
	double uniform = (double)draw(random, 1ul << 32) / (double)(1ul << 32);

	return (unsigned long)(exp(-(double)skew * uniform) * (double)keys) * STRIDE % keys;
}

static void write_one(rocksdb_writebatch_t *batch, unsigned long number)
{
	pthread_mutex_t *lock = &locks[number % LOCKS];
	char *error = NULL;
	uint32_t version;

	pthread_mutex_lock(lock);
	version = last_version(number) + 1;
	add_pair(batch, number, version);
	rocksdb_write(dbs[database_of(number)], writing, batch, &error);
	check(error);
	__atomic_store_n(&versions[number], version, __ATOMIC_RELEASE);
	pthread_mutex_unlock(lock);
	rocksdb_writebatch_clear(batch);
}

static void read_one(unsigned long number)
{
	uint64_t least = last_version(number);
	rocksdb_pinnableslice_t *found;
	char *error = NULL, key[KEY + 1];
	const char *data;
	size_t bytes;

	put_key(key, number);
	found = rocksdb_get_pinned(dbs[database_of(number)], reading, key, KEY, &error);
	check(error);
	if (!found)
		fail("key %s was not found", key);
	data = rocksdb_pinnableslice_value(found, &bytes);
	check_version(key, check_value(key, KEY, data, bytes), least);
	rocksdb_pinnableslice_destroy(found);
}

/* Return the first key of a turn of sequential writes. */
static unsigned long sequence_start(uint64_t number)
{
	unsigned long first = first_key(number % databases);
	unsigned long has = first_key(number % databases + 1) - first;

	return first + number / databases * turn_length % has;
}

/* Read a turn's keys in sequence. */
static void read_sequence(unsigned long number, struct times *times)
{
	uint64_t began = now();
	rocksdb_iterator_t *at;
	char *error = NULL, expected[KEY + 1];
	uint64_t least[turn_length];

	for (unsigned long i = 0, next = number; i < turn_length; i++, next = next_key(next))
		least[i] = last_version(next);
	at = rocksdb_create_iterator(dbs[database_of(number)], reading);
	put_key(expected, number);
	rocksdb_iter_seek(at, expected, KEY);
	for (unsigned long i = 0; i < turn_length; i++, number = next_key(number)) {
		size_t key_bytes, bytes;
		const char *key, *data;
		uint64_t ended;

		put_key(expected, number);
		if (!rocksdb_iter_valid(at))
			rocksdb_iter_seek_to_first(at);
		if (!rocksdb_iter_valid(at))
			fail("key %s was not found", expected);
		key = rocksdb_iter_key(at, &key_bytes);
		data = rocksdb_iter_value(at, &bytes);
		if (key_bytes != KEY || memcmp(key, expected, KEY))
			fail("key %.*s was found instead of %s", (int)key_bytes, key, expected);
		check_version(key, check_value(key, key_bytes, data, bytes), least[i]);
		rocksdb_iter_next(at);
		ended = now();
		add_time(times, ended - began);
		began = ended;
	}
	rocksdb_iter_get_error(at, &error);
	check(error);
	rocksdb_iter_destroy(at);
}

/* Take the turn with that number. */
static void take_turn(uint64_t turn, rocksdb_writebatch_t *batch, struct client *own)
{
	struct random random = { .state = mix(mix(work.seed) + turn) };
	enum kind kind = turn % KINDS;
	unsigned long next = 0;

	own->done[kind] += turn_length;
	if (kind == READ_SEQUENCE) {
		read_sequence(skewed_key(&random), &own->times[kind]);
		return;
	}
	if (kind == WRITE_SEQUENCE)
		next = sequence_start(__atomic_fetch_add(&sequences, 1, __ATOMIC_RELAXED));
	for (unsigned long i = 0; i < turn_length; i++) {
		uint64_t began = now();

		if (kind == READ_RANDOM)
			read_one(skewed_key(&random));
		else if (kind == WRITE_RANDOM)
			write_one(batch, draw(&random, keys));
		else
			write_one(batch, next);
		add_time(&own->times[kind], now() - began);
		next = next_key(next);
	}
}

static void *thread(void *argument)
{
	struct client *own = &client[(unsigned long)argument];
	rocksdb_writebatch_t *batch = rocksdb_writebatch_create();

	for (;;) {
		uint64_t turn;

		pthread_barrier_wait(&begin);
		memset(own, 0, sizeof(*own));
		while ((turn = __atomic_fetch_add(&work.taken, 1, __ATOMIC_RELAXED)) < work.turns)
			take_turn(turn, batch, own);
		pthread_barrier_wait(&end);
	}
	return NULL;
}

static void start_threads(void)
{
	pthread_t started;

	if (clients > THREADS_MAX)
		errx(2, "%lu threads are more than %d", clients, THREADS_MAX);
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&locks[i], NULL);
	pthread_barrier_init(&begin, NULL, (unsigned int)clients + 1);
	pthread_barrier_init(&end, NULL, (unsigned int)clients + 1);
	for (unsigned long number = 0; number < clients; number++)
		if (pthread_create(&started, NULL, thread, (void *)number))
			fail("pthread_create");
}

static void run(uint64_t turns, uint64_t seed, FILE *answer)
{
	static struct client all;

	memset(&all, 0, sizeof(all));
	work.turns = turns;
	work.seed = seed;
	work.taken = 0;
	pthread_barrier_wait(&begin);
	pthread_barrier_wait(&end);
	for (unsigned long number = 0; number < clients; number++) {
		for (int kind = 0; kind < KINDS; kind++) {
			all.done[kind] += client[number].done[kind];
			add_times(&all.times[kind], &client[number].times[kind]);
		}
	}
	for (int kind = 0; kind < KINDS; kind++)
		fprintf(answer, "%s %llu\n", kinds[kind], (unsigned long long)all.done[kind]);
	for (int kind = 0; kind < KINDS; kind++) {
		fprintf(answer, "times %s\n", kinds[kind]);
		print_times(answer, &all.times[kind]);
	}
}

/* Compare each byte of the last versions of a database's keys, `from` to `to` - 1. */
static void check_all(rocksdb_t *db, unsigned long from, unsigned long to)
{
	rocksdb_iterator_t *at = rocksdb_create_iterator(db, reading);
	unsigned long number = from;
	char *error = NULL, expected[KEY + 1];

	for (rocksdb_iter_seek_to_first(at); rocksdb_iter_valid(at); rocksdb_iter_next(at)) {
		size_t key_bytes, bytes;
		const char *key = rocksdb_iter_key(at, &key_bytes);
		const char *data = rocksdb_iter_value(at, &bytes);
		uint64_t version;

		put_key(expected, number);
		if (number >= to || key_bytes != KEY || memcmp(key, expected, KEY))
			fail("key %.*s is there and not %s", (int)key_bytes, key, expected);
		version = check_value(key, key_bytes, data, bytes);
		if (version != versions[number] ||
		    memcmp(data + sizeof(struct head), body(number, version),
			   value - sizeof(struct head)))
			fail("key %s: not what was written last", expected);
		number++;
	}
	rocksdb_iter_get_error(at, &error);
	check(error);
	rocksdb_iter_destroy(at);
	put_key(expected, number);
	if (number < to)
		fail("key %s was not found", expected);
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
	unsigned long turns, seed;

	if (sscanf(line, "run %lu %lu", &turns, &seed) == 2) {
		run(turns, seed, answer);
		return 0;
	}
	if (strcmp(line, "stop"))
		fail("'%s' is neither 'run TURNS SEED' nor 'stop'", line);
	close_databases();
	open_databases();
	for (unsigned long at = 0; at < databases; at++)
		check_all(dbs[at], first_key(at), first_key(at + 1));
	fprintf(answer, "keys %lu\n", keys);
	return 1;
}

static void serve(void)
{
	FILE *answer = open_answer();
	char line[LINE];
	int stopped;

	versions = calloc(keys, sizeof(*versions));
	if (!versions)
		fail("no memory for the versions of %lu keys", keys);
	open_databases();
	if (steady)
		stagger_memtables();
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
	if (!db_path || !keys || value <= sizeof(struct head) || value > VALUE_MAX || !memtable ||
	    !table || !databases || databases > DATABASES_MAX || databases > keys)
		errx(2, "db, databases, keys, value, memtable or table is missing or out of range");
	for (size_t i = 0; i < RANDOM_BYTES; i++)
		random_bytes[i] = (char)draw(&random, 256);
	reading = rocksdb_readoptions_create();
	writing = rocksdb_writeoptions_create();
	if (!strcmp(arguments[1], "load")) {
		open_databases();
		rocksdb_writeoptions_disable_WAL(writing, 1);
		for (unsigned long at = 0; at < databases; at++) {
			load(at);
			if (steady)
				age(at);
		}
		close_databases();
	} else if (!strcmp(arguments[1], "serve")) {
		if (!ask_path || !answer_path || !clients || !turn_length)
			errx(2, "ask, answer, clients or turn is missing");
		serve();
	} else {
		errx(2, "'%s' is neither load nor serve", arguments[1]);
	}
	return 0;
}

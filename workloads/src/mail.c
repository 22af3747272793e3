// SPDX-License-Identifier: GPL-2.0
/*
 * mail load|run|check BOXES MESSAGES [ROUNDS SEED]...
 *
 * A mail server that works on BOXES mail boxes in the current directory, with one
 * process for each box. Each ROUNDS and SEED stand for a run.
 *
 * `load` writes MESSAGES messages to each box.
 *
 * `run` does the last of these runs; those before it have been done. A run is ROUNDS
 * rounds in each box. A round is that of Filebench's Varmail:
 * delete a message; receive a message (create, write, sync); read a message,
 * append to it and sync it; read a message. The messages that a round reads,
 * appends to and deletes are drawn from the RECENT recent messages of the box. At
 * first these are its newest messages; each message that is received then takes
 * the place of the deleted one. All older messages are kept and never touched: mail
 * that is not deleted soon is hardly read again.
 *
 * `check` reads and verifies every message that exists after all of these runs.
 *
 * Each prints its counts of operations and their times: see report().
 */
#include "files.h"

#define RECENT 256
#define MAX_BYTES 16384
#define APPENDED 1024

enum operation { DELETE, RECEIVE, APPEND, READ, OPERATIONS };
static const char *const names[OPERATIONS] = { "delete", "receive", "append", "read" };

static unsigned long messages;
/* The runs: two arguments, ROUNDS and SEED, each. */
static const char **runs;
static size_t runs_count;
static uint64_t buffer[(MAX_BYTES + APPENDED) / 8 + 1];
static unsigned long done[OPERATIONS];
static struct times times;

/*
 * One mail box: its recent messages, by number, and how often each was appended to.
 * The next message that it receives has the number @next.
 */
struct box {
	unsigned long number, next;
	unsigned long recent[RECENT];
	unsigned int additions[RECENT];
	struct random random;
};

/* Return the id of a message, from which its size and contents follow. */
static uint64_t id_of(const struct box *box, unsigned long message)
{
	return (uint64_t)box->number << 32 | message;
}

/* Return a message's size as it is received: a multiple of 8 bytes, as fill() needs to append. */
static size_t size_of(uint64_t id)
{
	return 8 * (1 + mix(~id) % (MAX_BYTES / 8));
}

/* Write the path of a message to @path and return it. */
static const char *path_of(char *path, const struct box *box, unsigned long message)
{
	sprintf(path, "%02lu/%08lu", box->number, message);
	return path;
}

/* Count an operation that began at @since and ends now. */
static void count(enum operation operation, uint64_t since)
{
	done[operation]++;
	add_time(&times, now() - since);
}

/* Create and write a message; with @synced, fsync it. */
static void receive(const struct box *box, unsigned long message, int synced)
{
	uint64_t id = id_of(box, message), since = now();
	size_t bytes = size_of(id);
	char path[64];
	int fd = open(path_of(path, box, message), O_WRONLY | O_CREAT | O_EXCL, 0644);

	if (fd < 0)
		err(1, "%s", path);
	fill(buffer, bytes, id, 0);
	if (write(fd, buffer, bytes) != (ssize_t)bytes || (synced && fsync(fd)) || close(fd))
		err(1, "%s", path);
	count(RECEIVE, since);
}

/* Read and verify a message to which @added bytes were appended. */
static void read_message(const struct box *box, unsigned long message, size_t added)
{
	uint64_t id = id_of(box, message), since = now();
	char path[64];
	int fd = open(path_of(path, box, message), O_RDONLY);

	if (fd < 0)
		err(1, "%s", path);
	read_verified(fd, buffer, size_of(id) + added, id, path);
	close(fd);
	count(READ, since);
}

/* Read a recent message, and append to it and sync it unless that was done before. */
static void append(struct box *box, unsigned int slot)
{
	unsigned long message = box->recent[slot];
	uint64_t id = id_of(box, message), since;
	char path[64];
	int fd;

	read_message(box, message, box->additions[slot] * APPENDED);
	if (box->additions[slot])
		return;
	since = now();
	fd = open(path_of(path, box, message), O_WRONLY | O_APPEND);
	if (fd < 0)
		err(1, "%s", path);
	fill(buffer, APPENDED, id, size_of(id));
	if (write(fd, buffer, APPENDED) != APPENDED || fsync(fd) || close(fd))
		err(1, "%s", path);
	box->additions[slot] = 1;
	count(APPEND, since);
}

/* Unlink a message. */
static void delete(const struct box *box, unsigned long message)
{
	uint64_t since = now();
	char path[64];

	if (unlink(path_of(path, box, message)))
		err(1, "%s", path);
	count(DELETE, since);
}

/*
 * Do one round. Without @real, only note in @box what the round would change, and touch no
 * file. The message that is received takes the place of the deleted one.
 */
static void work_round(struct box *box, int real)
{
	unsigned int victim = draw(&box->random, RECENT), changed = draw(&box->random, RECENT);
	unsigned int looked_at = draw(&box->random, RECENT);

	if (real)
		delete(box, box->recent[victim]);
	box->recent[victim] = box->next++;
	box->additions[victim] = 0;
	if (!real) {
		box->additions[changed] = 1;
		return;
	}
	receive(box, box->recent[victim], 1);
	append(box, changed);
	read_message(box, box->recent[looked_at], box->additions[looked_at] * APPENDED);
}

/* Initialize a box as it is after the load. */
static void open_box(struct box *box, unsigned long number)
{
	memset(box, 0, sizeof(*box));
	box->number = number;
	box->next = messages;
	for (unsigned int slot = 0; slot < RECENT; slot++)
		box->recent[slot] = messages - 1 - slot;
}

/* Do a run; see work_round() about @real. */
static void do_run(struct box *box, size_t which, int real)
{
	unsigned long rounds = number(runs[2 * which]);

	box->random.state = mix(number(runs[2 * which + 1])) + box->number;
	for (unsigned long i = 0; i < rounds; i++)
		work_round(box, real);
}

static void run(struct box *box)
{
	for (size_t which = 0; which < runs_count; which++)
		do_run(box, which, which + 1 == runs_count);
}

/* Read all messages: the older ones, and the recent ones as the runs left them. */
static void check(struct box *box)
{
	for (size_t which = 0; which < runs_count; which++)
		do_run(box, which, 0);
	for (unsigned long message = 0; message < messages - RECENT; message++)
		read_message(box, message, 0);
	for (unsigned int slot = 0; slot < RECENT; slot++)
		read_message(box, box->recent[slot], box->additions[slot] * APPENDED);
}

/* Print a line "OPERATION COUNT" for each operation, then the times. */
static void report(void)
{
	for (int i = 0; i < OPERATIONS; i++)
		printf("%s %lu\n", names[i], done[i]);
	print_times(stdout, &times);
	fflush(stdout);
}

/* Fill all boxes, one message to each in turn. */
static void load(unsigned long boxes)
{
	struct box box = { 0 };
	char path[64];

	for (box.number = 0; box.number < boxes; box.number++) {
		sprintf(path, "%02lu", box.number);
		if (mkdir(path, 0755))
			err(1, "%s", path);
	}
	for (unsigned long message = 0; message < messages; message++)
		for (box.number = 0; box.number < boxes; box.number++)
			receive(&box, message, 0);
	report();
}

static void serve(unsigned long number)
{
	struct box box;

	open_box(&box, number);
	run(&box);
	report();
}

static void check_box(unsigned long number)
{
	struct box box;

	open_box(&box, number);
	check(&box);
	report();
}

int main(int argc, char **argv)
{
	unsigned long boxes;

	if (argc < 4 || argc % 2)
		errx(2, "usage: mail load|run|check BOXES MESSAGES [ROUNDS SEED]...");
	boxes = number(argv[2]);
	messages = number(argv[3]);
	runs_count = (size_t)(argc - 4) / 2;
	runs = (const char **)argv + 4;
	/* A report is one write(), so that those of several processes do not mix. */
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	if (messages < RECENT)
		errx(2, "at least %d messages", RECENT);
	if (!strcmp(argv[1], "load"))
		load(boxes);
	else if (!strcmp(argv[1], "run"))
		in_processes(boxes, serve);
	else if (!strcmp(argv[1], "check"))
		in_processes(boxes, check_box);
	else
		errx(2, "%s is not load, run or check", argv[1]);
	return 0;
}

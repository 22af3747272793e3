// SPDX-License-Identifier: GPL-2.0
/*
 * smallfiles load|run|check DIRECTORIES FILES PROCESSES [SESSIONS SEED]...
 *
 * Works on DIRECTORIES directories of FILES small files each, in the current
 * directory, like users of source trees, mail directories or a thumbnail cache. Each
 * of PROCESSES processes has directories of its own: every PROCESSES-th. Each SESSIONS
 * and SEED stand for a run.
 *
 * `load` creates the directories and files.
 *
 * `run` does the last of these runs; those before it have been done. A run is SESSIONS
 * sessions of each process. A session draws a directory at random, lists it
 * with a stat of every file, reads all files, creates new files (a quarter of
 * FILES) under temporary names and renames them, unlinks as many of the oldest
 * files, and reads all files again.
 *
 * `check` lists all directories, and reads and verifies every file that exists
 * after all of these runs.
 *
 * Each process prints a line "OPERATION COUNT" for each operation, then their times:
 * see print_times().
 *
 * The files of a directory are numbered in the order in which they are created.
 * A directory holds FILES files, from number @first on.
 */
#include <dirent.h>

#include "files.h"

#define MAX_BYTES 8192
#define MAX_DIRECTORIES 4096

enum operation { LIST, STAT, READ, CREATE, RENAME, UNLINK, OPERATIONS };
static const char *const names[OPERATIONS] = { "list", "stat", "read", "create", "rename", "unlink" };

static unsigned long directories, files, processes;
/* The runs: two arguments, SESSIONS and SEED, each. */
static const char **runs;
static size_t runs_count;
static unsigned long first[MAX_DIRECTORIES];
static uint64_t buffer[MAX_BYTES / 8 + 1];
static unsigned long done[OPERATIONS];
static struct times times;

/* Return the id of a file, from which its size and contents follow. */
static uint64_t id_of(unsigned long directory, unsigned long file)
{
	return (uint64_t)directory << 32 | file;
}

/* Return the size of a file, 1 to MAX_BYTES bytes. */
static size_t size_of(uint64_t id)
{
	return 1 + mix(~id) % MAX_BYTES;
}

/* Count an operation that began at @since and ends now. */
static void count(enum operation operation, uint64_t since)
{
	done[operation]++;
	add_time(&times, now() - since);
}

/* Write the path of a file, with @suffix, to @path and return it. */
static const char *path_of(char *path, unsigned long directory, unsigned long file,
			   const char *suffix)
{
	sprintf(path, "%04lu/%08lu%s", directory, file, suffix);
	return path;
}

static void create(unsigned long directory, unsigned long file, const char *suffix)
{
	uint64_t id = id_of(directory, file), since = now();
	char path[64];
	int fd = open(path_of(path, directory, file, suffix), O_WRONLY | O_CREAT | O_EXCL, 0644);

	if (fd < 0)
		err(1, "%s", path);
	fill(buffer, size_of(id), id, 0);
	if (write(fd, buffer, size_of(id)) != (ssize_t)size_of(id) || close(fd))
		err(1, "%s", path);
	count(CREATE, since);
}

static void read_one(unsigned long directory, unsigned long file)
{
	uint64_t id = id_of(directory, file), since = now();
	char path[64];
	int fd = open(path_of(path, directory, file, ""), O_RDONLY);

	if (fd < 0)
		err(1, "%s", path);
	read_verified(fd, buffer, size_of(id), id, path);
	close(fd);
	count(READ, since);
}

static void rename_one(unsigned long directory, unsigned long file)
{
	uint64_t since = now();
	char from[64], to[64];

	if (rename(path_of(from, directory, file, ".new"), path_of(to, directory, file, "")))
		err(1, "%s", from);
	count(RENAME, since);
}

static void unlink_one(unsigned long directory, unsigned long file)
{
	uint64_t since = now();
	char path[64];

	if (unlink(path_of(path, directory, file, "")))
		err(1, "%s", path);
	count(UNLINK, since);
}

static void stat_one(int listed, const char *name)
{
	uint64_t since = now();
	struct stat status;

	if (fstatat(listed, name, &status, AT_SYMLINK_NOFOLLOW))
		err(1, "%s", name);
	count(STAT, since);
}

/* List a directory with a stat of every file, and check that it has the right number of them. */
static void list(unsigned long directory)
{
	uint64_t since = now();
	unsigned long found = 0;
	struct dirent *entry;
	char path[64];
	DIR *listed;

	sprintf(path, "%04lu", directory);
	listed = opendir(path);
	if (!listed)
		err(1, "%s", path);
	while ((entry = readdir(listed))) {
		if (entry->d_name[0] == '.')
			continue;
		stat_one(dirfd(listed), entry->d_name);
		found++;
	}
	closedir(listed);
	if (found != files)
		errx(1, "%s has %lu files and not %lu", path, found, files);
	count(LIST, since);
}

static void read_all(unsigned long directory)
{
	for (unsigned long i = 0; i < files; i++)
		read_one(directory, first[directory] + i);
}

/* Do one session in a directory. */
static void session(unsigned long directory)
{
	unsigned long changed = files / 4, next = first[directory] + files;

	list(directory);
	read_all(directory);
	for (unsigned long i = 0; i < changed; i++)
		create(directory, next + i, ".new");
	for (unsigned long i = 0; i < changed; i++)
		rename_one(directory, next + i);
	for (unsigned long i = 0; i < changed; i++)
		unlink_one(directory, first[directory] + i);
	first[directory] += changed;
	read_all(directory);
}

/*
 * Create all files, one in each directory in turn, so that the files of one directory are not
 * next to each other in memory.
 */
static void load(void)
{
	char path[64];

	for (unsigned long directory = 0; directory < directories; directory++) {
		sprintf(path, "%04lu", directory);
		if (mkdir(path, 0755))
			err(1, "%s", path);
	}
	for (unsigned long file = 0; file < files; file++)
		for (unsigned long directory = 0; directory < directories; directory++)
			create(directory, file, "");
}

/*
 * Do a run of a process. Without @real, only note which files each of its directories
 * holds afterwards, and touch no file.
 */
static void do_run(unsigned long process, size_t which, int real)
{
	unsigned long sessions = number(runs[2 * which]);
	struct random random = { mix(number(runs[2 * which + 1])) + process };

	for (unsigned long i = 0; i < sessions; i++) {
		unsigned long directory = draw(&random, directories / processes);

		directory = directory * processes + process;
		if (real)
			session(directory);
		else
			first[directory] += files / 4;
	}
}

/* Print a line "OPERATION COUNT" for each operation, then the times. */
static void report(void)
{
	for (int i = 0; i < OPERATIONS; i++)
		printf("%s %lu\n", names[i], done[i]);
	print_times(stdout, &times);
	fflush(stdout);
}

static void run(unsigned long process)
{
	for (size_t which = 0; which < runs_count; which++)
		do_run(process, which, which + 1 == runs_count);
	report();
}

static void check(unsigned long process)
{
	for (size_t which = 0; which < runs_count; which++)
		do_run(process, which, 0);
	for (unsigned long directory = process; directory < directories; directory += processes) {
		list(directory);
		read_all(directory);
	}
	report();
}

int main(int argc, char **argv)
{
	if (argc < 5 || argc % 2 == 0)
		errx(2, "usage: smallfiles load|run|check DIRECTORIES FILES PROCESSES "
			"[SESSIONS SEED]...");
	directories = number(argv[2]);
	files = number(argv[3]);
	processes = number(argv[4]);
	runs_count = (size_t)(argc - 5) / 2;
	runs = (const char **)argv + 5;
	/* A report is one write(), so that those of several processes do not mix. */
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	if (processes == 0 || directories < processes || directories > MAX_DIRECTORIES)
		errx(2, "at least one directory a process, and at most %d", MAX_DIRECTORIES);
	if (!strcmp(argv[1], "load")) {
		load();
		report();
	} else if (!strcmp(argv[1], "run")) {
		in_processes(processes, run);
	} else if (!strcmp(argv[1], "check")) {
		in_processes(processes, check);
	} else {
		errx(2, "%s is not load, run or check", argv[1]);
	}
	return 0;
}

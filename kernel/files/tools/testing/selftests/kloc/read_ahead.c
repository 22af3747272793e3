// SPDX-License-Identifier: GPL-2.0
/*
 * read_ahead MODE: drop the page cache of the file on standard input, and read some of it.
 * Readahead keeps its state with the open file, so programs that share one continue it.
 *
 *	stream		read all of it, a little at a time
 *	mapped		the same through a mapping
 *	once		POSIX_FADV_NOREUSE, and read all of it
 *	first		read the beginning into a large buffer
 *	random		read a page here and there
 *	faults		the same through a mapping, for all windows of readahead
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE		4096
/* Pages of a window of readahead, by default. */
#define WINDOW		32
/* Has no factor in common with a number of windows that is a power of two. */
#define STRIDE		37

static char buffer[128 * 1024];
static unsigned long pages;
static const char *map;
static unsigned long sum;

static int read_from(off_t offset, size_t size)
{
	ssize_t done = pread(0, buffer, size, offset);

	if (done < 0)
		perror("pread");
	return done < 0;
}

static int stream(void)
{
	unsigned long i;
	int error = 0;

	for (i = 0; i < pages && !error; i += 4)
		error = read_from(i * PAGE, 4 * PAGE);
	return error;
}

static int map_it(void)
{
	map = mmap(NULL, pages * PAGE, PROT_READ, MAP_SHARED, 0, 0);
	if (map == MAP_FAILED)
		perror("mmap");
	return map == MAP_FAILED;
}

/* The sum is used in main(), so that the compiler does not leave this out. */
static void touch(unsigned long page)
{
	sum += map[page * PAGE];
}

static int mapped(void)
{
	unsigned long i;

	if (map_it())
		return 1;
	for (i = 0; i < pages; i++)
		touch(i);
	return 0;
}

/* A page in the middle of each window, in an order without a pattern. */
static unsigned long somewhere(unsigned long i)
{
	return i * STRIDE % (pages / WINDOW) * WINDOW + WINDOW / 2;
}

static int random_reads(void)
{
	unsigned long i;
	int error = 0;

	for (i = 0; i < pages / WINDOW && !error; i++)
		error = read_from(somewhere(i) * PAGE, PAGE);
	return error;
}

static int random_faults(void)
{
	unsigned long i;

	if (map_it())
		return 1;
	for (i = 0; i < pages / WINDOW; i++)
		touch(somewhere(i));
	return 0;
}

static int once(void)
{
	if (posix_fadvise(0, 0, 0, POSIX_FADV_NOREUSE))
		return 1;
	return stream();
}

static int first(void)
{
	return read_from(0, sizeof(buffer));
}

static const struct {
	const char *name;
	int (*run)(void);
} modes[] = {
	{ "stream", stream },
	{ "mapped", mapped },
	{ "once", once },
	{ "first", first },
	{ "random", random_reads },
	{ "faults", random_faults },
};

int main(int argc, char **argv)
{
	struct stat status;
	unsigned int i;

	if (fstat(0, &status)) {
		perror("fstat");
		return 1;
	}
	pages = (status.st_size + PAGE - 1) / PAGE;
	errno = posix_fadvise(0, 0, 0, POSIX_FADV_DONTNEED);
	if (errno) {
		perror("posix_fadvise");
		return 1;
	}
	for (i = 0; argc == 2 && i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(argv[1], modes[i].name))
			return modes[i].run() || sum == -1UL;
	fprintf(stderr, "usage: read_ahead stream|mapped|once|first|random|faults\n");
	return 2;
}

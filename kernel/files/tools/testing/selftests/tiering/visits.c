// SPDX-License-Identifier: GPL-2.0
/*
 * visits OPTION SECONDS HOT COLD RATE [NODE] - use a hot and a cold part at known rates
 *
 * Maps a hot and a cold part of HOT and COLD MiB, multiples of 2, and fills them. For some
 * seconds, uses a page of the hot part after the other, and a random page of the cold part
 * RATE times a second. Each tenth of a second, prints a line:
 *
 *	start=ADDRESS hot_left=PAGES cold_left=PAGES huge=PAGES
 *
 * with the first address of the mapping, the pages of each part that are not on the node
 * where they began, and how many pages are parts of huge ones. At the end, or at SIGTERM,
 * prints intact=1 if all contents are as before.
 *
 * base: base pages
 * huge: huge pages
 * mixed: base pages; before the uses, each second page of the hot part moves to NODE
 * fork, mprotect, mremap, munmap, read: base pages, to whose mapping that happens all the
 *	time: a child uses all of it; it is made read-only and writable again; it moves to
 *	another address and back; the second half of the cold part is unmapped and filled
 *	anew; read(2) writes into the cold part
 */
#define _GNU_SOURCE
#include <err.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE		4096UL
#define PAGES_MIB	(1048576UL / PAGE)
#define HUGE		(2UL << 20)
#define CHUNK		512UL

/* Global, so that the compiler keeps the uses. */
unsigned char used;

static unsigned char *start, *elsewhere;
static unsigned long hot, cold;		/* pages; the cold part follows the hot one */
static int *began;			/* the node of each page at first */
static uint64_t seed = 88172645463325252ULL;

static uint64_t word(unsigned long page, unsigned int i)
{
	return (page * 0x9e3779b97f4a7c15ULL) ^ i;
}

static void fill(unsigned long first, unsigned long end)
{
	unsigned long page;
	unsigned int i;

	for (page = first; page < end; page++)
		for (i = 0; i < PAGE / 8; i++)
			((uint64_t *)(start + page * PAGE))[i] = word(page, i);
}

static bool is_intact(void)
{
	unsigned long page;
	unsigned int i;

	for (page = 0; page < hot + cold; page++)
		for (i = 0; i < PAGE / 8; i++)
			if (((uint64_t *)(start + page * PAGE))[i] != word(page, i))
				return false;
	return true;
}

/* Test whether SIGTERM, which is blocked, has come. */
static bool is_over(void)
{
	sigset_t pending;

	if (sigpending(&pending))
		err(1, "sigpending");
	return sigismember(&pending, SIGTERM);
}

static void block_sigterm(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		err(1, "sigprocmask");
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static void get_nodes(int *nodes)
{
	unsigned long page, i;

	for (page = 0; page < hot + cold; page += CHUNK) {
		void *addresses[CHUNK];

		for (i = 0; i < CHUNK; i++)
			addresses[i] = start + (page + i) * PAGE;
		if (syscall(SYS_move_pages, 0, CHUNK, addresses, NULL, nodes + page, 0))
			err(1, "move_pages");
	}
}

/* Count the pages that have left their node, from @first to @end. */
static unsigned long count_left(const int *nodes, unsigned long first, unsigned long end)
{
	unsigned long page, left = 0;

	for (page = first; page < end; page++)
		left += nodes[page] >= 0 && nodes[page] != began[page];
	return left;
}

/* Count the pages of the process that are parts of huge ones. */
static unsigned long count_huge(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	unsigned long kib = 0;
	char line[256];

	if (!file)
		err(1, "smaps_rollup");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "AnonHugePages: %lu kB", &kib) == 1)
			break;
	fclose(file);
	return kib * 1024 / PAGE;
}

static void print_line(void)
{
	static int *nodes;

	if (!nodes)
		nodes = malloc((hot + cold) * sizeof(*nodes));
	if (!nodes)
		err(1, "malloc");
	get_nodes(nodes);
	printf("start=%lx hot_left=%lu cold_left=%lu huge=%lu\n", (unsigned long)start,
	       count_left(nodes, 0, hot), count_left(nodes, hot, hot + cold), count_huge());
	fflush(stdout);
}

static void use_cold(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	used += start[(hot + seed % cold) * PAGE];
}

static void do_fork(void)
{
	unsigned long page;
	pid_t child = fork();

	if (child < 0)
		err(1, "fork");
	if (!child) {
		for (page = 0; page < hot + cold; page++)
			start[page * PAGE]++;
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void do_mprotect(void)
{
	if (mprotect(start, (hot + cold) * PAGE, PROT_READ) ||
	    mprotect(start, (hot + cold) * PAGE, PROT_READ | PROT_WRITE))
		err(1, "mprotect");
}

static void do_mremap(void)
{
	unsigned char *from = start;

	start = mremap(from, (hot + cold) * PAGE, (hot + cold) * PAGE,
		       MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere);
	if (start == MAP_FAILED)
		err(1, "mremap");
	elsewhere = from;
}

static void do_munmap(void)
{
	unsigned long half = hot + cold / 2;
	void *gone = start + half * PAGE;

	if (munmap(gone, cold / 2 * PAGE) ||
	    mmap(gone, cold / 2 * PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != gone)
		err(1, "munmap");
	fill(half, hot + cold);
}

/* Read into a page what is there already, through a pipe. */
static void do_read(void)
{
	unsigned char *page = start + (hot + cold - 1) * PAGE;
	int ends[2];

	if (pipe(ends) || write(ends[1], page, PAGE) != (ssize_t)PAGE ||
	    read(ends[0], page, PAGE) != (ssize_t)PAGE)
		err(1, "pipe");
	close(ends[0]);
	close(ends[1]);
}

static void do_nothing(void)
{
}

/* Move each second page of the hot part. */
static void mix(int node)
{
	unsigned long page;

	for (page = 0; page < hot; page += 2) {
		void *address = start + page * PAGE;
		int status;

		/* A few may be busy, and stay. */
		if (syscall(SYS_move_pages, 0, 1UL, &address, &node, &status, 0) < 0)
			err(1, "move_pages");
	}
}

static const struct {
	const char *name;
	void (*act)(void);
} options[] = {
	{ "base", do_nothing },
	{ "huge", do_nothing },
	{ "mixed", do_nothing },
	{ "fork", do_fork },
	{ "mprotect", do_mprotect },
	{ "mremap", do_mremap },
	{ "munmap", do_munmap },
	{ "read", do_read },
};

static void map(bool is_huge)
{
	unsigned long bytes = (hot + cold) * PAGE;
	unsigned char *memory = mmap(NULL, 2 * bytes + HUGE, PROT_NONE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		err(1, "mmap");
	start = (unsigned char *)(((uintptr_t)memory + HUGE - 1) & ~(HUGE - 1));
	elsewhere = start + bytes;
	if (mprotect(start, bytes, PROT_READ | PROT_WRITE) ||
	    madvise(start, bytes, is_huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE))
		err(1, "madvise");
	fill(0, hot + cold);
	began = malloc((hot + cold) * sizeof(*began));
	if (!began)
		err(1, "malloc");
	get_nodes(began);
}

static void use(void (*act)(void), double seconds, unsigned long rate)
{
	double began_at = now(), line = began_at;
	unsigned long page = 0, uses = 0, i;

	while (!is_over() && now() < began_at + seconds) {
		for (i = 0; i < CHUNK && hot; i++, page = (page + 1) % hot)
			used += start[page * PAGE];
		while (rate && uses < (now() - began_at) * rate) {
			use_cold();
			uses++;
		}
		if (now() < line)
			continue;
		act();
		print_line();
		line += 0.1;
	}
}

int main(int argc, char **argv)
{
	void (*act)(void) = NULL;
	unsigned int i;

	for (i = 0; (argc == 6 || argc == 7) && i < sizeof(options) / sizeof(*options); i++)
		if (!strcmp(argv[1], options[i].name))
			act = options[i].act;
	if (!act)
		errx(2, "usage: visits OPTION SECONDS HOT COLD RATE [NODE]");
	hot = strtoul(argv[3], NULL, 0) * PAGES_MIB;
	cold = strtoul(argv[4], NULL, 0) * PAGES_MIB;
	block_sigterm();
	map(!strcmp(argv[1], "huge"));
	if (argc == 7)
		mix(atoi(argv[6]));
	use(act, atof(argv[2]), strtoul(argv[5], NULL, 0));
	printf("intact=%d\n", is_intact());
	return 0;
}

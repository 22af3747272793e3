// SPDX-License-Identifier: GPL-2.0
/*
 * hints [OPTION] NODE MIB NODE MIB SECONDS - use hot pages beside cold ones
 *
 * Allocates a cold and a hot part, each on a node with its size, in one mapping of base
 * pages, or of huge ones, and in one thread. Uses each hot page over and over, for some
 * CPU time. Prints how many pages each part has, how many are on its node and how many
 * have left it; the mean level of each part times 10, the bits in the histories of its
 * pages, -1 without such histories; how many pages are parts of huge ones at first and at
 * the end; and intact=1 if all contents are as before.
 *
 * bind: the hot part keeps a memory policy, MPOL_BIND to its node
 * huge: the pages are huge where there are any; sizes are multiples of 2 MiB
 * lock: the cold part is mlocked
 * pin: the first PINNED pages of the cold part are pinned by a pipe
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define PAGE		4096UL
#define PAGES_MIB	(1048576UL / PAGE)
#define HUGE		512UL
#define PINNED		64
#define CHUNK		512UL
#define POLICY_DEFAULT	0
#define POLICY_PREFERRED 1
#define POLICY_BIND	2
#define PFN_MASK	((1ULL << 55) - 1)

/* Global, so that the compiler keeps the uses. */
unsigned char used;

struct part {
	const char *name;
	unsigned char *start;
	unsigned long pages;
	unsigned long began;	/* pages on the node at first */
	unsigned long stay;	/* pages on the node at the end */
	long level;
	int node;
};

static void set_policy(int mode, int node)
{
	unsigned long mask = mode == POLICY_DEFAULT ? 0 : 1UL << node;

	if (syscall(SYS_set_mempolicy, mode, mask ? &mask : NULL, mask ? 64UL : 0UL))
		err(1, "set_mempolicy");
}

/* The contents of a word of a page. */
static uint64_t word(const struct part *part, unsigned long page, unsigned int i)
{
	return ((uint64_t)(part->node + 1) << 48) ^ (page * 0x9e3779b97f4a7c15ULL) ^ i;
}

static void fill(const struct part *part)
{
	unsigned long page;
	unsigned int i;

	set_policy(POLICY_PREFERRED, part->node);
	for (page = 0; page < part->pages; page++) {
		uint64_t *words = (uint64_t *)(part->start + page * PAGE);

		for (i = 0; i < PAGE / sizeof(*words); i++)
			words[i] = word(part, page, i);
	}
	set_policy(POLICY_DEFAULT, 0);
}

static bool is_intact(const struct part *part)
{
	unsigned long page;
	unsigned int i;

	for (page = 0; page < part->pages; page++) {
		const uint64_t *words = (uint64_t *)(part->start + page * PAGE);

		for (i = 0; i < PAGE / sizeof(*words); i++)
			if (words[i] != word(part, page, i))
				return false;
	}
	return true;
}

/* Scans of NUMA balancing come by the time that the process runs, so count that. */
static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static void touch(const struct part *part, double seconds)
{
	double end = now() + seconds;
	unsigned long page;

	while (now() < end)
		for (page = 0; page < part->pages; page++)
			used += part->start[page * PAGE];
}

/* Count the first pages of a part that are on its node. */
static unsigned long count_on_node(const struct part *part, unsigned long pages)
{
	unsigned long page, i, count = 0;

	for (page = 0; page < pages; page += CHUNK) {
		unsigned long most = pages - page < CHUNK ? pages - page : CHUNK;
		void *addresses[CHUNK];
		int nodes[CHUNK];

		for (i = 0; i < most; i++)
			addresses[i] = part->start + (page + i) * PAGE;
		if (syscall(SYS_move_pages, 0, most, addresses, NULL, nodes, 0))
			err(1, "move_pages");
		for (i = 0; i < most; i++)
			count += nodes[i] == part->node;
	}
	return count;
}

/* Count the pages of the mapping that are parts of huge pages. */
static unsigned long count_huge(const unsigned char *memory)
{
	unsigned long start, end, kib, pages = 0;
	FILE *maps = fopen("/proc/self/smaps", "r");
	bool inside = false;
	char line[512];

	if (!maps)
		err(1, "smaps");
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			inside = start == (uintptr_t)memory;
		else if (inside && sscanf(line, "AnonHugePages: %lu", &kib) == 1)
			pages += kib * 1024 / PAGE;
	}
	fclose(maps);
	return pages;
}

/* Get the mean level of a part, times 10. A huge page has one history, of @step pages. */
static long mean_level(const struct part *part, int map, int histories,
		       unsigned long step)
{
	unsigned long page, sum = 0;

	if (histories < 0)
		return -1;
	for (page = 0; page < part->pages; page += step) {
		uint64_t number = (uintptr_t)part->start / PAGE + page, entry;
		unsigned char history;

		if (pread(map, &entry, 8, number * 8) != 8)
			err(1, "pagemap");
		/* It may be on its way to another node. */
		if (!(entry >> 63))
			continue;
		if (pread(histories, &history, 1, entry & PFN_MASK) != 1)
			err(1, "history");
		sum += __builtin_popcount(history);
	}
	return sum * 10 / (part->pages / step);
}

static void pin(const struct part *part, int pipe)
{
	struct iovec pages = { part->start, PINNED * PAGE };

	if (fcntl(pipe, F_SETPIPE_SZ, PINNED * PAGE) < 0)
		err(1, "F_SETPIPE_SZ");
	if (vmsplice(pipe, &pages, 1, 0) != PINNED * PAGE)
		err(1, "vmsplice");
}

int main(int argc, char **argv)
{
	bool named = argc == 7;
	const char *option = named ? argv[1] : "";
	bool huge = !strcmp(option, "huge");
	struct part parts[2] = { { .name = "cold" }, { .name = "hot" } };
	unsigned long align = (huge ? HUGE : 1) * PAGE, began;
	int i, map, histories, pipes[2];
	unsigned char *memory, *mapping;
	size_t size = 0;
	cpu_set_t cpus;

	if (argc != 6 && !named)
		errx(1, "usage: hints [bind|huge|lock|pin] NODE MIB NODE MIB SECONDS");
	argv += named;
	for (i = 0; i < 2; i++) {
		parts[i].node = atoi(argv[1 + 2 * i]);
		parts[i].pages = strtoul(argv[2 + 2 * i], NULL, 10) * PAGES_MIB;
		size += parts[i].pages * PAGE;
	}
	mapping = mmap(NULL, size + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mapping == MAP_FAILED)
		err(1, "mapping");
	memory = mapping + (align - (uintptr_t)mapping % align) % align;
	if (mprotect(memory, size, PROT_READ | PROT_WRITE) ||
	    madvise(memory, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE))
		err(1, "memory");
	parts[0].start = memory;
	parts[1].start = memory + parts[0].pages * PAGE;

	/* The nearest memory of one CPU does not change. */
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	for (i = 0; i < 2; i++)
		fill(&parts[i]);
	if (pipe(pipes))
		err(1, "pipe");
	if (!strcmp(option, "pin"))
		pin(&parts[0], pipes[1]);
	if (!strcmp(option, "lock") && mlock(memory, parts[0].pages * PAGE))
		err(1, "mlock");
	if (!strcmp(option, "bind"))
		set_policy(POLICY_BIND, parts[1].node);
	for (i = 0; i < 2; i++)
		parts[i].began = count_on_node(&parts[i], parts[i].pages);
	began = count_huge(memory);
	touch(&parts[1], atof(argv[5]));

	map = open("/proc/self/pagemap", O_RDONLY);
	histories = open("/sys/kernel/debug/tiering/history", O_RDONLY);
	/* First the levels: counting takes no page, but checking uses all. */
	for (i = 0; i < 2; i++) {
		parts[i].level = mean_level(&parts[i], map, histories, huge ? HUGE : 1);
		parts[i].stay = count_on_node(&parts[i], parts[i].pages);
	}
	for (i = 0; i < 2; i++)
		printf("%1$s=%2$lu %1$s_stay=%3$lu %1$s_left=%4$ld %1$s_level=%5$ld ",
		       parts[i].name, parts[i].pages, parts[i].stay,
		       (long)(parts[i].began - parts[i].stay), parts[i].level);
	printf("pinned_stay=%lu ", count_on_node(&parts[0], PINNED));
	printf("huge=%lu huge_end=%lu ", began, count_huge(memory));
	printf("intact=%d\n", is_intact(&parts[0]) && is_intact(&parts[1]));
	return 0;
}

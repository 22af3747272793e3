// SPDX-License-Identifier: GPL-2.0
/*
 * kloc-memory INTERVAL-US FIRST-CPU
 *
 * Samples the memory that processes use until SIGTERM, and prints a line for each
 * sample: "NS RESIDENT-BYTES SWAPPED-BYTES", all but the first one at the end.
 *
 * Resident memory is the memory that page tables map, each page once: the kernel's counts
 * nr_anon_pages and nr_mapped, which are the sum of the PSS of all processes. Reading
 * these costs the same for any amount of memory, unlike /proc/PID/smaps_rollup.
 * Swapped memory is the memory that zram takes, compressed and with its allocator's
 * losses; swap on a disk takes no memory.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "aside.h"

#define VMSTAT "/proc/vmstat"
#define ZRAM "/sys/block/zram0/mm_stat"
#define SAMPLES_MAX 100000
#define PAGE 4096

struct sample {
	uint64_t time_ns, resident, swapped;
};

static volatile sig_atomic_t ended;

static void end(int number)
{
	(void)number;
	ended = 1;
}

/* Returns the length of the text that `file` has from its start. */
static ssize_t read_again(int file, char *text, size_t size)
{
	ssize_t length = pread(file, text, size - 1, 0);

	if (length < 0)
		fail("cannot read " VMSTAT " or " ZRAM);
	text[length] = '\0';
	return length;
}

static uint64_t counted(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	if (!at)
		fail(VMSTAT " has no%s", name);
	return strtoull(at + strlen(name), NULL, 10);
}

/* The third number of mm_stat is the memory that zram uses. */
static uint64_t compressed(const char *text)
{
	unsigned long long stored, data, used = 0;

	if (sscanf(text, "%llu %llu %llu", &stored, &data, &used) != 3)
		fail(ZRAM " has another format than expected");
	return used;
}

static void take(struct sample *sample, int vmstat, int zram)
{
	static char text[32768];
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	sample->time_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	read_again(vmstat, text, sizeof(text));
	sample->resident = PAGE * (counted(text, "\nnr_anon_pages ") + counted(text, "\nnr_mapped "));
	if (zram >= 0) {
		read_again(zram, text, sizeof(text));
		sample->swapped = compressed(text);
	}
}

static void print(const struct sample *sample)
{
	printf("%llu %llu %llu\n", (unsigned long long)sample->time_ns,
	       (unsigned long long)sample->resident, (unsigned long long)sample->swapped);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static struct sample samples[SAMPLES_MAX];
	struct sigaction action = { .sa_handler = end };
	int count = 0, vmstat, zram;
	long interval_us;

	if (argc != 3)
		return fprintf(stderr, "usage: kloc-memory INTERVAL-US FIRST-CPU\n"), 2;
	interval_us = atol(argv[1]);
	sigaction(SIGTERM, &action, NULL);
	step_aside(atoi(argv[2]));
	vmstat = open(VMSTAT, O_RDONLY);
	zram = open(ZRAM, O_RDONLY);
	/* The first sample is printed at once: SIGTERM may come from now on. */
	take(&samples[count], vmstat, zram);
	print(&samples[count++]);
	for (;;) {
		sleep_us(interval_us);
		if (ended || count == SAMPLES_MAX)
			break;
		take(&samples[count++], vmstat, zram);
	}
	for (int i = 1; i < count; i++)
		print(&samples[i]);
	return 0;
}

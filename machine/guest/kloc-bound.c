// SPDX-License-Identifier: GPL-2.0
/*
 * kloc-bound INTERVAL-US FIRST-CPU
 *
 * Samples the budgets of the policy thermostat until SIGTERM, and prints what a fault
 * costs that counts a visit, "fault_ns NS", and then a line for each sample:
 *
 *	NS BUDGET-NS COST-NS COLD CAME-BACK COUNTED
 *
 * These are sums over all nodes and cgroups; /sys/kernel/debug/tiering/thermostat
 * describes them. A line "region" is before the sample that SIGUSR1 asks for, when the
 * measured region begins. There is a last sample after SIGTERM. The first two lines are
 * printed at once, all others at the end.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "aside.h"

#define BUDGETS "/sys/kernel/debug/tiering/thermostat"
#define FAULT_NS "/sys/kernel/mm/tiering/thermostat/fault_ns"
#define SAMPLES_MAX 100000

struct sample {
	uint64_t time_ns, budget_ns, cost_ns, cold, came_back, counted;
	int begins_region;
};

static FILE *opened(const char *path)
{
	FILE *file = fopen(path, "r");

	if (!file)
		fail("cannot read %s", path);
	return file;
}

/* Returns the value that follows `name` in a line. */
static uint64_t value(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	if (!at)
		fail("%s has no%sin: %s", BUDGETS, name, line);
	return strtoull(at + strlen(name), NULL, 10);
}

static void take(struct sample *sample)
{
	static char *line;
	static size_t size;
	struct timespec now;
	int groups = 0;
	FILE *file;

	clock_gettime(CLOCK_MONOTONIC, &now);
	sample->time_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	file = opened(BUDGETS);
	while (getline(&line, &size, file) > 0) {
		if (strncmp(line, "group ", strlen("group ")) != 0)
			continue;
		groups++;
		sample->budget_ns += value(line, " budget_ns ");
		sample->cost_ns += value(line, " cost_ns ");
		sample->cold += value(line, " cold ");
		sample->came_back += value(line, " came_back ");
		sample->counted += value(line, " counted ");
	}
	fclose(file);
	if (!groups)
		fail("%s is empty: the policy thermostat is not selected", BUDGETS);
}

static void print(const struct sample *sample)
{
	if (sample->begins_region)
		printf("region\n");
	printf("%llu %llu %llu %llu %llu %llu\n", (unsigned long long)sample->time_ns,
	       (unsigned long long)sample->budget_ns, (unsigned long long)sample->cost_ns,
	       (unsigned long long)sample->cold, (unsigned long long)sample->came_back,
	       (unsigned long long)sample->counted);
	fflush(stdout);
}

static void print_setting(void)
{
	FILE *file = opened(FAULT_NS);
	unsigned long long ns;

	if (fscanf(file, "%llu", &ns) != 1)
		fail("%s has another format than expected", FAULT_NS);
	fclose(file);
	printf("fault_ns %llu\n", ns);
}

int main(int argc, char **argv)
{
	static struct sample samples[SAMPLES_MAX];
	struct timespec interval;
	int count = 0, number = 0;
	sigset_t signals;
	long us;

	if (argc != 3)
		return fprintf(stderr, "usage: kloc-bound INTERVAL-US FIRST-CPU\n"), 2;
	us = atol(argv[1]);
	interval = (struct timespec){ .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	step_aside(atoi(argv[2]));
	print_setting();
	take(&samples[count]);
	/* A signal may come from now on. */
	print(&samples[count++]);
	while (number != SIGTERM && count < SAMPLES_MAX) {
		number = sigtimedwait(&signals, NULL, &interval);
		samples[count].begins_region = number == SIGUSR1;
		take(&samples[count++]);
	}
	for (int i = 1; i < count; i++)
		print(&samples[i]);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * kloc-damon physical NODE...
 * kloc-damon processes CGROUP INTERVAL-US FIRST-CPU
 *
 * Gives DAMON its targets and starts it; the policy's other settings are in DAMON's
 * files already. `physical`: each kdamond monitors the RAM of a node, in the order of the
 * arguments, or of all nodes (`all`). `processes`: the targets are the processes of a
 * cgroup that have at least a MiB of memory of their own. This program looks for new
 * processes every INTERVAL-US, until it is ended.
 *
 * When targets change, DAMON keeps the regions of targets whose number stays. So a
 * process keeps its number. A new process gets the number of an ended one, with a region
 * that no process has: otherwise it would inherit the regions of the ended process, with
 * their ages. DAMON refuses pids that do not exist, so numbers without a process stand for
 * this program; it is also the first target, because DAMON ends when all targets have ended.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "aside.h"

#define KDAMONDS "/sys/kernel/mm/damon/admin/kdamonds"
#define KDAMOND KDAMONDS "/0"
#define TARGETS KDAMOND "/contexts/0/targets"
#define RANGES_MAX 64
#define PAGE_BYTES 4096ULL
#define SLOTS_MAX 256
#define OWN_PAGES_MIN 256

static int write_to(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	int status;

	if (!file)
		return errno;
	/* The error of the kernel comes when the text is flushed. */
	status = fputs(text, file) < 0 || fflush(file) != 0 ? errno : 0;
	fclose(file);
	return status;
}

static void must_write(const char *path, const char *text)
{
	int status = write_to(path, text);

	if (status)
		fail("%s does not take %s: %s", path, text, strerror(status));
}

static void must_write_number(const char *path, unsigned long long number)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", number);
	must_write(path, text);
}

struct ranges {
	unsigned long long start[RANGES_MAX], end[RANGES_MAX];
	int count;
};

static void add_range(struct ranges *ranges, unsigned long long start, unsigned long long end)
{
	if (start >= end || ranges->count == RANGES_MAX)
		return;
	ranges->start[ranges->count] = start;
	ranges->end[ranges->count++] = end;
}

static void find_ram(struct ranges *ram)
{
	FILE *memory = fopen("/proc/iomem", "r");
	unsigned long long start, end;
	char line[256];

	ram->count = 0;
	while (memory && fgets(line, sizeof(line), memory))
		if (line[0] != ' ' && strstr(line, " : System RAM") &&
		    sscanf(line, "%llx-%llx", &start, &end) == 2)
			add_range(ram, start, end + 1);
	if (!ram->count)
		fail("/proc/iomem does not tell where the RAM is");
	fclose(memory);
}

/* Finds the zones of a node. Only zones give its memory exactly, by page. */
static void find_zones(struct ranges *zones, int node)
{
	unsigned long long start, spanned = 0;
	FILE *info = fopen("/proc/zoneinfo", "r");
	int current = -1;
	char line[256];

	zones->count = 0;
	while (info && fgets(line, sizeof(line), info)) {
		sscanf(line, "Node %d,", &current);
		sscanf(line, " spanned %llu", &spanned);
		if (sscanf(line, " start_pfn: %llu", &start) == 1 && current == node)
			add_range(zones, start * PAGE_BYTES, (start + spanned) * PAGE_BYTES);
	}
	if (!zones->count)
		fail("/proc/zoneinfo has no memory of node %d", node);
	fclose(info);
}

/* Finds the RAM of a node, or all RAM, by address. */
static void find_target(struct ranges *target, const char *node)
{
	struct ranges ram, zones;

	find_ram(&ram);
	*target = ram;
	if (!strcmp(node, "all"))
		return;
	find_zones(&zones, atoi(node));
	target->count = 0;
	for (int i = 0; i < ram.count; i++)
		for (int j = 0; j < zones.count; j++)
			add_range(target,
				  ram.start[i] > zones.start[j] ? ram.start[i] : zones.start[j],
				  ram.end[i] < zones.end[j] ? ram.end[i] : zones.end[j]);
}

static void set_physical(int kdamond, const char *node)
{
	struct ranges target;
	char folder[128], path[192];

	find_target(&target, node);
	snprintf(folder, sizeof(folder), KDAMONDS "/%d/contexts/0/targets", kdamond);
	snprintf(path, sizeof(path), "%s/nr_targets", folder);
	must_write(path, "1");
	snprintf(path, sizeof(path), "%s/0/regions/nr_regions", folder);
	must_write_number(path, (unsigned long long)target.count);
	for (int i = 0; i < target.count; i++) {
		snprintf(path, sizeof(path), "%s/0/regions/%d/start", folder, i);
		must_write_number(path, target.start[i]);
		snprintf(path, sizeof(path), "%s/0/regions/%d/end", folder, i);
		must_write_number(path, target.end[i]);
	}
	snprintf(path, sizeof(path), KDAMONDS "/%d/state", kdamond);
	must_write(path, "on");
}

static bool has_memory(int pid)
{
	unsigned long size, resident, shared;
	char path[64];
	FILE *file;
	bool found;

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	found = fscanf(file, "%lu %lu %lu", &size, &resident, &shared) == 3 &&
		resident >= shared + OWN_PAGES_MIN;
	fclose(file);
	return found;
}

/* The processes that are targets, by number. */
struct slots {
	int pids[SLOTS_MAX];
	bool replaced[SLOTS_MAX];
	int count;
};

static int number_of(const struct slots *slots, int pid)
{
	for (int i = 0; i < slots->count; i++)
		if (slots->pids[i] == pid)
			return i;
	return -1;
}

/* Puts the processes of the cgroup into the slots; returns whether a slot has changed. */
static bool look(struct slots *slots, const char *cgroup)
{
	bool keep[SLOTS_MAX] = { true }, changed = false;
	int fresh[SLOTS_MAX], pid, count = 0;
	FILE *file = fopen(cgroup, "r");

	while (file && fscanf(file, "%d", &pid) == 1) {
		int number = number_of(slots, pid);

		if (number >= 0)
			keep[number] = true;
		else if (count < SLOTS_MAX && has_memory(pid))
			fresh[count++] = pid;
	}
	if (file)
		fclose(file);
	for (int i = 1; i < slots->count; i++) {
		if (keep[i] || (slots->pids[i] == getpid() && !count))
			continue;
		slots->pids[i] = count ? fresh[--count] : getpid();
		slots->replaced[i] = true;
		changed = true;
	}
	while (count && slots->count < SLOTS_MAX) {
		slots->pids[slots->count++] = fresh[--count];
		changed = true;
	}
	return changed;
}

/*
 * Has a target keep its regions at the next commit, or forget them; returns the first
 * error.
 */
static int set_regions(int number, bool forget)
{
	static const char *const files[][2] = {
		{ "nr_regions", "1" }, { "0/start", "0" }, { "0/end", "4096" }
	};
	char path[128];
	int status = 0;

	snprintf(path, sizeof(path), TARGETS "/%d/regions/nr_regions", number);
	if (!forget)
		return write_to(path, "0");
	for (size_t i = 0; i < sizeof(files) / sizeof(*files) && !status; i++) {
		snprintf(path, sizeof(path), TARGETS "/%d/regions/%s", number, files[i][0]);
		status = write_to(path, files[i][1]);
	}
	return status;
}

/* Writes the slots to DAMON's files; returns the first error. */
static int set_processes(const struct slots *slots)
{
	char path[128], text[32];
	int status;

	snprintf(text, sizeof(text), "%d", slots->count);
	status = write_to(TARGETS "/nr_targets", text);
	for (int i = 0; i < slots->count && !status; i++) {
		snprintf(path, sizeof(path), TARGETS "/%d/pid_target", i);
		snprintf(text, sizeof(text), "%d", slots->pids[i]);
		status = write_to(path, text);
		if (!status)
			status = set_regions(i, slots->replaced[i]);
	}
	return status;
}

static void __attribute__((noreturn)) follow(const char *cgroup, long interval_us)
{
	struct slots slots = { .pids = { getpid() }, .count = 1 };
	bool changed = false;
	int status = set_processes(&slots);

	if (status)
		fail("%s takes no target: %s", TARGETS, strerror(status));
	must_write(KDAMOND "/state", "on");
	for (;;) {
		sleep_us(interval_us);
		/*
		 * A process may end at any time, so that its pid is refused, and another
		 * reader may have the files locked. Then the next round tries again.
		 */
		changed |= look(&slots, cgroup);
		if (changed && !set_processes(&slots) && !write_to(KDAMOND "/state", "commit")) {
			changed = false;
			memset(slots.replaced, 0, sizeof(slots.replaced));
		}
	}
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "physical")) {
		for (int i = 2; i < argc; i++)
			set_physical(i - 2, argv[i]);
		return 0;
	}
	if (argc != 5 || strcmp(argv[1], "processes"))
		return fprintf(stderr, "usage: kloc-damon physical NODE...\n"
			       "       kloc-damon processes CGROUP INTERVAL-US FIRST-CPU\n"), 2;
	step_aside(atoi(argv[4]));
	follow(argv[2], atol(argv[3]));
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The guest of test_qemu.py: the first process of a machine of several vCPUs. It measures by the
 * guest's own clock, and prints one "name value..." a line to the second serial line.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CPUS_MAX	8
#define LOOPS		200000
#define SLEEPS		20
#define SLEEP_NS	1000000
#define ROUND_TRIPS	200
#define BLOCK		4096
#define READS		32
#define BIG		(1 << 20)

struct worker {
	pthread_t thread;
	int cpu;
	int64_t ns;
};

static pthread_barrier_t barrier;
static int there[2], back[2];
static int disk;

static void fail(const char *what)
{
	printf("failed %s: %s\n", what, strerror(errno));
	reboot(RB_AUTOBOOT);
}

static int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
}

static int64_t time_loop(void)
{
	int64_t begin = now_ns();

	for (volatile int i = 0; i < LOOPS; i++)
		;
	return now_ns() - begin;
}

static void *loop_thread(void *argument)
{
	struct worker *worker = argument;

	run_on(worker->cpu);
	pthread_barrier_wait(&barrier);
	worker->ns = time_loop();
	return NULL;
}

/* A loop on one vCPU takes as long as the same loop on each of several at once. */
static void measure_loops(int cpus)
{
	struct worker workers[CPUS_MAX];

	run_on(0);
	time_loop();
	printf("alone %lld\n", (long long)time_loop());
	pthread_barrier_init(&barrier, NULL, cpus);
	for (int cpu = 0; cpu < cpus; cpu++) {
		workers[cpu].cpu = cpu;
		if (pthread_create(&workers[cpu].thread, NULL, loop_thread, &workers[cpu]))
			fail("pthread_create");
	}
	for (int cpu = 0; cpu < cpus; cpu++) {
		pthread_join(workers[cpu].thread, NULL);
		printf("together %lld\n", (long long)workers[cpu].ns);
	}
}

static void measure_sleeps(void)
{
	struct timespec duration = { .tv_nsec = SLEEP_NS };
	int64_t worst = 0, least = INT64_MAX;

	for (int i = 0; i < SLEEPS; i++) {
		int64_t begin = now_ns(), late;

		nanosleep(&duration, NULL);
		late = now_ns() - begin - SLEEP_NS;
		worst = late > worst ? late : worst;
		least = late < least ? late : least;
	}
	printf("late %lld %lld\n", (long long)least, (long long)worst);
}

static void *echo_thread(void *argument)
{
	char byte;

	run_on(*(int *)argument);
	for (int i = 0; i < ROUND_TRIPS; i++)
		if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
			fail("echo");
	return NULL;
}

/* Wake a thread on the last vCPU, and be woken by it. */
static void measure_round_trips(int cpus)
{
	int cpu = cpus - 1;
	pthread_t thread;
	int64_t begin;
	char byte = 0;

	if (pipe(there) || pipe(back))
		fail("pipe");
	run_on(0);
	if (pthread_create(&thread, NULL, echo_thread, &cpu))
		fail("pthread_create");
	begin = now_ns();
	for (int i = 0; i < ROUND_TRIPS; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			fail("round trip");
	printf("round_trip %lld\n", (long long)(now_ns() - begin) / ROUND_TRIPS);
	pthread_join(thread, NULL);
}

static int64_t time_read(char *buffer, size_t bytes, off_t offset)
{
	int64_t begin = now_ns();

	if (pread(disk, buffer, bytes, offset) != (ssize_t)bytes)
		fail("pread");
	return now_ns() - begin;
}

static int64_t time_write(const char *buffer, size_t bytes, off_t offset)
{
	int64_t begin = now_ns();

	if (pwrite(disk, buffer, bytes, offset) != (ssize_t)bytes)
		fail("pwrite");
	return now_ns() - begin;
}

static void *read_thread(void *argument)
{
	struct worker *worker = argument;
	char *buffer = aligned_alloc(BLOCK, BLOCK);

	run_on(worker->cpu);
	pthread_barrier_wait(&barrier);
	worker->ns = time_read(buffer, BLOCK, (off_t)BIG * (8 + worker->cpu));
	return NULL;
}

/* Block N of the image begins with the number N, 64 bits. */
static void check_block(const char *buffer, uint64_t number)
{
	uint64_t found;

	memcpy(&found, buffer, sizeof(found));
	if (found != number) {
		printf("failed: block %llu holds %llu\n", (unsigned long long)number,
		       (unsigned long long)found);
		reboot(RB_AUTOBOOT);
	}
}

static void measure_disk(int cpus)
{
	char *buffer = aligned_alloc(BLOCK, BIG);
	struct worker workers[CPUS_MAX];
	int64_t sum = 0, begin;

	disk = open("/dev/vda", O_RDWR | O_DIRECT);
	if (disk < 0)
		fail("open /dev/vda");
	run_on(0);
	time_read(buffer, BLOCK, 0);
	for (uint64_t i = 1; i <= READS; i++) {
		sum += time_read(buffer, BLOCK, i * 7 * BLOCK);
		check_block(buffer, i * 7);
	}
	printf("read %lld\n", (long long)sum / READS);
	sum = 0;
	for (int i = 0; i < READS; i++)
		sum += time_write(buffer, BLOCK, i * BLOCK);
	printf("write %lld\n", (long long)sum / READS);
	printf("big_read %lld\n", (long long)time_read(buffer, BIG, 4 * BIG));
	for (int i = 0; i < BIG / BLOCK; i++)
		check_block(buffer + i * BLOCK, 4 * BIG / BLOCK + i);
	printf("big_write %lld\n", (long long)time_write(buffer, BIG, 4 * BIG));

	begin = now_ns();
	if (fsync(disk))
		fail("fsync");
	printf("flush %lld\n", (long long)(now_ns() - begin));

	memset(buffer, 0x5a, BIG);
	time_write(buffer, BIG, 6 * BIG);
	memset(buffer, 0, BIG);
	time_read(buffer, BIG, 6 * BIG);
	for (int i = 0; i < BIG; i++)
		if (buffer[i] != 0x5a)
			fail("reading back");

	/* Latencies overlap, transfers do not. */
	pthread_barrier_init(&barrier, NULL, cpus);
	for (int cpu = 0; cpu < cpus; cpu++) {
		workers[cpu].cpu = cpu;
		if (pthread_create(&workers[cpu].thread, NULL, read_thread, &workers[cpu]))
			fail("pthread_create");
	}
	for (int cpu = 0; cpu < cpus; cpu++) {
		pthread_join(workers[cpu].thread, NULL);
		printf("read_at_once %lld\n", (long long)workers[cpu].ns);
	}
}

static void print_file(const char *path, const char *name)
{
	char line[256];
	FILE *file = fopen(path, "r");

	if (file && fgets(line, sizeof(line), file))
		printf("%s %s", name, line);
}

int main(void)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), module, serial;

	mount("dev", "/dev", "devtmpfs", 0, NULL);
	mount("sys", "/sys", "sysfs", 0, NULL);
	serial = open("/dev/ttyS1", O_WRONLY);
	if (serial < 0 || dup2(serial, STDOUT_FILENO) < 0)
		return 1;
	setvbuf(stdout, NULL, _IOLBF, 0);

	/* Kernels of distributions have the disk's driver as a module. */
	module = open("/virtio_blk.ko", O_RDONLY);
	if (module >= 0 && syscall(SYS_finit_module, module, "", 0))
		fail("finit_module");

	printf("cpus %d\n", cpus);
	print_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", "clock");
	measure_loops(cpus);
	measure_sleeps();
	measure_round_trips(cpus);
	measure_disk(cpus);
	printf("end %lld\n", (long long)now_ns());
	reboot(RB_AUTOBOOT);
}

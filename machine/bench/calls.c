// SPDX-License-Identifier: GPL-2.0
/*
 * The program of `kloc bench cost`: makes system calls and counts the instructions
 * of each.
 *
 * The program is the first and only process (/init) of a machine under QEMU's -icount
 * shift=0. There the TSC counts instructions, so the kernel under test needs no patch.
 * The QEMU plugin count.c counts the cache lines that a call touches; marks in this
 * program show the plugin where a call begins and ends (marks.h).
 *
 * Calls are made in groups, each in a loop of its own. On the second serial port
 * the program prints:
 *
 *	group NAME			one for each group
 *	rounds ROUNDS INSTRUCTIONS	of the complete loop, interrupts included
 *	call NUMBER NAME: INSTRUCTIONS:TIMES INSTRUCTIONS:TIMES ...
 *					a histogram for each call of the group
 *	contexts CONTEXTS BYTES PAGES COUNTS MEMORY
 *					only if there are contexts: number of contexts
 *					of the HELD_FILES, bytes of these contexts, pages
 *					that they hold, bytes of the records of all
 *					pages, bytes of memory
 *	done				or "failed" and the reason
 *
 * Files are on ext4 in a loop device.
 *
 * Limits: the cost of a call also depends on the addresses of the kernel's objects and on
 * the times of its timer ticks. Both are deterministic, but differ between kernels
 * without meaning. So a kernel is measured in several memory layouts: /layout has
 * a number, and each number gives another layout.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "marks.h"

/* From linux/prctl.h of kloc's kernel. */
#define PR_KLOC		0x4b4c4f43
#define PR_KLOC_SET	1

#define ROUNDS_MAX	10000
/* Warm-up: 1/4 of the rounds, before the rounds that count. */
#define WARM_SHARE	4
#define BLOCK		4096
#define MAPPED		(16 * BLOCK)
/* Files of a usual size that get contexts at the end, to measure the memory of contexts. */
#define HELD_NAME	"held"
#define HELD_FILES	200
#define HELD_SIZE	(4 * BLOCK)
/* Each layout uses this many bytes more than the one before; not a power of two. */
#define LAYOUT		(37 * BLOCK)
/* After this many seconds of guest time, the program is taken to hang. */
#define HUNG_SECONDS	120

/* The call "known" touches this many lines, by 4 instructions each and 2 more. */
#define KNOWN_LINES	100

enum call {
	NOTHING,
	KNOWN,
	OPEN,
	READ,
	WRITE,
	CLOSE,
	STAT,
	CREATE,
	APPEND,
	UNLINK,
	FORK,
	FAULT_ANON,
	FAULT_FILE,
	SEND,
	RECEIVE,
	CALLS,
};

static FILE *out;
static uint64_t started, taken;
/* A shared mapping, so that fork() need not copy it. */
static uint32_t (*samples)[ROUNDS_MAX];
static char buffer[BLOCK];
static char *anon, *file;
static int ends[2];
static char known[KNOWN_LINES * CACHE_LINE] __attribute__((aligned(CACHE_LINE)));

#define STRING(value)	#value
#define EXPANDED(value)	STRING(value)
#define NOP_MARK	".byte 0x0f, 0x1f, 0x80, %c[mark], " EXPANDED(MARK_1) ", " \
			EXPANDED(MARK_2) ", " EXPANDED(MARK_3) "\n\t"
#define READ_TSC	"rdtsc\n\t" "shl $32, %%rdx\n\t" "or %%rdx, %%rax\n\t"

#define TELL(number)								\
	asm volatile(NOP_MARK : : [mark] "i"(number))

/*
 * Measure work as one call. The compiler cannot move other code between the two readings
 * of the TSC. Rounds below 0 are warm-up, and not kept.
 */
#define MEASURE(call, work)							\
do {										\
	asm volatile(READ_TSC "mov %%rax, %[started]\n\t" NOP_MARK		\
		     : [started] "=m"(started) : [mark] "i"(MARK_BEGIN + (call))	\
		     : "rax", "rdx", "cc", "memory");				\
	work;									\
	asm volatile(NOP_MARK READ_TSC						\
		     "sub %[started], %%rax\n\t" "mov %%rax, %[taken]\n\t"	\
		     : [taken] "=m"(taken) : [started] "m"(started), [mark] "i"(MARK_END) \
		     : "rax", "rdx", "cc", "memory");				\
	if (round >= 0)								\
		samples[call][round] = taken;					\
} while (0)

static void __attribute__((noreturn)) leave(void)
{
	fflush(out);
	fclose(out);
	reboot(RB_AUTOBOOT);
	_exit(1);
}

/* Return result. If it is negative, print "failed", what failed and errno, and end. */
static long must(long result, const char *what)
{
	if (result >= 0)
		return result;
	fprintf(out, "failed %s: %s\n", what, strerror(errno));
	leave();
}

/* Like must(), and also end if result is not the expected one. */
static void exactly(long result, long expected, const char *what)
{
	if (must(result, what) == expected)
		return;
	fprintf(out, "failed %s: %ld and not %ld\n", what, result, expected);
	leave();
}

/* Start a chosen process: its files have contexts, and files of this process have none. */
static void choose_another(void)
{
	int told[2];
	char byte;

	must(pipe(told), "pipe");
	if (must(fork(), "fork") == 0) {
		exactly(prctl(PR_KLOC, PR_KLOC_SET, 0, 1, 0), 0, "PR_KLOC");
		exactly(write(told[1], "", 1), 1, "pipe");
		pause();
	}
	close(told[1]);
	exactly(read(told[0], &byte, 1), 1, "the process that was to be chosen");
	close(told[0]);
}

/*
 * Apply /settings, lines of "PATH VALUE": write VALUE to the kernel's file PATH. The
 * PATH "process" stands for no file: it starts another process whose files have contexts.
 */
static void apply_settings(void)
{
	FILE *list = fopen("/settings", "r");
	char path[256], value[256];

	must(list ? 0 : -1, "/settings");
	while (fscanf(list, "%255s %255[^\n]", path, value) == 2) {
		int fd;

		if (!strcmp(path, "process")) {
			choose_another();
			continue;
		}
		fd = must(open(path, O_WRONLY), path);
		exactly(write(fd, value, strlen(value)), strlen(value), path);
		close(fd);
	}
	fclose(list);
}

static void *map(size_t size, int flags, int fd)
{
	void *memory = mmap(NULL, size, fd < 0 ? PROT_READ | PROT_WRITE : PROT_READ, flags, fd, 0);

	must(memory == MAP_FAILED ? -1 : 0, "mmap");
	return memory;
}

/* Use and free some memory, so that later objects get other addresses, at other times. */
static void choose_layout(void)
{
	FILE *from = fopen("/layout", "r");
	size_t number, size;
	void *memory;

	must(from && fscanf(from, "%zu", &number) == 1 ? 0 : -1, "/layout");
	fclose(from);
	size = (number + 1) * LAYOUT;
	memory = map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	memset(memory, 1, size);
	must(munmap(memory, size), "munmap");
}

/* End without printing "done": so `kloc bench cost` reports that a call hung. */
static void hung(int signal)
{
	(void)signal;
	reboot(RB_AUTOBOOT);
}

static void mount_disk(void)
{
	int control = must(open("/dev/loop-control", O_RDWR), "loop-control");
	int number = must(ioctl(control, LOOP_CTL_GET_FREE), "LOOP_CTL_GET_FREE");
	struct loop_config config = { .fd = must(open("/disk", O_RDWR), "/disk") };
	char name[32];
	int loop;

	snprintf(name, sizeof(name), "/dev/loop%d", number);
	loop = must(open(name, O_RDWR), name);
	must(ioctl(loop, LOOP_CONFIGURE, &config), "LOOP_CONFIGURE");
	must(mount(name, "/data", "ext4", MS_NOATIME, NULL), "mount /data");
}

static void bring_up_loopback(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = must(socket(AF_INET, SOCK_DGRAM, 0), "socket");

	must(ioctl(fd, SIOCSIFFLAGS, &request), "SIOCSIFFLAGS");
	close(fd);
}

/* Connect ends[0] and ends[1] by TCP. */
static void connect_ends(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(1),
	};
	int listener = must(socket(AF_INET, SOCK_STREAM, 0), "socket");
	const struct sockaddr *at = (const struct sockaddr *)&address;
	int on = 1;

	must(bind(listener, at, sizeof(address)), "bind");
	must(listen(listener, 1), "listen");
	ends[0] = must(socket(AF_INET, SOCK_STREAM, 0), "socket");
	must(setsockopt(ends[0], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), "TCP_NODELAY");
	must(connect(ends[0], at, sizeof(address)), "connect");
	ends[1] = must(accept(listener, NULL, NULL), "accept");
}

static void make_file(const char *name, size_t size)
{
	int fd = must(open(name, O_CREAT | O_WRONLY, 0600), name);

	for (size_t done = 0; done < size; done += BLOCK)
		exactly(write(fd, buffer, BLOCK), BLOCK, name);
	must(close(fd), name);
}

static void call_known(int round)
{
	MEASURE(NOTHING, (void)0);
	MEASURE(KNOWN, asm volatile("mov %[lines], %%ecx\n\t"
				    "lea %[known], %%rdx\n"
				    "1:\tmov (%%rdx), %%eax\n\t"
				    "add %[line], %%rdx\n\t"
				    "dec %%ecx\n\t"
				    "jnz 1b"
				    : : [lines] "i"(KNOWN_LINES), [line] "i"(CACHE_LINE),
				      [known] "m"(known) : "rax", "rcx", "rdx", "cc"));
}

static void call_file(int round)
{
	struct stat status;
	long fd, result;

	MEASURE(OPEN, fd = open("/data/file", O_RDWR));
	must(fd, "open");
	MEASURE(READ, result = pread(fd, buffer, BLOCK, 0));
	exactly(result, BLOCK, "read");
	MEASURE(WRITE, result = pwrite(fd, buffer, BLOCK, 0));
	exactly(result, BLOCK, "write");
	MEASURE(CLOSE, result = close(fd));
	must(result, "close");
	MEASURE(STAT, result = stat("/data/file", &status));
	must(result, "stat");
}

static void call_new_file(int round)
{
	long fd, result;

	MEASURE(CREATE, fd = open("/data/new", O_CREAT | O_EXCL | O_WRONLY, 0600));
	must(fd, "create");
	MEASURE(APPEND, result = write(fd, buffer, BLOCK));
	exactly(result, BLOCK, "append");
	must(close(fd), "close");
	MEASURE(UNLINK, result = unlink("/data/new"));
	must(result, "unlink");
}

static long __attribute__((noinline)) fork_and_wait(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	return waitpid(child, NULL, 0);
}

static void call_fork(int round)
{
	long result;

	MEASURE(FORK, result = fork_and_wait());
	must(result, "fork");
}

static void call_fault(int round)
{
	MEASURE(FAULT_ANON, *(volatile char *)anon = 1);
	must(madvise(anon, BLOCK, MADV_DONTNEED), "madvise");
	MEASURE(FAULT_FILE, *(volatile char *)file);
	must(madvise(file, MAPPED, MADV_DONTNEED), "madvise");
}

static void call_tcp(int round)
{
	long result;

	MEASURE(SEND, result = send(ends[0], buffer, BLOCK, 0));
	exactly(result, BLOCK, "send");
	MEASURE(RECEIVE, result = recv(ends[1], buffer, BLOCK, 0));
	exactly(result, BLOCK, "receive");
}

struct group {
	const char *name;
	void (*make_calls)(int round);
	int rounds;
	enum call first, end;
	const char *const *names;
};

static const struct group groups[] = {
	{ "check", call_known, 100, NOTHING, OPEN,
	  (const char *const[]){ "nothing", "known" } },
	{ "files", call_file, 10000, OPEN, CREATE,
	  (const char *const[]){ "open", "read", "write", "close", "stat" } },
	{ "new files", call_new_file, 2000, CREATE, FORK,
	  (const char *const[]){ "create", "append", "unlink" } },
	{ "processes", call_fork, 1000, FORK, FAULT_ANON,
	  (const char *const[]){ "fork, exit, wait" } },
	{ "page faults", call_fault, 10000, FAULT_ANON, SEND,
	  (const char *const[]){ "anonymous", "mapped file" } },
	{ "TCP", call_tcp, 5000, SEND, CALLS,
	  (const char *const[]){ "send", "receive" } },
};

static int compare(const void *one, const void *other)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;

	return (a > b) - (a < b);
}

static void print_samples(uint32_t *sample, int count)
{
	int from = 0;

	qsort(sample, count, sizeof(*sample), compare);
	for (int i = 1; i <= count; i++) {
		if (i < count && sample[i] == sample[from])
			continue;
		fprintf(out, " %u:%d", sample[from], i - from);
		from = i;
	}
}

static uint64_t read_tsc(void)
{
	uint64_t tsc;

	asm volatile(READ_TSC "mov %%rax, %[tsc]\n\t"
		     : [tsc] "=m"(tsc) : : "rax", "rdx", "cc", "memory");
	return tsc;
}

static void run(const struct group *group)
{
	uint64_t start, end;

	for (int round = -group->rounds / WARM_SHARE; round < 0; round++)
		group->make_calls(round);
	TELL(MARK_COUNT);
	start = read_tsc();
	for (int round = 0; round < group->rounds; round++)
		group->make_calls(round);
	end = read_tsc();
	TELL(MARK_REST);
	fprintf(out, "group %s\n", group->name);
	fprintf(out, "rounds %d %lu\n", group->rounds, end - start);
	for (enum call call = group->first; call < group->end; call++) {
		fprintf(out, "call %d %s:", call, group->names[call - group->first]);
		print_samples(samples[call], group->rounds);
		fputc('\n', out);
	}
}

/* Return the number after name in a file of lines "NAME NUMBER"; 0 if there is none. */
static uint64_t number_in(const char *path, const char *name)
{
	FILE *from = fopen(path, "r");
	char found[64];
	uint64_t value, number = 0;

	while (from && fscanf(from, "%63s %lu%*[^\n]", found, &value) == 2)
		if (!strcmp(found, name))
			number = value;
	if (from)
		fclose(from);
	return number;
}

/* Return the number in a file; 0 if there is no such file. */
static uint64_t number_of(const char *path)
{
	FILE *from = fopen(path, "r");
	uint64_t number = 0;

	if (from && fscanf(from, "%lu", &number) != 1)
		number = 0;
	if (from)
		fclose(from);
	return number;
}

/* Count the contexts of the HELD_NAME files, and return the pages that they hold. */
static uint64_t pages_held(int *contexts)
{
	FILE *from = fopen("/sys/kernel/debug/kloc/contexts", "r");
	uint64_t fast, slow, pages = 0;
	char path[32];

	must(from ? 0 : -1, "debugfs");
	must(fscanf(from, "%*[^\n]"), "the contexts' columns");
	while (fscanf(from, "%*d %*s %*d %*d %*d %*d %lu %lu %*s %*d %31s%*[^\n]",
		      &fast, &slow, path) == 3) {
		if (!strstr(path, HELD_NAME))
			continue;
		++*contexts;
		pages += fast + slow;
	}
	fclose(from);
	return pages;
}

/* Create files with contexts, and print the memory that the contexts take. */
static void print_memory(void)
{
	const char *count = "/sys/kernel/mm/kloc/knodes";
	uint64_t pages, knodes = number_of(count);
	int contexts = 0;
	char name[32];

	if (!knodes)
		return;
	for (int i = 0; i < HELD_FILES; i++) {
		snprintf(name, sizeof(name), "/data/" HELD_NAME "%d", i);
		make_file(name, HELD_SIZE);
	}
	must(mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL), "mount debugfs");
	pages = pages_held(&contexts);
	/* No file of this process has a context: another process was chosen. */
	if (!contexts)
		return;
	knodes = number_of(count);
	fprintf(out, "contexts %d %lu %lu %lu %lu\n", contexts,
		contexts * number_of("/sys/kernel/mm/kloc/knode_bytes") / knodes, pages,
		number_of("/sys/kernel/mm/tiering/page_bytes"),
		number_in("/proc/meminfo", "MemTotal:") << 10);
}

static void set_up(void)
{
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	out = fopen("/dev/ttyS1", "w");
	if (!out)
		_exit(1);
	must(mount("proc", "/proc", "proc", 0, NULL), "mount /proc");
	must(mount("sysfs", "/sys", "sysfs", 0, NULL), "mount /sys");
	apply_settings();
	choose_layout();
	mount_disk();
	bring_up_loopback();
	connect_ends();
	make_file("/data/file", BLOCK);
	make_file("/data/mapped", MAPPED);
	anon = map(BLOCK, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	file = map(MAPPED, MAP_SHARED, must(open("/data/mapped", O_RDONLY), "/data/mapped"));
	samples = map(CALLS * sizeof(*samples), MAP_SHARED | MAP_ANONYMOUS, -1);
	/* Touch all pages now, so that no sample causes a page fault. */
	memset(samples, 0, CALLS * sizeof(*samples));
	signal(SIGALRM, hung);
	alarm(HUNG_SECONDS);
}

int main(void)
{
	set_up();
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		run(&groups[i]);
	print_memory();
	fprintf(out, "done\n");
	leave();
}

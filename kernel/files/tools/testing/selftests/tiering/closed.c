// SPDX-License-Identifier: GPL-2.0
/*
 * closed OPTION SECONDS MIB - do something to memory whose entries of page tables are closed
 *
 * Maps MIB MiB, the second half as huge pages, and fills it. Until the time is over or SIGTERM
 * comes, does what OPTION says some ten times a second, and uses random pages all the time.
 *
 * At SIGUSR1, reads each page of the process that is in memory, and prints
 *
 *	closed=FAULTS present=PAGES
 *
 * with the number of the pages that were closed: nothing else makes the first use of such a page
 * a fault. At the end, prints
 *
 *	intact=1 done=TIMES seen=COUNT
 *
 * with intact=1 if the contents are as before, how often the option was done, and COUNT as below.
 * Exits with 4 if the kernel cannot do it.
 *
 * nothing: only the uses
 * busy: a thread maps and unmaps other memory all the time, so that the mapping is often locked
 * lost: now and then a part of each 2 MiB is locked in memory, has a memory policy, or is unmapped
 *	and mapped again; COUNT is the number of parts
 * exec: a child with memory of its own becomes another program; COUNT of good ends
 * pins: pages are spliced into a pipe, where they stay pinned for a while; COUNT of pages
 * direct: pages are written to a file and read from it without page cache; COUNT of pages
 * remote: another process reads and writes pages; COUNT of pages
 * ksm: equal pages of the first half are merged; COUNT of merged pages
 * swap: pages are swapped out; COUNT of pages in swap
 * uffd: a thread handles the faults of pages that are missing or write-protected; COUNT of faults
 * ptrace: another process steps this one through its instructions; COUNT of steps
 * perf: samples of the stack are taken; COUNT of bytes of samples
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT	21
#endif

#define PAGE		4096UL
#define PAGES_MIB	(1048576UL / PAGE)
#define HUGE		(2UL << 20)
#define PAGES_HUGE	(HUGE / PAGE)
#define SKIP		4

/* Pages at this distance are equal, for KSM. */
#define TWINS		64UL

/* Pages to which something happens at a time. */
#define SOME		16UL

/* Instructions that are stepped at a time. */
#define STEPS		100

/* Global, so that the compiler keeps the uses. */
unsigned char used;

static unsigned char *start, *elsewhere;	/* elsewhere: HUGE bytes for the thread of busy */
static unsigned long pages;
static unsigned long done, seen;
static uint64_t seed = 88172645463325252ULL;

static uint64_t word(unsigned long page, unsigned int i)
{
	return ((page % TWINS + 1) * 0x9e3779b97f4a7c15ULL) ^ i;
}

static void fill(void *at, unsigned long page)
{
	unsigned int i;

	for (i = 0; i < PAGE / 8; i++)
		((uint64_t *)at)[i] = word(page, i);
}

static bool is_filled(const void *at, unsigned long page)
{
	unsigned int i;

	for (i = 0; i < PAGE / 8; i++)
		if (((const uint64_t *)at)[i] != word(page, i))
			return false;
	return true;
}

static void *at_page(unsigned long page)
{
	return start + page * PAGE;
}

static bool is_intact(void)
{
	unsigned long page;

	for (page = 0; page < pages; page++)
		if (!is_filled(at_page(page), page))
			return false;
	return true;
}

static unsigned long random_page(unsigned long end)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % end;
}

/* Choose the first of SOME pages. */
static unsigned long random_some(void)
{
	return random_page(pages / SOME) * SOME;
}

/* Test whether a signal, which is blocked, has come. */
static bool has_come(int number)
{
	sigset_t pending;

	if (sigpending(&pending))
		err(1, "sigpending");
	return sigismember(&pending, number);
}

static void block(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, set, NULL))
		err(1, "sigprocmask");
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

/* Get a number from a file of lines "NAME NUMBER"; 0 if there is none. */
static unsigned long number_of(const char *path, const char *name)
{
	FILE *file = fopen(path, "r");
	unsigned long number = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			number = strtoul(line + strlen(name), NULL, 10);
	if (file)
		fclose(file);
	return number;
}

/* Count the faults of this thread that read nothing from a disk. */
static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

/* Read the pages of a mapping that are in memory. Return: how many were closed. */
static unsigned long walk(int pagemap, unsigned long first, unsigned long end,
			  unsigned long *present)
{
	unsigned long closed = 0, addr;

	for (addr = first; addr < end; addr += PAGE) {
		uint64_t entry;
		long before;

		if (pread(pagemap, &entry, 8, addr / PAGE * 8) != 8 || !(entry >> 63))
			continue;
		before = faults();
		used += *(unsigned char *)addr;
		closed += faults() - before;
		(*present)++;
	}
	return closed;
}

/* Read all pages of the process that are in memory. */
static void walk_all(void)
{
	int pagemap = open("/proc/self/pagemap", O_RDONLY);
	unsigned long closed = 0, present = 0, first, end;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], flags[5];

	if (pagemap < 0 || !maps)
		err(1, "/proc/self");
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %4s", &first, &end, flags) == 3 &&
		    flags[0] == 'r' && !strstr(line, "[v") &&
		    (end <= (unsigned long)elsewhere ||
		     first >= (unsigned long)elsewhere + HUGE))
			closed += walk(pagemap, first, end, &present);
	fclose(maps);
	close(pagemap);
	printf("closed=%lu present=%lu\n", closed, present);
	fflush(stdout);
}

static void map(void)
{
	unsigned long bytes = pages * PAGE, page;
	unsigned char *memory = mmap(NULL, bytes + 2 * HUGE, PROT_NONE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		err(1, "mmap");
	start = (unsigned char *)(((uintptr_t)memory + HUGE - 1) & ~(HUGE - 1));
	elsewhere = start + bytes;
	if (mprotect(start, bytes, PROT_READ | PROT_WRITE) ||
	    madvise(start, bytes / 2, MADV_NOHUGEPAGE) ||
	    madvise(start + bytes / 2, bytes / 2, MADV_HUGEPAGE))
		err(1, "madvise");
	for (page = 0; page < pages; page++)
		fill(at_page(page), page);
}

static void do_nothing(void)
{
}

static void *map_all_the_time(void *nothing)
{
	for (;;)
		if (mmap(elsewhere, HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			 MAP_ANONYMOUS | MAP_POPULATE | MAP_FIXED, -1, 0) != elsewhere ||
		    mmap(elsewhere, HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			 -1, 0) != elsewhere)
			err(1, "mmap");
	return nothing;
}

static void begin_thread(void *(*function)(void *), void *argument)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, function, argument);
	if (errno)
		err(1, "pthread_create");
}

static void do_busy(void)
{
	if (!done)
		begin_thread(map_all_the_time, NULL);
	seen = done;
}

/* Change the mapping of a part of each 2 MiB, and leave it so for a while. */
static void do_lost(void)
{
	unsigned long page, i, bytes = PAGES_HUGE / 4 * PAGE;
	unsigned long nodes = 1;

	if (done % 10)
		return;
	for (page = PAGES_HUGE / 2; page < pages; page += PAGES_HUGE) {
		void *part = at_page(page);

		switch (done / 10 % 4) {
		case 0:
			if (mlock(part, bytes))
				err(1, "mlock");
			break;
		case 1:
			if (munlock(part, bytes))
				err(1, "munlock");
			break;
		case 2:
			if (syscall(SYS_mbind, part, bytes, MPOL_PREFERRED, &nodes, 64UL, 0))
				err(1, "mbind");
			break;
		default:
			if (munmap(part, bytes) ||
			    mmap(part, bytes, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != part)
				err(1, "munmap");
			for (i = page; i < page + PAGES_HUGE / 4; i++)
				fill(at_page(i), i);
		}
		seen++;
	}
}

static void do_exec(void)
{
	pid_t child;
	int status;

	if (done % 4)
		return;
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child) {
		pages = PAGES_HUGE;
		map();
		/* Some rounds of the policy. */
		usleep(100000);
		if (!freopen("/dev/null", "w", stdout))
			_exit(1);
		execl("/proc/self/exe", "closed", "nothing", "0", "4", NULL);
		_exit(1);
	}
	if (waitpid(child, &status, 0) == child && !status)
		seen++;
	else
		errx(1, "the other program has failed");
}

static int make_pipe(int *ends)
{
	if (pipe(ends))
		err(1, "pipe");
	return fcntl(ends[1], F_SETPIPE_SZ, (int)(SOME * PAGE));
}

static void do_pins(void)
{
	static unsigned long pinned;
	static int ends[2] = { -1, -1 };
	static unsigned char copy[SOME * PAGE];
	struct iovec part = { NULL, SOME * PAGE };
	unsigned long i;
	size_t got = 0;

	if (ends[0] >= 0) {
		while (got < sizeof(copy)) {
			ssize_t length = read(ends[0], copy + got, sizeof(copy) - got);

			if (length <= 0)
				err(1, "read");
			got += length;
		}
		for (i = 0; i < SOME; i++)
			if (!is_filled(copy + i * PAGE, pinned + i))
				errx(1, "a pinned page has other contents");
		seen += SOME;
	} else if (make_pipe(ends) < (int)(SOME * PAGE)) {
		errx(SKIP, "a pipe is too small");
	}
	pinned = random_some();
	part.iov_base = at_page(pinned);
	if (vmsplice(ends[1], &part, 1, 0) != (ssize_t)part.iov_len)
		err(1, "vmsplice");
}

static void do_direct(void)
{
	unsigned long page = random_some();
	static int file = -1;
	char path[256];

	if (file < 0) {
		const char *folder = getenv("TMPDIR");

		snprintf(path, sizeof(path), "%s/closed.%d", folder ?: "/tmp", getpid());
		file = open(path, O_RDWR | O_CREAT | O_DIRECT, 0600);
		if (file < 0)
			errx(SKIP, "%s: no direct I/O", path);
		unlink(path);
	}
	if (pwrite(file, at_page(page), SOME * PAGE, 0) != (ssize_t)(SOME * PAGE) ||
	    pread(file, at_page(page), SOME * PAGE, 0) != (ssize_t)(SOME * PAGE))
		err(1, "direct I/O");
	seen += SOME;
}

/* What another process is asked to do. */
struct request {
	bool steps;
	unsigned long page;
};

static int requests[2], replies[2];

/* Read and write pages of the process that asks. */
static unsigned long access_remote(pid_t pid, unsigned long page)
{
	static unsigned char copy[SOME * PAGE];
	struct iovec here = { copy, sizeof(copy) };
	struct iovec there = { at_page(page), sizeof(copy) };
	unsigned long i;

	if (process_vm_readv(pid, &here, 1, &there, 1, 0) != (ssize_t)sizeof(copy))
		err(1, "process_vm_readv");
	for (i = 0; i < SOME; i++)
		if (!is_filled(copy + i * PAGE, page + i))
			errx(1, "another process reads other contents");
	if (process_vm_writev(pid, &here, 1, &there, 1, 0) != (ssize_t)sizeof(copy))
		err(1, "process_vm_writev");
	return SOME;
}

static void wait_for_stop(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
		errx(1, "no step");
}

static unsigned long step(pid_t pid)
{
	unsigned int i;

	if (ptrace(PTRACE_ATTACH, pid, NULL, NULL))
		err(1, "ptrace");
	wait_for_stop(pid);
	for (i = 0; i < STEPS; i++) {
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL))
			err(1, "ptrace");
		wait_for_stop(pid);
	}
	if (ptrace(PTRACE_DETACH, pid, NULL, NULL))
		err(1, "ptrace");
	return STEPS;
}

static void be_the_other(pid_t pid)
{
	struct request request;

	while (read(requests[0], &request, sizeof(request)) == sizeof(request)) {
		unsigned long count = request.steps ? step(pid) :
						      access_remote(pid, request.page);

		if (write(replies[1], &count, sizeof(count)) != sizeof(count))
			break;
	}
	_exit(0);
}

/* Begin another process, which has not got the memory itself. */
static void begin_other(void)
{
	pid_t pid = getpid(), other;

	if (pipe(requests) || pipe(replies))
		err(1, "pipe");
	if (madvise(start, pages * PAGE, MADV_DONTFORK))
		err(1, "madvise");
	other = fork();
	if (other < 0)
		err(1, "fork");
	if (!other) {
		close(requests[1]);
		close(replies[0]);
		be_the_other(pid);
	}
	close(requests[0]);
	close(replies[1]);
	fcntl(replies[0], F_SETFL, O_NONBLOCK);
}

/* Ask the other process, and use pages until it has answered. */
static void ask(bool steps)
{
	struct request request = { steps, random_some() };
	unsigned long count;
	ssize_t length;

	if (!done)
		begin_other();
	if (write(requests[1], &request, sizeof(request)) != sizeof(request))
		err(1, "write");
	do {
		used += *(unsigned char *)at_page(random_page(pages));
		length = read(replies[0], &count, sizeof(count));
	} while (length < 0 && errno == EAGAIN);
	if (length != sizeof(count))
		errx(1, "the other process has failed");
	seen += count;
}

static void do_remote(void)
{
	ask(false);
}

static void do_ptrace(void)
{
	ask(true);
}

static void do_ksm(void)
{
	unsigned long merged, page = random_some(), i;

	if (!done && madvise(start, pages / 2 * PAGE, MADV_MERGEABLE))
		err(SKIP, "MADV_MERGEABLE");
	/* A write gives a page of its own back. */
	for (i = page; i < page + SOME; i++)
		__atomic_store_n((uint64_t *)at_page(i), word(i, 0), __ATOMIC_SEQ_CST);
	merged = number_of("/proc/self/ksm_stat", "ksm_merging_pages ");
	seen = merged > seen ? merged : seen;
}

static void do_swap(void)
{
	unsigned long swapped, page = random_some();

	if (madvise(at_page(page), SOME * PAGE, MADV_PAGEOUT))
		err(SKIP, "MADV_PAGEOUT");
	swapped = number_of("/proc/self/status", "VmSwap:") * 1024 / PAGE;
	seen = swapped > seen ? swapped : seen;
}

static int uffd = -1;

static void unprotect(unsigned long long addr)
{
	struct uffdio_writeprotect protect = { .range = { addr, PAGE } };

	if (ioctl(uffd, UFFDIO_WRITEPROTECT, &protect))
		err(1, "UFFDIO_WRITEPROTECT");
}

static void fill_missing(unsigned long long addr)
{
	static unsigned char page[PAGE];
	struct uffdio_copy copy = {
		.dst = addr,
		.src = (uintptr_t)page,
		.len = PAGE,
	};

	fill(page, (addr - (uintptr_t)start) / PAGE);
	if (ioctl(uffd, UFFDIO_COPY, &copy) && errno != EEXIST)
		err(1, "UFFDIO_COPY");
}

static void *handle_faults(void *nothing)
{
	struct uffd_msg message;

	while (read(uffd, &message, sizeof(message)) == sizeof(message)) {
		unsigned long long addr = message.arg.pagefault.address & -PAGE;

		__atomic_add_fetch(&seen, 1, __ATOMIC_RELAXED);
		if (message.arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WP)
			unprotect(addr);
		else
			fill_missing(addr);
	}
	return nothing;
}

static void begin_uffd(void)
{
	struct uffdio_api api = { .api = UFFD_API };

	uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api) ||
	    !(api.features & UFFD_FEATURE_PAGEFAULT_FLAG_WP))
		err(SKIP, "userfaultfd");
	begin_thread(handle_faults, NULL);
}

/* Write-protect pages, and have others be missing. Each of their first uses is a fault. */
static void do_uffd(void)
{
	unsigned long page = random_some(), i, before = seen;
	struct uffdio_register range = {
		.range = { (uintptr_t)at_page(page), SOME * PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP,
	};
	struct uffdio_writeprotect protect = {
		.range = { (uintptr_t)at_page(page), SOME / 2 * PAGE },
		.mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};

	if (!done)
		begin_uffd();
	if (ioctl(uffd, UFFDIO_REGISTER, &range) ||
	    ioctl(uffd, UFFDIO_WRITEPROTECT, &protect) ||
	    madvise(at_page(page + SOME / 2), SOME / 2 * PAGE, MADV_DONTNEED))
		err(1, "userfaultfd");
	for (i = page; i < page + SOME; i++)
		__atomic_store_n((uint64_t *)at_page(i), word(i, 0), __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&seen, __ATOMIC_SEQ_CST) - before < SOME)
		errx(1, "a fault was not told");
	if (ioctl(uffd, UFFDIO_UNREGISTER, &range.range))
		err(1, "UFFDIO_UNREGISTER");
}

static struct perf_event_mmap_page *samples;

static void begin_perf(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 100000,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN |
			       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_stack_user = 1024,
		.sample_regs_user = 1ULL << 7,	/* the stack pointer of x86 */
	};
	int event = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (event < 0)
		err(SKIP, "perf_event_open");
	samples = mmap(NULL, (1 + SOME) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
	if (samples == MAP_FAILED)
		err(SKIP, "perf_event_open");
}

/* Use pages on a stack whose memory is watched, too. */
static void do_perf(void)
{
	unsigned int i;

	if (!done)
		begin_perf();
	for (i = 0; i < 100000; i++)
		used += *(unsigned char *)at_page(random_page(pages));
	seen = samples->data_head;
	samples->data_tail = samples->data_head;
}

/* Use so few pages at a time that most entries which a round has closed stay closed. */
static void use_random(void)
{
	unsigned int times, i;

	for (times = 0; times < 40; times++) {
		for (i = 0; i < SOME; i++)
			used += *(unsigned char *)at_page(random_page(pages));
		usleep(1000);
	}
}

static const struct {
	const char *name;
	void (*act)(void);
} options[] = {
	{ "nothing", do_nothing },
	{ "busy", do_busy },
	{ "lost", do_lost },
	{ "exec", do_exec },
	{ "pins", do_pins },
	{ "direct", do_direct },
	{ "remote", do_remote },
	{ "ksm", do_ksm },
	{ "swap", do_swap },
	{ "uffd", do_uffd },
	{ "ptrace", do_ptrace },
	{ "perf", do_perf },
};

int main(int argc, char **argv)
{
	void (*act)(void) = NULL;
	unsigned int i;
	sigset_t set;
	double end;

	for (i = 0; argc == 4 && i < sizeof(options) / sizeof(*options); i++)
		if (!strcmp(argv[1], options[i].name))
			act = options[i].act;
	pages = argc == 4 ? strtoul(argv[3], NULL, 0) * PAGES_MIB : 0;
	if (!act || pages < 2 * PAGES_HUGE)
		errx(2, "usage: closed OPTION SECONDS MIB");
	block(&set);
	map();
	for (end = now() + atof(argv[2]); !has_come(SIGTERM) && now() < end; done++) {
		act();
		use_random();
		if (has_come(SIGUSR1)) {
			sigset_t one;

			sigemptyset(&one);
			sigaddset(&one, SIGUSR1);
			sigwaitinfo(&one, NULL);
			walk_all();
		}
	}
	printf("intact=%d done=%lu seen=%lu\n", is_intact(), done, seen);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * idle_service serve mib=N
 * idle_service run idle=MS requests=N seed=N
 *
 * serve: fill N MiB of memory, and answer on a socket in the background. A health check
 * reads a tenth of the pages, always the same. A request reads PAGES pages, drawn from all,
 * and checks their contents.
 *
 * run: for MS milliseconds, ask for a health check every CHECK_US us; then make the requests,
 * one after the other. Print "rss MS KIB" of the server, the first one at the beginning,
 * "first NS", the time of the first request, and "time" lines for the other ones.
 */
#include "files.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#define SOCKET "/tmp/idle_service.socket"
#define PAGE 4096
#define PAGES 64
#define HOT 10
#define CHECK_US 100
#define RSS_MS 100
#define HEALTH_CHECK 0

static const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = SOCKET };

/* Half of a page is random, so that it can be compressed to about half of its size. */
static void fill_page(uint64_t *words, unsigned long page)
{
	for (unsigned long i = 0; i < PAGE / sizeof(*words) / 2; i++)
		words[i] = mix(page * PAGE + i);
}

static void check_page(const uint64_t *words, unsigned long page)
{
	if (*words != mix(page * PAGE))
		errx(1, "page %lu has wrong contents", page);
}

static void answer(const char *memory, unsigned long pages, uint64_t request)
{
	struct random random = { request };

	if (request == HEALTH_CHECK) {
		for (unsigned long page = 0; page < pages / HOT; page++)
			check_page((const void *)(memory + page * PAGE), page);
		return;
	}
	for (int i = 0; i < PAGES; i++) {
		unsigned long page = draw(&random, pages);

		check_page((const void *)(memory + page * PAGE), page);
	}
}

static int ready[2];

/* Go on in a child; the caller's process ends when that calls say_ready(). */
static void go_on_in_background(void)
{
	pid_t child;
	char byte;

	if (pipe(ready))
		err(1, "pipe");
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (child > 0) {
		close(ready[1]);
		_exit(read(ready[0], &byte, 1) == 1 ? 0 : 1);
	}
	close(ready[0]);
	setsid();
}

static void say_ready(void)
{
	if (write(ready[1], "", 1) != 1)
		err(1, "pipe");
	close(ready[1]);
}

static void __attribute__((noreturn)) serve(unsigned long mib)
{
	unsigned long pages = mib << 8;
	char *memory = mmap(NULL, mib << 20, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	uint64_t request;

	if (memory == MAP_FAILED)
		err(1, "no memory");
	go_on_in_background();
	for (unsigned long page = 0; page < pages; page++)
		fill_page((void *)(memory + page * PAGE), page);
	unlink(SOCKET);
	/* The kernel tells clients who has called listen(). */
	if (bind(listener, (const void *)&address, sizeof(address)) || listen(listener, 1))
		err(1, SOCKET);
	say_ready();
	for (;;) {
		int client = accept(listener, NULL, NULL);

		while (read(client, &request, sizeof(request)) == sizeof(request)) {
			answer(memory, pages, request);
			if (write(client, &request, sizeof(request)) != sizeof(request))
				err(1, "no answer");
		}
		close(client);
	}
}

/* Make a request and return the ns until its answer. */
static uint64_t ask(int server, uint64_t request)
{
	uint64_t answered, begin = now();

	if (write(server, &request, sizeof(request)) != sizeof(request) ||
	    read(server, &answered, sizeof(answered)) != sizeof(answered))
		err(1, "the server does not answer");
	return now() - begin;
}

static unsigned long rss_kib(pid_t pid)
{
	unsigned long pages;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*u %lu", &pages) != 1)
		err(1, "%s", path);
	fclose(file);
	return pages * PAGE / 1024;
}

static void run(unsigned long idle, unsigned long requests, unsigned long seed)
{
	int server = socket(AF_UNIX, SOCK_STREAM, 0);
	struct random random = { seed };
	struct ucred who;
	socklen_t length = sizeof(who);
	static struct times times;
	uint64_t begin;

	if (connect(server, (const void *)&address, sizeof(address)) ||
	    getsockopt(server, SOL_SOCKET, SO_PEERCRED, &who, &length))
		err(1, SOCKET);
	begin = now();
	for (unsigned long ms = 0, next = 0; ms <= idle; ms = (now() - begin) / 1000000) {
		if (ms >= next) {
			printf("rss %lu %lu\n", ms, rss_kib(who.pid));
			next += RSS_MS;
		}
		ask(server, HEALTH_CHECK);
		usleep(CHECK_US);
	}
	for (unsigned long i = 0; i < requests; i++) {
		uint64_t ns = ask(server, 1 + draw(&random, UINT64_MAX - 1));

		if (i == 0)
			printf("first %llu\n", (unsigned long long)ns);
		else
			add_time(&times, ns);
	}
	print_times(stdout, &times);
}

int main(int argc, char **argv)
{
	unsigned long mib = 0, idle = 0, requests = 0, seed = 0;
	const struct setting settings[] = {
		{ "mib", &mib, NULL },		 { "idle", &idle, NULL },
		{ "requests", &requests, NULL }, { "seed", &seed, NULL },
		{ NULL, NULL, NULL },
	};

	if (argc < 2)
		errx(2, "usage: idle_service serve|run NAME=VALUE...");
	set_all(settings, argv + 2);
	if (!strcmp(argv[1], "serve"))
		serve(mib);
	else if (!strcmp(argv[1], "run"))
		run(idle, requests, seed);
	else
		errx(2, "'%s' is neither serve nor run", argv[1]);
	return 0;
}

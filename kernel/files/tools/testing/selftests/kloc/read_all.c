// SPDX-License-Identifier: GPL-2.0
/*
 * read_all FILE PROCESSES SECONDS: have processes read all of a file, again and again, a page
 * at a time, and print how many pages they have read.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE		4096

/* Read until it is time. Return: pages, 0 after an error. */
static unsigned long read_pages(const char *file, time_t end)
{
	unsigned long pages = 0;
	char buffer[PAGE];
	off_t offset = 0;
	ssize_t size;
	int fd;

	fd = open(file, O_RDONLY);
	if (fd < 0)
		return 0;
	while (time(NULL) < end) {
		size = pread(fd, buffer, sizeof(buffer), offset);
		if (size < 0 || (!size && !offset))
			return 0;
		offset = size ? offset + size : 0;
		pages += size > 0;
	}
	close(fd);
	return pages;
}

int main(int argc, char **argv)
{
	unsigned long *pages, sum = 0;
	int i, processes;
	time_t end;

	if (argc != 4) {
		fprintf(stderr, "usage: read_all FILE PROCESSES SECONDS\n");
		return 2;
	}
	processes = atoi(argv[2]);
	end = time(NULL) + atoi(argv[3]);
	pages = mmap(NULL, processes * sizeof(*pages), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	for (i = 0; i < processes; i++) {
		if (fork())
			continue;
		/* The next test shall not find readers that go on. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pages[i] = read_pages(argv[1], end);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	for (i = 0; i < processes; i++) {
		if (!pages[i]) {
			fprintf(stderr, "%s cannot be read\n", argv[1]);
			return 1;
		}
		sum += pages[i];
	}
	printf("%lu\n", sum);
	return 0;
}

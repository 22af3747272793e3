// SPDX-License-Identifier: GPL-2.0
/*
 * connections COUNT FILE [wrong]: use TCP connections on loopback while FILE exists.
 *
 * A child accepts COUNT connections, half of them over IPv6, and sends back what it gets. The
 * parent sends each connection in turn a message whose length and contents follow from the
 * connection and the round, and compares the reply. Both wait with epoll. After each round an
 * eighth of the connections is closed and made again. Writes the number of rounds to FILE.
 * With "wrong", the child changes a byte, which the parent must find.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONGEST		3000
#define EVENTS		64
#define OTHER_FILES	64
/* One of so many connections is closed after a round. */
#define CLOSED		8
#define PATIENCE_MS	30000

static unsigned char sent[LONGEST], got[LONGEST];
static unsigned long count;
static int *connections;
static int listeners[2];
static struct sockaddr_storage addresses[2];
static socklen_t lengths[2];

static int family(unsigned long number)
{
	return number % 2 ? AF_INET6 : AF_INET;
}

/* Have the kernel choose a free port of the loopback address. */
static void listen_on(int index)
{
	struct sockaddr_in *four = (void *)&addresses[index];
	struct sockaddr_in6 *six = (void *)&addresses[index];

	addresses[index].ss_family = family(index);
	if (index) {
		six->sin6_addr = in6addr_loopback;
		lengths[index] = sizeof(*six);
	} else {
		four->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		lengths[index] = sizeof(*four);
	}
	listeners[index] = socket(family(index), SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (listeners[index] < 0 ||
	    bind(listeners[index], (void *)&addresses[index], lengths[index]) ||
	    listen(listeners[index], 1024) ||
	    getsockname(listeners[index], (void *)&addresses[index], &lengths[index]))
		err(1, "cannot listen (family %d)", family(index));
}

static void wait_for(int epoll, int file)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = file };

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, file, &event))
		err(1, "epoll_ctl");
}

static void send_all(int file, const unsigned char *from, size_t length)
{
	while (length) {
		ssize_t more = send(file, from, length, MSG_NOSIGNAL);

		if (more < 0)
			err(1, "send");
		from += more;
		length -= more;
	}
}

/* Send back what has come, and close what the other end has closed. */
static void echo(int file, int wrong)
{
	unsigned char text[LONGEST];
	ssize_t length = recv(file, text, sizeof(text), 0);

	if (length <= 0) {
		close(file);
		return;
	}
	if (wrong)
		text[length / 2] ^= 1;
	send_all(file, text, length);
}

static void serve(int wrong)
{
	struct epoll_event events[EVENTS];
	int epoll = epoll_create1(0), i, n;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	wait_for(epoll, listeners[0]);
	wait_for(epoll, listeners[1]);
	for (;;) {
		n = epoll_wait(epoll, events, EVENTS, -1);
		for (i = 0; i < n; i++) {
			int file = events[i].data.fd, peer;

			if (file != listeners[0] && file != listeners[1]) {
				echo(file, wrong);
				continue;
			}
			peer = accept(file, NULL, NULL);
			if (peer >= 0)
				wait_for(epoll, peer);
		}
	}
}

static void connect_one(int epoll, unsigned long number)
{
	int file = socket(family(number), SOCK_STREAM, 0), one = 1;
	/* No TIME_WAIT: ports would run out. */
	struct linger reset = { .l_onoff = 1 };

	if (file < 0 || connect(file, (void *)&addresses[number % 2], lengths[number % 2]))
		err(1, "cannot connect, number %lu", number);
	setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(file, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	connections[number] = file;
	wait_for(epoll, file);
}

/* Fill the message with what follows from the connection and the round; return its length. */
static size_t make_message(unsigned long number, unsigned long round)
{
	uint64_t state = number * 0x9e3779b97f4a7c15ull + round * 0xbf58476d1ce4e5b9ull + 1;
	size_t length, i;

	state ^= state >> 29;
	length = 1 + state % LONGEST;
	for (i = 0; i < length; i++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		sent[i] = state >> 56;
	}
	return length;
}

static void exchange(int epoll, unsigned long number, unsigned long round)
{
	size_t length = make_message(number, round), have = 0;
	struct epoll_event event;

	send_all(connections[number], sent, length);
	while (have < length) {
		ssize_t more;

		if (epoll_wait(epoll, &event, 1, PATIENCE_MS) != 1)
			errx(1, "connection %lu, round %lu: no reply", number, round);
		if (event.data.fd != connections[number])
			errx(1, "another connection than %lu has an event", number);
		more = recv(event.data.fd, got + have, length - have, 0);
		if (more <= 0)
			err(1, "connection %lu, round %lu: recv", number, round);
		have += more;
	}
	if (memcmp(sent, got, length))
		errx(1, "connection %lu, round %lu: wrong reply", number, round);
}

static void report(const char *path, unsigned long round)
{
	FILE *file = fopen(path, "r+");

	/* Who has removed it meanwhile wants no report. */
	if (!file)
		return;
	fprintf(file, "%lu\n", round);
	fclose(file);
}

int main(int argc, char **argv)
{
	struct rlimit files;
	unsigned long number, round;
	int epoll = epoll_create1(0);
	pid_t child;

	if (argc < 3) {
		fprintf(stderr, "usage: connections COUNT FILE [wrong]\n");
		return 2;
	}
	count = strtoul(argv[1], NULL, 0);
	files.rlim_cur = count + OTHER_FILES;
	files.rlim_max = count + OTHER_FILES;
	connections = calloc(count, sizeof(*connections));
	if (!connections || epoll < 0 || setrlimit(RLIMIT_NOFILE, &files))
		err(1, "%lu connections", count);
	listen_on(0);
	listen_on(1);
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child)
		serve(argc > 3);
	for (number = 0; number < count; number++)
		connect_one(epoll, number);
	for (round = 1; !access(argv[2], F_OK); round++) {
		for (number = 0; number < count; number++)
			exchange(epoll, number, round);
		for (number = round % CLOSED; number < count; number += CLOSED) {
			close(connections[number]);
			connect_one(epoll, number);
		}
		report(argv[2], round);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}

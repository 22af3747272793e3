// SPDX-License-Identifier: GPL-2.0
/*
 * queued tcp|unix KIB [NODE]: send so many KiB through a socket and leave them unread, until the
 * standard input ends. With NODE, the memory policy of the process binds it to that node.
 *
 * queued again COUNT: for each line of the standard input, send a message through TCP and read
 * it, COUNT times. A message is shorter than the page that the kernel takes it from, and the
 * next one is sent when it is read: the page can be used again and again.
 *
 * Prints a line when it is done with KIB, or with a line.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <linux/mempolicy.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHUNK		16384
/* Of a page of 32 KiB. */
#define MESSAGE		20000

static char data[MESSAGE];

/* Sockets that hold what nobody reads: both ends have room for all of it. */
static void allow(int file, int bytes)
{
	if (setsockopt(file, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) ||
	    setsockopt(file, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		err(1, "cannot enlarge the buffers of a socket");
}

static void connect_tcp(int ends[2], int bytes)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	socklen_t length = sizeof(address);

	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (listener < 0 || ends[0] < 0)
		err(1, "socket");
	/* Before the connection, which agrees on the scale of its window. */
	allow(listener, bytes);
	allow(ends[0], bytes);
	if (bind(listener, (void *)&address, length) || listen(listener, 1) ||
	    getsockname(listener, (void *)&address, &length) ||
	    connect(ends[0], (void *)&address, length))
		err(1, "cannot connect");
	ends[1] = accept(listener, NULL, NULL);
	if (ends[1] < 0)
		err(1, "accept");
	setsockopt(ends[0], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static void bind_to(int node)
{
	unsigned long nodes = 1ul << node;

	if (syscall(SYS_set_mempolicy, MPOL_BIND, &nodes, 8 * sizeof(nodes)))
		err(1, "set_mempolicy");
}

static void send_all(int file, size_t left)
{
	while (left) {
		ssize_t sent = send(file, data, left < CHUNK ? left : CHUNK, MSG_DONTWAIT);

		if (sent < 0)
			err(1, "%zu bytes were not sent", left);
		left -= sent;
	}
}

static void read_all(int file, size_t left)
{
	while (left) {
		ssize_t got = recv(file, data, left, 0);

		if (got <= 0)
			err(1, "%zu bytes did not come", left);
		left -= got;
	}
}

static void say_done(void)
{
	puts("done");
	fflush(stdout);
}

static void queue(int is_tcp, size_t bytes)
{
	int ends[2];

	if (is_tcp) {
		connect_tcp(ends, 4 * bytes);
	} else {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
			err(1, "socketpair");
		allow(ends[0], 4 * bytes);
	}
	send_all(ends[0], bytes);
	say_done();
	while (getchar() != EOF)
		;
}

static void send_again(unsigned long count)
{
	unsigned long i;
	int ends[2], c;

	connect_tcp(ends, 16 * MESSAGE);
	while ((c = getchar()) != EOF) {
		if (c != '\n')
			continue;
		for (i = 0; i < count; i++) {
			send_all(ends[0], MESSAGE);
			read_all(ends[1], MESSAGE);
		}
		say_done();
	}
}

int main(int argc, char **argv)
{
	if (argc >= 3 && !strcmp(argv[1], "again")) {
		send_again(strtoul(argv[2], NULL, 0));
	} else if (argc >= 3 && (!strcmp(argv[1], "tcp") || !strcmp(argv[1], "unix"))) {
		if (argc > 3)
			bind_to(atoi(argv[3]));
		queue(!strcmp(argv[1], "tcp"), strtoul(argv[2], NULL, 0) * 1024);
	} else {
		fprintf(stderr, "usage: queued tcp|unix KIB [NODE] | queued again COUNT\n");
		return 2;
	}
	return 0;
}

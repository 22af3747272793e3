// SPDX-License-Identifier: GPL-2.0
/*
 * socket_storm FILE [WRONG]: use sockets in ways that end badly, while FILE exists.
 *
 * Each round has a network namespace of its own, which ends with it. In it,
 * - a process that sends a long stream over TCP is killed in mid-transfer. What has come is
 *   what was sent, as far as it came;
 * - the same over a UNIX socket, on which the TCP socket itself is in flight at the end;
 * - many connections are made at once, accepted, used for one message each, and closed, every
 *   other one with a reset. As many are not accepted before their listener is closed.
 * Writes the number of rounds to FILE. WRONG is tcp, unix or storm: the sender of that kind
 * changes what it sends, which the receiver must find.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define STORM		200
#define PIECE		8192
/* A sender is killed when so many bytes have come. */
#define ENOUGH		(200 * 1024)
#define WRONG_AT	100000

static const char *wrong = "nothing";

/* The byte of the stream at an offset. */
static unsigned char at(uint64_t offset)
{
	offset *= 0x9e3779b97f4a7c15ull;
	return offset >> 56;
}

static int is_wrong(const char *what)
{
	return !strcmp(wrong, what);
}

static void fill(unsigned char *piece, uint64_t offset, const char *what)
{
	int i;

	for (i = 0; i < PIECE; i++)
		piece[i] = at(offset + i);
	if (is_wrong(what) && offset <= WRONG_AT && WRONG_AT < offset + PIECE)
		piece[WRONG_AT - offset] ^= 1;
}

/* Send the stream until somebody kills this process. */
static void send_for_ever(int file, const char *what)
{
	unsigned char piece[PIECE];
	uint64_t offset = 0;

	for (;; offset += PIECE) {
		const unsigned char *from = piece;
		size_t left = PIECE;

		fill(piece, offset, what);
		while (left) {
			ssize_t more = send(file, from, left, MSG_NOSIGNAL);

			if (more < 0)
				err(1, "send");
			from += more;
			left -= more;
		}
	}
}

/* Receive the stream, kill its sender in the middle, and take the rest. */
static void receive(int file, pid_t sender, const char *what)
{
	unsigned char piece[PIECE];
	uint64_t offset = 0;
	int killed = 0;

	for (;;) {
		ssize_t i, more = recv(file, piece, PIECE, 0);

		/* A sender that is killed may reset the connection. */
		if (more < 0 && killed && errno == ECONNRESET)
			break;
		if (more < 0)
			err(1, "%s: recv", what);
		if (!more)
			break;
		for (i = 0; i < more; i++)
			if (piece[i] != at(offset + i))
				errx(1, "%s: byte %llu is wrong", what,
				     (unsigned long long)(offset + i));
		offset += more;
		if (!killed && offset >= ENOUGH) {
			kill(sender, SIGKILL);
			killed = 1;
		}
	}
	if (!killed)
		errx(1, "%s: the sender has ended", what);
	waitpid(sender, NULL, 0);
}

static pid_t fork_or_fail(void)
{
	pid_t child = fork();

	if (child < 0)
		err(1, "fork");
	if (!child)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return child;
}

static void loopback_up(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int file = socket(AF_INET, SOCK_DGRAM, 0);

	if (file < 0 || ioctl(file, SIOCSIFFLAGS, &request))
		err(1, "cannot set up lo");
	close(file);
}

/* Listen on a free port of the loopback address, IPv6 if @six is set. */
static int listen_on(int six, struct sockaddr_storage *address, socklen_t *length)
{
	struct sockaddr_in *in = (void *)address;
	struct sockaddr_in6 *in6 = (void *)address;
	int file;

	memset(address, 0, sizeof(*address));
	address->ss_family = six ? AF_INET6 : AF_INET;
	*length = six ? sizeof(*in6) : sizeof(*in);
	if (six)
		in6->sin6_addr = in6addr_loopback;
	else
		in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	file = socket(address->ss_family, SOCK_STREAM, 0);
	if (file < 0 || bind(file, (void *)address, *length) ||
	    listen(file, 2 * STORM) || getsockname(file, (void *)address, length))
		err(1, "cannot listen");
	return file;
}

static int connect_to(const struct sockaddr_storage *address, socklen_t length)
{
	int file = socket(address->ss_family, SOCK_STREAM, 0);

	if (file < 0 || connect(file, (void *)address, length))
		err(1, "cannot connect");
	return file;
}

static void kill_tcp_sender(int six)
{
	struct sockaddr_storage address;
	socklen_t length;
	int listener = listen_on(six, &address, &length), file;
	pid_t sender = fork_or_fail();

	if (!sender)
		send_for_ever(connect_to(&address, length), "tcp");
	file = accept(listener, NULL, NULL);
	if (file < 0)
		err(1, "accept");
	receive(file, sender, "tcp");
	close(file);
	close(listener);
}

/* Send a file over a UNIX socket, where nobody takes it. */
static void send_file(int through, int file)
{
	char space[CMSG_SPACE(sizeof(file))] = { };
	struct iovec one = { .iov_base = "x", .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &one,
		.msg_iovlen = 1,
		.msg_control = space,
		.msg_controllen = sizeof(space),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(file));
	memcpy(CMSG_DATA(header), &file, sizeof(file));
	if (sendmsg(through, &message, MSG_NOSIGNAL) != 1)
		err(1, "cannot send a file");
}

static void kill_unix_sender(void)
{
	struct sockaddr_storage address;
	int pair[2], flight[2], listener;
	socklen_t length;
	pid_t sender;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, flight))
		err(1, "socketpair");
	sender = fork_or_fail();
	if (!sender) {
		close(pair[0]);
		send_for_ever(pair[1], "unix");
	}
	close(pair[1]);
	receive(pair[0], sender, "unix");
	close(pair[0]);
	/* Both are garbage when the pair is closed: each is in flight on the other. */
	listener = listen_on(0, &address, &length);
	send_file(flight[0], listener);
	send_file(flight[0], flight[1]);
	send_file(flight[1], flight[0]);
	close(listener);
	close(flight[0]);
	close(flight[1]);
}

static void reset_on_close(int file)
{
	struct linger reset = { .l_onoff = 1 };

	setsockopt(file, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
}

/* Each connection of the first half says its number, as they may be accepted in any order. */
static void make_storm(int six)
{
	struct sockaddr_storage address;
	int ends[2 * STORM], seen[STORM] = { }, i, file, number;
	socklen_t length;
	int listener = listen_on(six, &address, &length);

	for (i = 0; i < STORM; i++) {
		ends[i] = connect_to(&address, length);
		number = is_wrong("storm") && i == STORM / 2 ? 0 : i;
		if (send(ends[i], &number, sizeof(number), MSG_NOSIGNAL) != sizeof(number))
			err(1, "send");
	}
	for (i = 0; i < STORM; i++) {
		file = accept(listener, NULL, NULL);
		if (file < 0)
			err(1, "accept");
		if (recv(file, &number, sizeof(number), MSG_WAITALL) != sizeof(number) ||
		    number < 0 || number >= STORM || seen[number]++)
			errx(1, "storm: a connection has another one's number");
		if (i % 2)
			reset_on_close(file);
		close(file);
	}
	for (i = STORM; i < 2 * STORM; i++)
		ends[i] = connect_to(&address, length);
	close(listener);
	for (i = 0; i < 2 * STORM; i++) {
		if (i % 3)
			reset_on_close(ends[i]);
		close(ends[i]);
	}
}

static void round_in_namespace(void)
{
	if (unshare(CLONE_NEWNET))
		err(1, "unshare");
	loopback_up();
	kill_tcp_sender(0);
	kill_tcp_sender(1);
	kill_unix_sender();
	make_storm(0);
	make_storm(1);
}

/* Return: 0 if nobody wants the number any more. */
static int report(const char *path, unsigned long rounds)
{
	FILE *file = fopen(path, "r+");

	if (!file)
		return 0;
	fprintf(file, "%lu\n", rounds);
	fclose(file);
	return 1;
}

int main(int argc, char **argv)
{
	struct rlimit files = { .rlim_cur = 1024, .rlim_max = 1024 };
	unsigned long rounds;

	if (argc < 2) {
		fprintf(stderr, "usage: socket_storm FILE [WRONG]\n");
		return 2;
	}
	if (argc > 2)
		wrong = argv[2];
	if (setrlimit(RLIMIT_NOFILE, &files))
		err(1, "setrlimit");
	for (rounds = 1; !access(argv[1], F_OK); rounds++) {
		pid_t child = fork_or_fail();
		int status;

		if (!child) {
			round_in_namespace();
			return 0;
		}
		if (waitpid(child, &status, 0) != child || status)
			return 1;
		report(argv[1], rounds);
	}
	return 0;
}

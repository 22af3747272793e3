// SPDX-License-Identifier: GPL-2.0
/*
 * idleconns ask=FIFO answer=FIFO port=NUMBER connections=NUMBER busy=NUMBER multi=NUMBER
 *	     keys=NUMBER hot=NUMBER wake=NUMBER [threads=NUMBER]
 *
 * Clients of memcached on loopback, most of whose connections are idle. The program is a server
 * (serve.h), so that the connections stay from the load to the check.
 *
 * First it makes `connections` connections, and asks for one key on each. Then it gives the
 * server the keys 0 to `keys` - 1, with values of VALUE bytes whose contents follow from the key.
 * A cache that was restarted sees this order: its clients come back before it is full again.
 *
 * Each of the threads has an equal part of the connections, waits for all of them with one epoll,
 * and is busy on some: `busy` in all, spread evenly, so that few share pages of the kernel's
 * objects. They are an odd number of connections apart, as memcached deals connections out to its
 * threads in turn. The hot set is the last `hot` keys.
 *
 * The lines that it obeys:
 *
 *	run REQUESTS SEED	Make so many requests in total, each a GET of `multi` keys of the hot
 *			set, on the busy connections. After each `wake` keys a thread wakes an idle
 *			connection, drawn at random, with a GET of one key, unless it still waits for
 *			the last one's reply. The answer is "busy REQUESTS", the histogram of their
 *			times, "wakes NUMBER", and the histogram of the times of wakes: lines "time
 *			FROM TO COUNT", see files.h.
 *	stop		Ask for a key on each connection, and end. The answer is "answered NUMBER",
 *			how many of them replied, "items NUMBER" and "evictions NUMBER", which are
 *			those of the server, and "huge BYTES".
 *
 * A wrong reply, and none within REPLY_SECONDS, ends the program with a message.
 */
#include "serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define VALUE 1024
#define MULTI_MAX 64
#define SLOTS_MAX 64
#define REPLY_SECONDS 60
#define EVENTS 64
/* How much is received at a time, at most. */
#define RECEIVED_BYTES (16 << 10)
/* How many values are sent, and connections are asked, at a time. */
#define BATCH 64
#define STATS_BYTES 8192
/* Files besides the connections. */
#define OTHER_FILES 64

/* What the server replies to "get KEY...\r\n": this for each key, and END at the end. */
#define KEY "key0000000"
#define HEAD "VALUE " KEY " 0 1024\r\n"
#define HEAD_BYTES (sizeof(HEAD) - 1)
#define END "END\r\n"
#define END_BYTES (sizeof(END) - 1)
#define ITEM_BYTES (HEAD_BYTES + VALUE + 2)
#define REPLY_BYTES(keys) ((keys) * ITEM_BYTES + END_BYTES)
/* "get", the keys with a space before each, and the end of the line. */
#define REQUEST_BYTES(keys) (3 + (keys) * sizeof(KEY) + 2)
#define SET_MAX (64 + VALUE)

static unsigned long port, connections, busy, multi, keys, hot, wake;

static const struct setting known[] = {
	SERVE_SETTINGS,
	{ "port", &port, NULL }, { "connections", &connections, NULL }, { "busy", &busy, NULL },
	{ "multi", &multi, NULL }, { "keys", &keys, NULL }, { "hot", &hot, NULL },
	{ "wake", &wake, NULL }, { NULL, NULL, NULL },
};

/*
 * The request that is under way on a connection, for `asked` keys, or 0. Of its reply, `right`
 * values have come and were right, and `bytes` of the next one.
 */
struct slot {
	unsigned long connection;
	unsigned long asked, right;
	unsigned long key[MULTI_MAX];
	uint64_t began;
	size_t bytes;
	char part[ITEM_BYTES];
};

static struct worker {
	int epoll;
	unsigned long first, count;
	/* The busy connections are each `stride`th of the thread's, and have a slot each. */
	unsigned long stride, busy;
	struct slot slots[SLOTS_MAX], woken;
	struct random random;
	unsigned long requests, wakes, since_wake, waiting;
	struct times busy_times, wake_times;
	/* What is received is checked here, and so stays in the cache of the core. */
	char received[RECEIVED_BYTES];
} __attribute__((aligned(64))) workers[THREADS_MAX];

static int *sockets;

static struct {
	unsigned long requests, claimed, seed;
} region;

static int connect_to_server(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct timeval patience = { .tv_sec = REPLY_SECONDS };
	int one = 1, client = socket(AF_INET, SOCK_STREAM, 0);

	if (client < 0 || connect(client, (struct sockaddr *)&address, sizeof(address)) < 0)
		fail("port %lu: %s", port, strerror(errno));
	setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return client;
}

static void send_all(int client, const char *data, size_t bytes)
{
	while (bytes) {
		ssize_t sent = write(client, data, bytes);

		if (sent < 0)
			fail("a connection cannot be written to: %s", strerror(errno));
		data += sent;
		bytes -= (size_t)sent;
	}
}

static void receive_all(int client, char *data, size_t bytes)
{
	size_t got = 0;

	while (got < bytes) {
		ssize_t more = read(client, data + got, bytes - got);

		if (more <= 0)
			fail("no reply after %zu of %zu bytes", got, bytes);
		got += (size_t)more;
	}
}

/* Receive text until it ends with @end. */
static void receive_until(int client, char *text, size_t bytes, const char *end)
{
	size_t got = 0, length = strlen(end);

	do {
		ssize_t more = read(client, text + got, bytes - 1 - got);

		if (more <= 0)
			fail("no end of a reply: %.*s", (int)got, text);
		got += (size_t)more;
		text[got] = '\0';
	} while (got < length || strcmp(text + got - length, end));
}

/* Write the last digits of a number to the end of KEY at @text. sprintf() takes ten times as long. */
static void put_key(char *text, unsigned long key)
{
	for (char *at = text + sizeof(KEY) - 2; at > text + 2; at--, key /= 10)
		*at = (char)('0' + key % 10);
}

/* Check what the server has replied for @key. With -O3, the compiler uses vectors. */
__attribute__((optimize("O3"))) static void check_item(const char *item, unsigned long key)
{
	uint64_t word, wrong = 0, first = mix(key + 1);
	const char *value = item + HEAD_BYTES;
	char head[] = HEAD;

	put_key(head + sizeof("VALUE ") - 1, key);
	if (memcmp(item, head, HEAD_BYTES))
		fail("wrong reply for key %lu: %.*s", key, (int)HEAD_BYTES, item);
	for (size_t i = 0; i < VALUE / sizeof(word); i++) {
		memcpy(&word, value + i * sizeof(word), sizeof(word));
		wrong |= word ^ (first + i);
	}
	if (wrong || memcmp(value + VALUE, "\r\n", 2))
		fail("wrong value of key %lu", key);
}

/* Check the reply to a GET of @count keys. */
static void check_reply(const char *reply, const unsigned long *key, unsigned long count)
{
	for (unsigned long i = 0; i < count; i++, reply += ITEM_BYTES)
		check_item(reply, key[i]);
	if (memcmp(reply, END, END_BYTES))
		fail("no end of the reply after key %lu", key[count - 1]);
}

/* Send a GET of @count keys. */
static void send_get(int client, const unsigned long *key, unsigned long count)
{
	char text[REQUEST_BYTES(MULTI_MAX)] = "get";
	char *at = text + 3;

	for (unsigned long i = 0; i < count; i++, at += sizeof(KEY)) {
		memcpy(at, " " KEY, sizeof(KEY));
		put_key(at + 1, key[i]);
	}
	memcpy(at, "\r\n", 2);
	send_all(client, text, (size_t)(at + 2 - text));
}

/* Ask for a key on each connection; an empty server does not have it. */
static void ask_all(bool empty)
{
	char reply[REPLY_BYTES(1)];
	unsigned long i, key, end;

	for (unsigned long begin = 0; begin < connections; begin = end) {
		end = begin + BATCH < connections ? begin + BATCH : connections;
		for (i = begin; i < end; i++) {
			key = i % keys;
			send_get(sockets[i], &key, 1);
		}
		for (i = begin; i < end; i++) {
			key = i % keys;
			receive_all(sockets[i], reply, empty ? END_BYTES : sizeof(reply));
			if (!empty)
				check_reply(reply, &key, 1);
			else if (memcmp(reply, END, END_BYTES))
				fail("the server has a key before it was given one");
		}
	}
}

static void fill_server(void)
{
	static char text[BATCH * SET_MAX];
	int client = connect_to_server();
	uint64_t value[VALUE / sizeof(uint64_t)];
	char reply[STATS_BYTES];
	size_t length = 0;

	for (unsigned long key = 0; key < keys; key++) {
		length += (size_t)sprintf(text + length, "set key%07lu 0 0 %d noreply\r\n", key,
					  VALUE);
		fill(value, VALUE, key, 0);
		memcpy(text + length, value, VALUE);
		length += VALUE;
		memcpy(text + length, "\r\n", 2);
		length += 2;
		if ((key + 1) % BATCH && key + 1 < keys)
			continue;
		send_all(client, text, length);
		length = 0;
	}
	/* An error of a request without a reply comes before this one. */
	send_all(client, "version\r\n", 9);
	receive_until(client, reply, sizeof(reply), "\r\n");
	if (strncmp(reply, "VERSION", 7))
		fail("the server said %.80s", reply);
	close(client);
}

static bool is_busy(const struct worker *own, unsigned long connection)
{
	unsigned long at = connection - own->first;

	return at % own->stride == 0 && at / own->stride < own->busy;
}

static void prepare_worker(unsigned long thread)
{
	struct worker *own = &workers[thread];

	own->count = connections / threads;
	own->first = thread * own->count;
	own->busy = busy / threads;
	own->stride = (own->count / own->busy - 1) | 1;
	own->epoll = epoll_create1(0);
	if (own->epoll < 0)
		fail("no epoll: %s", strerror(errno));
	for (unsigned long i = 0; i < own->busy; i++)
		own->slots[i].connection = own->first + i * own->stride;
	for (unsigned long i = own->first; i < own->first + own->count; i++) {
		struct epoll_event event = { .events = EPOLLIN, .data.u64 = i };

		if (epoll_ctl(own->epoll, EPOLL_CTL_ADD, sockets[i], &event))
			fail("epoll takes no connection %lu: %s", i, strerror(errno));
	}
}

static void load(void)
{
	struct rlimit files = { connections + OTHER_FILES, connections + OTHER_FILES };

	if (setrlimit(RLIMIT_NOFILE, &files))
		fail("%lu open files are not allowed: %s", connections, strerror(errno));
	sockets = map(connections * sizeof(*sockets));
	for (unsigned long i = 0; i < connections; i++)
		sockets[i] = connect_to_server();
	ask_all(true);
	for (unsigned long thread = 0; thread < threads; thread++)
		prepare_worker(thread);
	fill_server();
}

/* Ask for @count hot keys on the connection of a slot. */
static void request(struct worker *own, struct slot *slot, unsigned long count)
{
	slot->asked = count;
	slot->right = 0;
	slot->bytes = 0;
	for (unsigned long i = 0; i < count; i++)
		slot->key[i] = keys - hot + draw(&own->random, hot);
	slot->began = now();
	own->waiting++;
	send_get(sockets[slot->connection], slot->key, count);
}

static void request_next(struct worker *own, struct slot *slot)
{
	if (__atomic_fetch_add(&region.claimed, 1, __ATOMIC_RELAXED) < region.requests)
		request(own, slot, multi);
}

/* Wake an idle connection, unless a reply to the last wake is still to come. */
static void wake_one(struct worker *own)
{
	if (own->woken.asked)
		return;
	own->since_wake -= wake;
	do {
		own->woken.connection = own->first + draw(&own->random, own->count);
	} while (is_busy(own, own->woken.connection));
	request(own, &own->woken, 1);
}

/* Check what has come for a slot. Return true if that is the end of its reply. */
static bool check_received(struct slot *slot, const char *text, size_t bytes)
{
	for (; slot->right < slot->asked; slot->right++) {
		if (bytes < ITEM_BYTES)
			break;
		check_item(text, slot->key[slot->right]);
		text += ITEM_BYTES;
		bytes -= ITEM_BYTES;
	}
	if (slot->right == slot->asked && bytes >= END_BYTES) {
		if (bytes > END_BYTES || memcmp(text, END, END_BYTES))
			fail("no end of the reply on connection %lu", slot->connection);
		return true;
	}
	memcpy(slot->part, text, bytes);
	slot->bytes = bytes;
	return false;
}

/* Take what has come for a slot. Return true if its reply is complete; it is right then. */
static bool take(struct worker *own, struct slot *slot, struct times *times)
{
	ssize_t more;

	if (!slot->asked)
		fail("connection %lu has an event, but no request", slot->connection);
	memcpy(own->received, slot->part, slot->bytes);
	more = recv(sockets[slot->connection], own->received + slot->bytes,
		    RECEIVED_BYTES - slot->bytes, MSG_DONTWAIT);
	if (more < 0 && errno == EAGAIN)
		return false;
	if (more <= 0)
		fail("connection %lu was closed", slot->connection);
	if (!check_received(slot, own->received, slot->bytes + (size_t)more))
		return false;
	add_time(times, now() - slot->began);
	slot->asked = 0;
	own->waiting--;
	return true;
}

static void handle(struct worker *own, unsigned long connection)
{
	struct slot *slot;

	if (!is_busy(own, connection)) {
		if (connection != own->woken.connection)
			fail("connection %lu has an event, but is idle", connection);
		own->wakes += take(own, &own->woken, &own->wake_times);
		return;
	}
	slot = &own->slots[(connection - own->first) / own->stride];
	if (!take(own, slot, &own->busy_times))
		return;
	own->requests++;
	own->since_wake += multi;
	if (own->since_wake >= wake)
		wake_one(own);
	request_next(own, slot);
}

/* Make requests until all threads together have made theirs, and have all replies. */
static void ask(unsigned long thread)
{
	struct worker *own = &workers[thread];
	struct epoll_event events[EVENTS];

	own->random.state = mix(region.seed) + thread;
	own->requests = 0;
	own->wakes = 0;
	own->since_wake = 0;
	memset(&own->busy_times, 0, sizeof(own->busy_times));
	memset(&own->wake_times, 0, sizeof(own->wake_times));
	for (unsigned long i = 0; i < own->busy; i++)
		request_next(own, &own->slots[i]);
	while (own->waiting) {
		int count = epoll_wait(own->epoll, events, EVENTS, REPLY_SECONDS * 1000);

		if (count == 0)
			fail("no reply within %d s", REPLY_SECONDS);
		for (int i = 0; i < count; i++)
			handle(own, events[i].data.u64);
	}
}

static void report(FILE *answer)
{
	unsigned long requests = 0, wakes = 0;

	for (unsigned long thread = 0; thread < threads; thread++) {
		requests += workers[thread].requests;
		wakes += workers[thread].wakes;
	}
	fprintf(answer, "busy %lu\n", requests);
	for (unsigned long thread = 0; thread < threads; thread++)
		print_times(answer, &workers[thread].busy_times);
	fprintf(answer, "wakes %lu\n", wakes);
	for (unsigned long thread = 0; thread < threads; thread++)
		print_times(answer, &workers[thread].wake_times);
}

static void obey(const char *line, FILE *answer)
{
	if (sscanf(line, "run %lu %lu", &region.requests, &region.seed) != 2)
		fail("'%s' is neither run REQUESTS SEED nor stop", line);
	region.claimed = 0;
	in_threads(ask);
	report(answer);
}

/* Print a number of the server's statistics. */
static void print_stat(FILE *answer, const char *stats, const char *name, const char *as)
{
	const char *at = strstr(stats, name);

	if (!at)
		fail("the server has no %s", name);
	fprintf(answer, "%s %lu\n", as, strtoul(at + strlen(name), NULL, 10));
}

static void stop(FILE *answer)
{
	char stats[STATS_BYTES];
	int client = connect_to_server();

	ask_all(false);
	fprintf(answer, "answered %lu\n", connections);
	send_all(client, "stats\r\n", 7);
	receive_until(client, stats, sizeof(stats), "END\r\n");
	print_stat(answer, stats, "STAT curr_items ", "items");
	print_stat(answer, stats, "STAT evictions ", "evictions");
}

int main(int argc, char **argv)
{
	if (argc < 2)
		errx(2, "usage: idleconns NAME=VALUE...");
	set_all(known, argv + 1);
	if (!threads || !busy || busy % threads || busy / threads > SLOTS_MAX ||
	    connections / threads < 2 * (busy / threads))
		errx(2, "threads=%lu, busy=%lu, connections=%lu: each thread needs an equal number of busy connections, up to %d, and at least as many idle ones",
		     threads, busy, connections, SLOTS_MAX);
	if (connections % threads || !multi || multi > MULTI_MAX || !wake)
		errx(2, "connections=%lu, multi=%lu, wake=%lu: connections are divided among %lu threads, a request has 1 to %d keys, and a wake comes after some",
		     connections, multi, wake, threads, MULTI_MAX);
	if (!hot || hot > keys)
		errx(2, "no hot keys, or more than keys");
	serve(load, obey, stop);
	return 0;
}

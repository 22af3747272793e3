// SPDX-License-Identifier: GPL-2.0
/*
 * redis_clients load servers=N port=N keys=N value=N
 * redis_clients run servers=N port=N keys=N value=N clients=N pipeline=N sets=N hot=N
 *		     requests=N seed=N from=N to=N [dump=FILE] [apart=1]
 * redis_clients until_saved servers=N port=N hz=N keys=N value=N clients=N pipeline=N
 *			     sets=N hot=N seed=N
 * redis_clients wait servers=N port=N
 * redis_clients check servers=N port=N
 *
 * Clients of Redis servers on loopback, which have the ports from `port` on. A program of
 * its own, because each start of redis-cli or redis-benchmark executes as many instructions
 * as a thousand requests.
 *
 * `load` gives each server the keys 0 to `keys` - 1, with values of `value` bytes that begin
 * with "value:KEY".
 *
 * `run` makes `requests` requests in total, with `clients` processes for each server, each
 * with a connection of its own, in pipelines of `pipeline`. Of 100 requests, `sets` are SET
 * and the others GET; HOT_SHARE are for one of the `hot` hot keys and the others for any.
 * Hot keys are spread over all keys, and so over a server's memory. They are those from
 * number `from` on, and from `to` on when half of the requests have been made: this moves
 * the hot set of all servers at once. With `dump` the first server begins to write a
 * checkpoint, which will be that file; the program ends when the requests are done. It
 * prints, with all times in ns from the beginning of the requests:
 *
 *	requests NUMBER
 *	moved TIME		when the hot set moved; not if `from` is `to`
 *	ended TIME
 *	slice NUMBER COUNT	the requests that ended in a slice of SLICE_NS
 *	time FROM TO COUNT	the histogram of the times of pipelines
 *
 * With `apart`, each pipeline has requests of one kind, and a line "times set" and one "times
 * get" come before the histograms of these.
 *
 * `until_saved` makes requests as `run` does, but for as long as a server is busy with a
 * checkpoint, and none if no server is. Then it tells all servers to do their housekeeping
 * `hz` times a second.
 *
 * `wait` ends when no server is busy with a checkpoint. A server notices the end of one only
 * in its housekeeping.
 *
 * `check` prints the numbers of keys and of kinds of errors of each server: "keys N",
 * "errors N".
 *
 * A wrong reply ends the program with status 1.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "files.h"

#define SLICE_NS 5000000
#define SLICES 20000
#define CLIENTS_MAX 64
#define PIPELINE_MAX 64
#define VALUE_MAX 8192
/* Of 100 requests, so many are for hot keys. */
#define HOT_SHARE 95
/* A prime, which shares no factor with a number of keys: see key_of(). */
#define STRIDE 15485863
#define REPLY_SECONDS 60
#define POLL_US 2000
/* More requests than are ever made. */
#define UNLIMITED (1ul << 62)

#define OK "+OK\r\n"
#define REQUEST_HEAD 80
#define INFO_BYTES 8192

/* What all clients share. */
static struct {
	uint64_t began, moved;
	uint64_t claimed;
	uint64_t slices[SLICES];
	struct client {
		uint64_t ended;
		/* Of GET, or of all, and of SET. */
		struct times times[2];
	} clients[CLIENTS_MAX];
} *shared;

static unsigned long servers, port, keys, value, clients, pipeline, sets, hot, requests, seed;
static unsigned long from, to, hz, apart;
static const char *dump;

static const struct setting known[] = {
	{ "servers", &servers, NULL }, { "port", &port, NULL }, { "keys", &keys, NULL },
	{ "value", &value, NULL }, { "clients", &clients, NULL },
	{ "pipeline", &pipeline, NULL }, { "sets", &sets, NULL }, { "hot", &hot, NULL },
	{ "requests", &requests, NULL }, { "seed", &seed, NULL }, { "from", &from, NULL },
	{ "to", &to, NULL }, { "hz", &hz, NULL }, { "dump", NULL, &dump },
	{ "apart", &apart, NULL },
	{ NULL, NULL, NULL },
};

static int connect_to(unsigned long server)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)(port + server)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct timeval patience = { .tv_sec = REPLY_SECONDS };
	int one = 1, client = socket(AF_INET, SOCK_STREAM, 0);

	if (client < 0 || connect(client, (struct sockaddr *)&address, sizeof(address)) < 0)
		err(1, "port %lu", port + server);
	setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return client;
}

static void send_all(int client, const char *data, size_t bytes)
{
	while (bytes) {
		ssize_t sent = write(client, data, bytes);

		if (sent < 0)
			err(1, "write");
		data += sent;
		bytes -= (size_t)sent;
	}
}

/* Receive so many bytes. An error that the server replies instead ends the program. */
static void receive_all(int client, char *data, size_t bytes)
{
	size_t got = 0;

	while (got < bytes) {
		ssize_t more = read(client, data + got, bytes - got);

		if (more <= 0)
			err(1, "no reply after %zu of %zu bytes", got, bytes);
		got += (size_t)more;
		if (data[0] == '-')
			errx(1, "the server replied %.*s", (int)got, data);
	}
}

/* Receive the line that a server replies, without its end. */
static void receive_line(int client, char *line, size_t bytes)
{
	size_t length = 0;

	do {
		if (length + 1 >= bytes)
			errx(1, "the reply is too long: %.*s", (int)length, line);
		receive_all(client, line + length, 1);
		length++;
	} while (line[length - 1] != '\n');
	line[length - (length > 1 ? 2 : 1)] = '\0';
}

/* Send a command and receive the line that the server replies. */
static void command(int client, const char *text, char *line, size_t bytes)
{
	send_all(client, text, strlen(text));
	receive_line(client, line, bytes);
}

/* Receive what INFO says of a section. */
static void receive_info(int client, const char *section, char *info, size_t bytes)
{
	char text[80], line[80];
	unsigned long length;

	snprintf(text, sizeof(text), "INFO %s\r\n", section);
	command(client, text, line, sizeof(line));
	length = number(line + 1) + 2;
	if (length >= bytes)
		errx(1, "INFO %s is too long: %lu bytes", section, length);
	receive_all(client, info, length);
	info[length] = '\0';
}

static void load(void)
{
	char text[80], line[80];

	for (unsigned long server = 0; server < servers; server++) {
		int client = connect_to(server);

		snprintf(text, sizeof(text), "DEBUG POPULATE %lu key %lu\r\n", keys, value);
		command(client, text, line, sizeof(line));
		close(client);
	}
}

/* Return the key with that number: keys with near numbers lie far apart. */
static unsigned long key_of(unsigned long number)
{
	return number * STRIDE % keys;
}

/* Claim a pipeline of requests, and return whether the hot set has moved. */
static bool claim(bool *complete)
{
	uint64_t before = __atomic_fetch_add(&shared->claimed, pipeline, __ATOMIC_RELAXED);
	uint64_t none = 0;

	*complete = before >= requests;
	if (before < requests / 2)
		return false;
	__atomic_compare_exchange_n(&shared->moved, &none, now() - shared->began, false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return true;
}

struct request {
	unsigned long key;
	bool set;
};

static bool choose_kind(struct random *random)
{
	return draw(random, 100) < sets;
}

static struct request choose(struct random *random, unsigned long first, bool set)
{
	struct request request = { .set = set };
	bool is_hot = draw(random, 100) < HOT_SHARE;

	request.key = key_of(is_hot ? (first + draw(random, hot)) % keys : draw(random, keys));
	return request;
}

/* Write a request to text, and return its length. */
static size_t put_request(char *text, const struct request *request)
{
	char key[32], begin[32];
	int length = snprintf(key, sizeof(key), "key:%lu", request->key), head;

	if (!request->set)
		return (size_t)sprintf(text, "*2\r\n$3\r\nGET\r\n$%d\r\n%s\r\n", length, key);
	head = sprintf(text, "*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%lu\r\n", length, key, value);
	memset(text + head, ' ', value);
	length = snprintf(begin, sizeof(begin), "value:%lu", request->key);
	memcpy(text + head, begin, (size_t)length);
	memcpy(text + head + value, "\r\n", 2);
	return (size_t)head + value + 2;
}

static size_t reply_bytes(const struct request *request)
{
	char head[32];

	if (request->set)
		return sizeof(OK) - 1;
	return (size_t)snprintf(head, sizeof(head), "$%lu\r\n", value) + value + 2;
}

static void check_reply(const char *reply, const struct request *request)
{
	char expected[64];
	int length;

	if (request->set)
		length = snprintf(expected, sizeof(expected), OK);
	else
		length = snprintf(expected, sizeof(expected), "$%lu\r\nvalue:%lu", value,
				  request->key);
	if (memcmp(reply, expected, (size_t)length))
		errx(1, "wrong reply for key %lu: %.40s", request->key, reply);
}

/* Make pipelines of requests until all clients together have made theirs. */
static void ask(unsigned long number, int client)
{
	static char text[PIPELINE_MAX * (REQUEST_HEAD + VALUE_MAX)];
	static char replies[PIPELINE_MAX * (REQUEST_HEAD + VALUE_MAX)];
	struct random random = { .state = mix(seed) + number };
	struct request chosen[PIPELINE_MAX];
	struct client *own = &shared->clients[number];
	bool complete;

	for (;;) {
		unsigned long first = claim(&complete) ? to : from;
		bool set = apart && choose_kind(&random);
		size_t asked = 0, expected = 0;
		const char *reply = replies;
		uint64_t began, slice;

		if (complete)
			return;
		for (unsigned long i = 0; i < pipeline; i++) {
			chosen[i] = choose(&random, first,
					   apart ? set : choose_kind(&random));
			asked += put_request(text + asked, &chosen[i]);
			expected += reply_bytes(&chosen[i]);
		}
		began = now();
		send_all(client, text, asked);
		receive_all(client, replies, expected);
		own->ended = now() - shared->began;
		add_time(&own->times[set], shared->began + own->ended - began);
		for (unsigned long i = 0; i < pipeline; i++) {
			check_reply(reply, &chosen[i]);
			reply += reply_bytes(&chosen[i]);
		}
		slice = own->ended / SLICE_NS;
		if (slice >= SLICES)
			errx(1, "more than %d slices", SLICES);
		__atomic_fetch_add(&shared->slices[slice], pipeline, __ATOMIC_RELAXED);
	}
}

/* Start a process for each client, which connects, writes a byte to ready, and waits for go. */
static void start_client(unsigned long number, int ready[2], int go[2])
{
	pid_t child = fork();
	char byte = 0;
	int client;

	if (child < 0)
		err(1, "fork");
	if (child)
		return;
	close(go[1]);
	client = connect_to(number % servers);
	if (write(ready[1], &byte, 1) != 1 || read(go[0], &byte, 1) < 0)
		err(1, "pipe");
	ask(number, client);
	exit(0);
}

/* Start all clients. They begin to make requests once they have all connected. */
static void start_clients(void)
{
	unsigned long count = servers * clients;
	int ready[2], go[2];
	char byte, line[80];

	if (pipe(ready) || pipe(go))
		err(1, "pipe");
	for (unsigned long number = 0; number < count; number++)
		start_client(number, ready, go);
	close(ready[1]);
	for (unsigned long number = 0; number < count; number++)
		if (read(ready[0], &byte, 1) != 1)
			errx(1, "a client did not start");
	if (dump) {
		int saver = connect_to(0);

		unlink(dump);
		command(saver, "BGSAVE\r\n", line, sizeof(line));
		close(saver);
	}
	shared->began = now();
	close(go[1]);
}

static void wait_for_clients(void)
{
	for (unsigned long number = 0; number < servers * clients; number++) {
		int status;

		if (wait(&status) < 0 || status)
			errx(1, "a client failed");
	}
}

static void report(void)
{
	uint64_t ended = 0;

	for (unsigned long i = 0; i < servers * clients; i++)
		if (shared->clients[i].ended > ended)
			ended = shared->clients[i].ended;
	printf("requests %lu\n", requests);
	if (from != to)
		printf("moved %lu\n", shared->moved);
	printf("ended %lu\n", ended);
	for (uint64_t i = 0; i <= ended / SLICE_NS; i++)
		printf("slice %lu %lu\n", i, shared->slices[i]);
	for (int set = apart; set >= 0; set--) {
		if (apart)
			printf("times %s\n", set ? "set" : "get");
		for (unsigned long i = 0; i < servers * clients; i++)
			print_times(stdout, &shared->clients[i].times[set]);
	}
}

/* Check the settings of requests, and get the memory that clients share. */
static void prepare_requests(void)
{
	if (!servers || !clients || servers * clients > CLIENTS_MAX)
		errx(2, "at most %d clients of all servers", CLIENTS_MAX);
	if (!pipeline || pipeline > PIPELINE_MAX || value > VALUE_MAX || value < 32)
		errx(2, "pipelines of up to %d, and values of 32 to %d bytes", PIPELINE_MAX,
		     VALUE_MAX);
	if (!keys || !hot || hot > keys)
		errx(2, "no keys, or more hot keys than keys");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		err(1, "mmap");
}

static void run(void)
{
	prepare_requests();
	requests = requests / pipeline * pipeline;
	start_clients();
	wait_for_clients();
	report();
}

/* Return whether a server is busy with a checkpoint. */
static bool is_saving(unsigned long server)
{
	char info[INFO_BYTES];
	int client = connect_to(server);

	receive_info(client, "persistence", info, sizeof(info));
	close(client);
	return !strstr(info, "rdb_bgsave_in_progress:0");
}

static bool any_is_saving(void)
{
	for (unsigned long server = 0; server < servers; server++)
		if (is_saving(server))
			return true;
	return false;
}

static void wait_for_checkpoints(void)
{
	for (unsigned long server = 0; server < servers; server++)
		while (is_saving(server))
			usleep(POLL_US);
}

static void set_hz(void)
{
	char text[80], line[80];

	snprintf(text, sizeof(text), "CONFIG SET hz %lu\r\n", hz);
	for (unsigned long server = 0; server < servers; server++) {
		int client = connect_to(server);

		command(client, text, line, sizeof(line));
		close(client);
	}
}

static void run_until_saved(void)
{
	if (!any_is_saving()) {
		set_hz();
		return;
	}
	prepare_requests();
	requests = UNLIMITED;
	start_clients();
	wait_for_checkpoints();
	set_hz();
	/* The clients are busy until here, and end when all requests are claimed. */
	__atomic_store_n(&shared->claimed, requests, __ATOMIC_RELAXED);
	wait_for_clients();
}

static void check(void)
{
	char line[80], info[INFO_BYTES];

	for (unsigned long server = 0; server < servers; server++) {
		int client = connect_to(server), errors = 0;

		command(client, "DBSIZE\r\n", line, sizeof(line));
		receive_info(client, "errorstats", info, sizeof(info));
		for (const char *at = info; (at = strstr(at, "errorstat_")); at++)
			errors++;
		printf("keys %s\nerrors %d\n", line + 1, errors);
		close(client);
	}
}

int main(int argc, char **argv)
{
	if (argc > 2)
		set_all(known, argv + 2);
	if (argc > 2 && !strcmp(argv[1], "load"))
		load();
	else if (argc > 2 && !strcmp(argv[1], "run"))
		run();
	else if (argc > 2 && !strcmp(argv[1], "until_saved"))
		run_until_saved();
	else if (argc > 2 && !strcmp(argv[1], "wait"))
		wait_for_checkpoints();
	else if (argc > 2 && !strcmp(argv[1], "check"))
		check();
	else
		errx(2, "usage: redis_clients load|run|until_saved|wait|check NAME=VALUE...");
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Two sockets: each has its own bandwidth of each tier, and the way to the other one adds
 * latency and has a bandwidth each way.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "rig.h"

#define FAST_NS		80
#define SLOW_NS		240
#define REMOTE_NS	70
#define FAST_RATE	8	/* bytes per ns */
#define LINK_RATE	4

#define RIG_FAR_FAST	(80 * MEGA)	/* physical addresses of socket 1's memory */
#define RIG_FAR_SLOW	(96 * MEGA)

static void make_file(const char *name, uint64_t bytes)
{
	FILE *file = fopen(name, "w");

	CHECK(file && !ftruncate(fileno(file), (off_t)bytes));
	fclose(file);
}

/* Set up a machine of two sockets with a core each; more is further configuration. */
static void start(const char *more)
{
	char text[512];

	make_file("far-fast", 16 * MEGA);
	make_file("far-slow", 16 * MEGA);
	snprintf(text, sizeof(text),
		 "cores=2\nsockets=2\nremote=70,4\n"
		 "ram=0,83886080,16777216,far-fast,0,1\nram=1,100663296,16777216,far-slow,0,1\n%s",
		 more);
	rig_start(text);
	rig_call(KLOC_MACHINE_BEGIN);
}

static bool is_near(uint64_t value, uint64_t expected)
{
	uint64_t error = value > expected ? value - expected : expected - value;

	if (error * 50 > expected)
		printf("%llu, expected %llu\n", (unsigned long long)value,
		       (unsigned long long)expected);
	return error * 50 <= expected;
}

/* Chase through lines on a core. */
static void chase(unsigned int core, uint64_t from, uint64_t lines)
{
	for (uint64_t i = 0; i < lines; i++)
		*rig_word(from + i * 4099 % lines * LINE_BYTES) =
			from + (i + 1) * 4099 % lines * LINE_BYTES;
	for (uint64_t i = 0; i < lines; i++) {
		uint64_t at = from + i * 4099 % lines * LINE_BYTES;

		rig_access(core, at, at, false);
	}
}

static void a_chase_has_the_latency(const char *more, unsigned int core, uint64_t from,
				    uint64_t latency_ns, bool remote)
{
	uint64_t lines = 4 * MEGA / LINE_BYTES;

	start(more);
	chase(core, from, lines);
	rig_call(KLOC_MACHINE_END);
	CHECK(is_near(rig_now_ps[core], lines * latency_ns * PS_PER_NS));
	CHECK(rig.region.remote_misses == (remote ? lines : 0));
	rig_stop();
}

static void each_kind_of_access_has_its_latency(void)
{
	a_chase_has_the_latency("", 0, 0, FAST_NS, false);
	a_chase_has_the_latency("", 0, RIG_SLOW, SLOW_NS, false);
	a_chase_has_the_latency("", 0, RIG_FAR_FAST, FAST_NS + REMOTE_NS, true);
	a_chase_has_the_latency("", 0, RIG_FAR_SLOW, SLOW_NS + REMOTE_NS, true);
	a_chase_has_the_latency("", 1, RIG_FAR_FAST, FAST_NS, false);
	a_chase_has_the_latency("", 1, RIG_FAR_SLOW, SLOW_NS, false);
	a_chase_has_the_latency("", 1, 0, FAST_NS + REMOTE_NS, true);
	a_chase_has_the_latency("", 1, RIG_SLOW, SLOW_NS + REMOTE_NS, true);
}

static void a_loaded_link_is_slower(void)
{
	/* A chase alone uses a tenth of the link: 64 bytes in about 150 ns, of 4 bytes/ns. */
	a_chase_has_the_latency("remote_loaded=0:1,0.01:2\n", 0, RIG_FAR_FAST,
				FAST_NS + 2 * REMOTE_NS, true);
	a_chase_has_the_latency("remote_loaded=0:1,0.01:2\n", 0, 0, FAST_NS, false);
}

/* Stream through memory on both cores at the same time, which is simulated time. */
static void stream(const uint64_t from[2], uint64_t bytes, bool store)
{
	uint64_t at[2] = { 0, 0 };

	while (at[0] < bytes || at[1] < bytes) {
		unsigned int core = rig_now_ps[1] < rig_now_ps[0];

		if (at[core] == bytes)
			core = !core;
		rig_access(core, from[core] + at[core], from[core] + at[core], store);
		at[core] += 8;
	}
}

static void streams_have_the_bandwidth(uint64_t first, uint64_t second, uint64_t rate)
{
	const uint64_t from[2] = { first, second };
	uint64_t bytes = 8 * MEGA;

	start("");
	stream(from, bytes, false);
	/* Cores that share a tier do not share it equally: one ends before the other. */
	CHECK(is_near((rig_now_ps[0] + rig_now_ps[1]) / 2, bytes * PS_PER_NS / rate));
	rig_stop();
}

static void each_socket_and_each_way_has_its_bandwidth(void)
{
	/* Local to each core, then the other socket's, then both on socket 0. */
	streams_have_the_bandwidth(0, RIG_FAR_FAST, FAST_RATE);
	streams_have_the_bandwidth(RIG_FAR_FAST, 0, LINK_RATE);
	streams_have_the_bandwidth(0, 8 * MEGA, FAST_RATE / 2);
}

/* Lines that socket 0 stores to come over one link, and return over the other. */
static void write_backs_return_over_the_link(void)
{
	const uint64_t from[2] = { RIG_FAR_FAST, RIG_SLOW };
	uint64_t bytes = 8 * MEGA;

	start("");
	stream(from, bytes, true);
	CHECK(rig.links[0].bytes[TRANSFER_READ] == bytes);
	CHECK(rig.links[1].bytes[TRANSFER_READ] == bytes);
	CHECK(rig.links[1].bytes[TRANSFER_WRITE] > bytes / 2);
	CHECK(rig.tiers[1][0].bytes[TRANSFER_WRITE] > bytes / 2);
	CHECK(rig.tiers[0][0].bytes[TRANSFER_WRITE] == 0);
	CHECK(rig.tiers[0][1].bytes[TRANSFER_WRITE] > bytes / 2);
	CHECK(rig.tiers[1][1].bytes[TRANSFER_WRITE] == 0);
	rig_stop();
}

/* Cores that store to their own memory evict each other's lines, and cross no link. */
static void local_write_backs_cross_no_link(void)
{
	const uint64_t from[2] = { 0, RIG_FAR_FAST };
	uint64_t bytes = 8 * MEGA;

	start("");
	stream(from, bytes, true);
	for (int socket = 0; socket < 2; socket++) {
		CHECK(rig.tiers[socket][0].bytes[TRANSFER_WRITE] > bytes / 2);
		CHECK(rig.links[socket].bytes[TRANSFER_READ] == 0);
		CHECK(rig.links[socket].bytes[TRANSFER_WRITE] == 0);
	}
	rig_stop();
}

/* A core of socket 1 has made a line of socket 0 dirty, which a core of socket 0 then reads. */
static void a_line_is_written_back_from_the_socket_that_stored(void)
{
	start("");
	rig_access(1, 0, 0, true);
	rig_access(0, 0, 0, false);
	CHECK(rig.region.snoops == 1);
	rig_scatter(MEGA, 4 * MEGA / LINE_BYTES);
	CHECK(rig.tiers[0][0].bytes[TRANSFER_WRITE] == LINE_BYTES);
	CHECK(rig.links[0].bytes[TRANSFER_WRITE] == LINE_BYTES);
	rig_stop();
}

/* Bounds, placements and the oracle change the tier, and not the socket. */
static void another_tier_is_that_of_the_same_socket(void)
{
	uint64_t lines = 4 * MEGA / LINE_BYTES;
	FILE *file = fopen("fast", "w");

	for (uint64_t frame = 0; frame < 112 * MEGA >> FRAME_SHIFT; frame++)
		fputc(1, file);
	fclose(file);
	a_chase_has_the_latency("force_tier=slow\n", 0, RIG_FAR_FAST, SLOW_NS + REMOTE_NS, true);
	a_chase_has_the_latency("force_tier=fast\n", 1, RIG_FAR_SLOW, FAST_NS, false);
	a_chase_has_the_latency("fast_kinds=\n", 0, RIG_FAR_FAST, SLOW_NS + REMOTE_NS, true);
	a_chase_has_the_latency("fast_frames=fast\n", 0, RIG_FAR_SLOW, FAST_NS + REMOTE_NS, true);
	start("force_tier=slow\n");
	chase(0, RIG_FAR_FAST, lines);
	CHECK(rig.tiers[1][1].bytes[TRANSFER_READ] == lines * LINE_BYTES);
	CHECK(rig.tiers[0][1].bytes[TRANSFER_READ] == 0);
	rig_stop();
}

static void the_report_adds_sockets_up(void)
{
	uint64_t lines = 4096;

	start("");
	chase(0, 0, lines);
	chase(0, RIG_FAR_FAST, lines);
	rig_call(KLOC_MACHINE_END);
	CHECK(rig.region.misses[0][KIND_UNKNOWN][0] == 2 * lines);
	CHECK(rig.region.end.bytes[0][TRANSFER_READ] == 2 * lines * LINE_BYTES);
	CHECK(strstr(rig_output(), "\"remote_misses\": 4096"));
	CHECK(strstr(rig_output(), "\"remote\": 0"));
	rig_stop();
	rig_start("");
	rig_call(KLOC_MACHINE_BEGIN);
	rig_call(KLOC_MACHINE_END);
	CHECK(!strstr(rig_output(), "remote"));
	rig_stop();
}

/* Devices are on no socket: a copy takes bandwidth of the memory, and none of a link. */
static void a_device_crosses_no_link(void)
{
	start("");
	access_by_device(&rig, RIG_FAR_FAST, 4096, true, 0);
	CHECK(rig.tiers[1][0].bytes[TRANSFER_DMA_WRITE] == 4096);
	CHECK(rig.tiers[0][0].bytes[TRANSFER_DMA_WRITE] == 0);
	for (int transfer = 0; transfer < TRANSFERS; transfer++)
		CHECK(!rig.links[0].bytes[transfer] && !rig.links[1].bytes[transfer]);
	rig_stop();
}

void test_sockets(void)
{
	rig_enter();
	each_kind_of_access_has_its_latency();
	a_loaded_link_is_slower();
	each_socket_and_each_way_has_its_bandwidth();
	write_backs_return_over_the_link();
	local_write_backs_cross_no_link();
	a_line_is_written_back_from_the_socket_that_stored();
	another_tier_is_that_of_the_same_socket();
	the_report_adds_sockets_up();
	a_device_crosses_no_link();
	rig_leave();
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Streams are recognized up, down and several at a time; scattered lines are no stream.
 */
#include "check.h"
#include "stream.h"

static struct streams streams;
static uint64_t now_ps, since_ps;

/* Miss a line that no cache holds. Return whether it is prefetched. */
static bool miss(uint64_t line)
{
	enum stream_fit fit = streams_follow(&streams, line, now_ps, &since_ps);

	if (fit == STREAM_NONE)
		streams_begin(&streams, line, now_ps);
	return fit == STREAM_PREFETCHED;
}

static void third_line_is_prefetched(void)
{
	streams_clear(&streams);
	CHECK(!miss(1000));
	CHECK(!miss(1001));
	for (uint64_t line = 1002; line < 1100; line++)
		CHECK(miss(line));
}

static void goes_down_and_skips_a_line(void)
{
	streams_clear(&streams);
	miss(1000);
	miss(998);
	for (uint64_t line = 996; line > 900; line -= 2)
		CHECK(miss(line));
}

static void turning_round_starts_over(void)
{
	streams_clear(&streams);
	for (uint64_t line = 1000; line < 1010; line++)
		miss(line);
	CHECK(!miss(1008));
	CHECK(miss(1007));
}

static void scattered_lines_are_none(void)
{
	uint64_t line = 12345;

	streams_clear(&streams);
	for (int i = 0; i < 1000; i++) {
		line = line * 6364136223846793005ULL + 1442695040888963407ULL;
		CHECK(!miss(line >> 30));
	}
}

static void cached_lines_displace_none(void)
{
	streams_clear(&streams);
	for (uint64_t line = 1000; line < 1003; line++)
		miss(line);
	for (uint64_t i = 1; i < 100; i++)
		CHECK(streams_follow(&streams, i * 10000, now_ps, &since_ps) == STREAM_NONE);
	CHECK(miss(1003));
}

static void sixteen_at_once(void)
{
	streams_clear(&streams);
	for (uint64_t step = 0; step < 50; step++)
		for (uint64_t i = 0; i < STREAMS; i++)
			CHECK(miss(i * 10000 + 5000 + step) ==
			      (step >= 2));
}

static void the_oldest_is_forgotten(void)
{
	streams_clear(&streams);
	for (uint64_t i = 0; i <= STREAMS; i++)
		for (uint64_t step = 0; step < 3; step++)
			miss(i * 10000 + 5000 + step);
	CHECK(miss(15003));
	CHECK(!miss(5003));
}

static void longer_steps_are_none(void)
{
	streams_clear(&streams);
	for (uint64_t line = 1000; line < 1100; line += 3)
		CHECK(!miss(line));
}

/* Two address spaces use the same addresses. */
static void spaces_have_streams_of_their_own(void)
{
	const uint64_t space = 1ULL << 42;

	streams_clear(&streams);
	for (uint64_t line = 1000; line < 1050; line++) {
		CHECK(miss(line) == (line >= 1002));
		CHECK(miss((line ^ space) + 1) == (line >= 1002));
		CHECK(!miss(2 * space + 64 * line));
	}
}

static void stream_in_use_is_kept(void)
{
	streams_clear(&streams);
	for (uint64_t step = 0; step < 100; step++) {
		CHECK(miss(1000 + step) == (step >= 2));
		for (uint64_t i = 0; i < STREAMS - 1; i++)
			miss(1000000 + step * 10000 + i * 100);
	}
}

/* Prefetches begin with the second line of a stream, or of its new direction. */
static void stream_begins_at_its_first_step(void)
{
	streams_clear(&streams);
	for (now_ps = 100; now_ps < 110; now_ps++)
		miss(900 + now_ps);
	CHECK(since_ps == 101);
	CHECK(!miss(1008));
	now_ps = 200;
	CHECK(miss(1007));
	CHECK(since_ps == 110);
}

void test_stream(void)
{
	longer_steps_are_none();
	spaces_have_streams_of_their_own();
	stream_in_use_is_kept();
	stream_begins_at_its_first_step();
	third_line_is_prefetched();
	goes_down_and_skips_a_line();
	turning_round_starts_over();
	scattered_lines_are_none();
	cached_lines_displace_none();
	sixteen_at_once();
	the_oldest_is_forgotten();
}

// SPDX-License-Identifier: GPL-2.0
#include "check.h"
#include "stream.h"

static struct streams streams;

static void third_line_is_prefetched(void)
{
	streams_clear(&streams);
	CHECK(!streams_follow(&streams, 1000));
	CHECK(!streams_follow(&streams, 1001));
	for (uint64_t line = 1002; line < 1100; line++)
		CHECK(streams_follow(&streams, line));
}

static void goes_down_and_skips_a_line(void)
{
	streams_clear(&streams);
	streams_follow(&streams, 1000);
	streams_follow(&streams, 998);
	for (uint64_t line = 996; line > 900; line -= 2)
		CHECK(streams_follow(&streams, line));
}

static void turning_round_starts_over(void)
{
	streams_clear(&streams);
	for (uint64_t line = 1000; line < 1010; line++)
		streams_follow(&streams, line);
	CHECK(!streams_follow(&streams, 1008));
	CHECK(streams_follow(&streams, 1007));
}

static void scattered_lines_are_none(void)
{
	uint64_t line = 12345;

	streams_clear(&streams);
	for (int i = 0; i < 1000; i++) {
		line = line * 6364136223846793005ULL + 1442695040888963407ULL;
		CHECK(!streams_follow(&streams, line >> 30));
	}
}

static void sixteen_at_once(void)
{
	streams_clear(&streams);
	for (uint64_t step = 0; step < 50; step++)
		for (uint64_t i = 0; i < STREAMS; i++)
			CHECK(streams_follow(&streams, i * 10000 + 5000 + step) ==
			      (step >= 2));
}

static void the_oldest_is_forgotten(void)
{
	streams_clear(&streams);
	for (uint64_t i = 0; i <= STREAMS; i++)
		for (uint64_t step = 0; step < 3; step++)
			streams_follow(&streams, i * 10000 + 5000 + step);
	CHECK(streams_follow(&streams, 15003));
	CHECK(!streams_follow(&streams, 5003));
}

void test_stream(void)
{
	third_line_is_prefetched();
	goes_down_and_skips_a_line();
	turning_round_starts_over();
	scattered_lines_are_none();
	sixteen_at_once();
	the_oldest_is_forgotten();
}

// SPDX-License-Identifier: GPL-2.0
#include "background.h"
#include "check.h"

static void starts_at_t_unless_it_is_ahead(void)
{
	struct background background = { .now_ps = 500 };

	background_enter(&background, 1000);
	CHECK(background.now_ps == 1000);
	background_enter(&background, 700);
	CHECK(background.now_ps == 1000);
}

static void holds_t_back_only_when_far_ahead(void)
{
	struct background background = { .now_ps = 1000 };

	CHECK(background_advance(&background, 1000, BACKGROUND_AHEAD_PS) == 0);
	CHECK(background_advance(&background, 1000, 7) == 7);
	CHECK(background.excess_ps == 7);
	/* The caller has advanced T by the 7 that were returned. */
	CHECK(background_advance(&background, 1007, 3) == 3);
	CHECK(background.now_ps == 1010 + BACKGROUND_AHEAD_PS);
}

static void tells_how_far_it_is_ahead(void)
{
	struct background background = { .now_ps = 1000 };

	CHECK(background_ahead_ps(&background, 400) == 600);
	CHECK(background_ahead_ps(&background, 1000) == 0);
	CHECK(background_ahead_ps(&background, 1001) == 0);
}

void test_background(void)
{
	starts_at_t_unless_it_is_ahead();
	holds_t_back_only_when_far_ahead();
	tells_how_far_it_is_ahead();
}

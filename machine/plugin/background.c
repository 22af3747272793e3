// SPDX-License-Identifier: GPL-2.0
#include "background.h"

uint64_t background_ahead_ps(const struct background *background, uint64_t t_ps)
{
	return background->now_ps > t_ps ? background->now_ps - t_ps : 0;
}

void background_enter(struct background *background, uint64_t t_ps)
{
	if (background->now_ps < t_ps)
		background->now_ps = t_ps;
}

uint64_t background_advance(struct background *background, uint64_t t_ps, uint64_t spent_ps)
{
	uint64_t excess_ps;

	background->now_ps += spent_ps;
	if (likely(background->now_ps <= t_ps + BACKGROUND_AHEAD_PS))
		return 0;
	excess_ps = background->now_ps - t_ps - BACKGROUND_AHEAD_PS;
	background->excess_ps += excess_ps;
	return excess_ps;
}

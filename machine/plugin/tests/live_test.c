// SPDX-License-Identifier: GPL-2.0
/*
 * The live file has the totals so far, and is replaced at most once a second.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "rig.h"

#define SECOND_NS	1000000000ULL

static struct kloc_machine_page *page;
static char text[2][1 << 20];

/* Read a file into text[number] and return it; "" if there is no file. */
static const char *content(const char *name, int number)
{
	FILE *file = fopen(name, "r");

	text[number][0] = '\0';
	if (!file)
		return text[number];
	text[number][fread(text[number], 1, sizeof(text[number]) - 1, file)] = '\0';
	fclose(file);
	return text[number];
}

static void start(const char *live)
{
	char more[128];

	snprintf(more, sizeof(more), "sample_ns=10000\n%s", live);
	rig_start(more);
	page = rig_describe();
	rig_call(KLOC_MACHINE_BEGIN);
}

/* Promote three pages, then miss 1000 times in the slow tier. */
static void work(void)
{
	page->promoted[KLOC_MACHINE_ANON] += 3;
	rig_scatter(RIG_SLOW, 1000);
	rig_scatter(RIG_SLOW + MEGA, 1000);
}

static void stop(void)
{
	rig_call(KLOC_MACHINE_END);
	rig_stop();
}

static void shows_the_region_so_far(void)
{
	char expected[64];

	start("live=live.json\n");
	work();
	rig.live.next_ns = 0;
	live_show(&rig.live, &rig, 0);
	CHECK(strstr(content("live.json", 0), "\"promoted\": 3"));
	CHECK(strstr(text[0], "\"slow\": {\n   \"free\": 16384}"));
	snprintf(expected, sizeof(expected), "\"other\": %llu}}}",
		 (unsigned long long)rig.region.tier_stall_ps[1] / PS_PER_NS);
	CHECK(strstr(text[0], expected));
	stop();
}

static void shows_it_once_a_second(void)
{
	start("live=live.json\n");
	work();
	rig.live.next_ns = 0;
	live_show(&rig.live, &rig, 0);
	remove("live.json");
	live_show(&rig.live, &rig, SECOND_NS - 1);
	CHECK(!*content("live.json", 0));
	live_show(&rig.live, &rig, SECOND_NS);
	CHECK(*content("live.json", 0));
	stop();
}

static void changes_no_figure(void)
{
	start("");
	for (int i = 0; i < 50; i++)
		work();
	stop();
	CHECK(strstr(content("out.json", 0), "\"complete\": true"));
	start("live=live.json\n");
	for (int i = 0; i < 50; i++) {
		rig.live.next_ns = 0;
		work();
	}
	stop();
	CHECK(!strcmp(content("out.json", 1), text[0]));
}

static void gives_up_where_it_cannot_write(void)
{
	start("live=none/live.json\n");
	work();
	rig.live.next_ns = 0;
	live_show(&rig.live, &rig, 0);
	CHECK(rig.live.failed);
	stop();
}

void test_live(void)
{
	rig_enter();
	shows_the_region_so_far();
	shows_it_once_a_second();
	changes_no_figure();
	gives_up_where_it_cannot_write();
	rig_leave();
}

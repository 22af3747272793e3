// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "machine.h"

#define MEGA		(1ULL << 20)
#define SLOW		(16 * MEGA)	/* physical address of the slow tier */
#define SECOND_NS	1000000000ULL

static char folder[] = "/tmp/kloc-live-XXXXXX";
static struct machine machine;
static struct kloc_machine_page page;
static struct counts counts;
static char text[2][1 << 20];

static void make_file(const char *name, uint64_t bytes)
{
	FILE *file = fopen(name, "w");

	CHECK(file && !ftruncate(fileno(file), (off_t)bytes));
	fclose(file);
}

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
	char config[512];

	snprintf(config, sizeof(config),
		 "output=out.json\nsample_ns=10000\n%s"
		 "tier=fast,80,80,8,8,64\ntier=slow,240,240,1,1,64\n"
		 "ram=0,0,16777216,l0,0\nram=1,16777216,16777216,l1,0\n", live);
	memset(&machine, 0, sizeof(machine));
	memset(&page, 0, sizeof(page));
	memset(&counts, 0, sizeof(counts));
	CHECK(config_parse(&machine.config, config, "test"));
	CHECK(machine_init(&machine, &page, &counts));
	machine_call(&machine, KLOC_MACHINE_BEGIN);
}

/* Promote three pages, then miss 1000 times in the slow tier. */
static void work(void)
{
	page.promoted[KLOC_MACHINE_ANON] += 3;
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t physical = SLOW + i * 4099 % 65536 * LINE_BYTES;

		counts.user++;
		machine_access_beyond(&machine, spaces_key(&machine.spaces, physical),
				      physical, false, false);
	}
	machine_read_tsc(&machine);
}

static void stop(void)
{
	machine_call(&machine, KLOC_MACHINE_END);
	machine_free(&machine);
}

static void shows_the_region_so_far(void)
{
	char expected[64];

	start("live=live.json\n");
	work();
	machine.live.next_ns = 0;
	live_show(&machine.live, &machine, 0);
	CHECK(strstr(content("live.json", 0), "\"promoted\": 3"));
	CHECK(strstr(text[0], "\"instructions\": 1000"));
	CHECK(strstr(text[0], "\"slow\": {\n   \"unknown\": 4096}"));
	snprintf(expected, sizeof(expected), "\"unknown\": %llu}}}",
		 (unsigned long long)machine.region.tier_stall_ps[1] / PS_PER_NS);
	CHECK(strstr(text[0], expected));
	stop();
}

static void shows_it_once_a_second(void)
{
	start("live=live.json\n");
	work();
	machine.live.next_ns = 0;
	live_show(&machine.live, &machine, 0);
	remove("live.json");
	live_show(&machine.live, &machine, SECOND_NS - 1);
	CHECK(!*content("live.json", 0));
	live_show(&machine.live, &machine, SECOND_NS);
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
		machine.live.next_ns = 0;
		work();
	}
	stop();
	CHECK(!strcmp(content("out.json", 1), text[0]));
}

static void gives_up_where_it_cannot_write(void)
{
	start("live=none/live.json\n");
	work();
	machine.live.next_ns = 0;
	live_show(&machine.live, &machine, 0);
	CHECK(machine.live.failed);
	stop();
}

void test_live(void)
{
	char *before = getcwd(NULL, 0);

	CHECK(before && mkdtemp(folder) && !chdir(folder));
	make_file("l0", 16 * MEGA);
	make_file("l1", 16 * MEGA);
	shows_the_region_so_far();
	shows_it_once_a_second();
	changes_no_figure();
	gives_up_where_it_cannot_write();
	remove("l0");
	remove("l1");
	remove("out.json");
	remove("live.json");
	CHECK(!chdir(before) && !rmdir(folder));
	free(before);
}

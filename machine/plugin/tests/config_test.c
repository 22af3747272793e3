// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "config.h"

#define TIERS	"tier=fast,80,90.5,7.5,7.5,64\ntier=slow,240,240,0.9375,0.5,256\n"

/* Parse text; write what config_parse() prints to stderr into message. */
static bool parse_quietly(const char *text, char *message, size_t size)
{
	struct config config;
	int saved = dup(STDERR_FILENO);
	FILE *file = tmpfile();
	bool good;

	fflush(stderr);
	dup2(fileno(file), STDERR_FILENO);
	good = config_parse(&config, text, "test.conf");
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	message[fread(message, 1, size - 1, file)] = '\0';
	fclose(file);
	config_free(&config);
	return good;
}

static void refuses(const char *text, const char *message)
{
	char printed[256], expected[256];

	CHECK(!parse_quietly(text, printed, sizeof(printed)));
	snprintf(expected, sizeof(expected), "kloc model: %s\n", message);
	if (strcmp(printed, expected))
		printf("expected %sgot      %s", expected, printed);
	CHECK(!strcmp(printed, expected));
}

static void reads_all_keys(void)
{
	struct config config;

	CHECK(config_parse(&config,
			   "# a comment\n\n"
			   "page=/p\noutput=/o=1\npages=/f\nlive=/l\nns_per_instruction=0.125\n"
			   "l1_bytes=16384\nl1_ways=4\nllc_bytes=0x80000\nllc_ways=8\n"
			   "store_stall=0.25\n" TIERS
			   "ram=0,0,0x1000000,/m0,4096\nram=1,16777216,4096,/m1,0\n"
			   "force_tier=slow\nbackground=shared\nsample_ns=1000.5\ndump=1",
			   "test.conf"));
	CHECK(!strcmp(config.page, "/p") && !strcmp(config.output, "/o=1"));
	CHECK(!strcmp(config.live, "/l"));
	CHECK(!strcmp(config.frames, "/f") && config.dump && !config.own_core);
	CHECK(config.insn_ps == 125 && config.sample_ps == 1000500);
	CHECK(config.l1_bytes == 16384 && config.l1_ways == 4);
	CHECK(config.llc_bytes == 524288 && config.llc_ways == 8);
	CHECK(config.tier_count == 2 && config.force_tier == 1);
	CHECK(!strcmp(config.tiers[0].name, "fast"));
	CHECK(config.tiers[0].load_ps == 80000 && config.tiers[0].store_ps == 22625);
	CHECK(config.tiers[0].read_unit_ps == 8533 && config.tiers[0].unit_bytes == 64);
	CHECK(config.tiers[1].read_unit_ps == 273067);
	CHECK(config.tiers[1].write_unit_ps == 512000);
	CHECK(config.range_count == 2 && config.ranges[1].tier == 1);
	CHECK(config.ranges[0].bytes == 16 << 20 && config.ranges[0].offset == 4096);
	CHECK(!strcmp(config.ranges[1].path, "/m1") && config.ranges[1].start == 16 << 20);
	config_free(&config);
}

static void has_defaults(void)
{
	struct config config;

	CHECK(config_parse(&config, TIERS, "test.conf"));
	CHECK(config.insn_ps == 250 && config.l1_bytes == 32768 && config.llc_ways == 16);
	CHECK(config.force_tier == -1 && config.own_core && !config.sample_ps);
	CHECK(config.tiers[0].store_ps == 45250);
	config_free(&config);
}

static void names_what_is_wrong(void)
{
	refuses("tire=x",
		"test.conf:1: tire: unknown key; machine/plugin/config.h lists the keys");
	refuses("\npage", "test.conf:2: page: '=' is missing; write KEY=VALUE");
	refuses("page=", "test.conf:1: page: the path is empty; name a file");
	refuses("l1_bytes=12k", "test.conf:1: l1_bytes: '12k' is not an integer; "
				"write decimal or 0x hexadecimal digits");
	refuses("l1_bytes=-1", "test.conf:1: l1_bytes: '-1' is not an integer; "
			       "write decimal or 0x hexadecimal digits");
	refuses("ns_per_instruction=1e3",
		"test.conf:1: ns_per_instruction: '1e3' is not a number; write it like 0.25");
	refuses("ns_per_instruction=0",
		"test.conf:1: ns_per_instruction: '0' is too small; write a number above 0");
	refuses("store_stall=.5",
		"test.conf:1: store_stall: '.5' is not a number; write it like 0.25");
	refuses("tier=a,1,1,1,1",
		"test.conf:1: tier: found 5 fields separated by commas, expected 6");
	refuses("tier=a,1,1,1,1,64,0",
		"test.conf:1: tier: expected 6 fields separated by commas, found more");
	refuses("tier=a,1,1,0,1,64",
		"test.conf:1: tier: '0' is too small; write a number above 0");
	refuses("tier=a,1,1,1,1,100",
		"test.conf:1: tier: unit of 100 bytes is invalid; "
		"use a power of two from 64 to 4096");
	refuses("background=off",
		"test.conf:1: background: 'off' is neither 'shared' nor 'own-core'");
	refuses("observe=yes", "test.conf:1: observe: 'yes' is neither '0' nor '1'");
	refuses("llc_ways=65",
		"test.conf:1: llc_ways: 65 ways are out of range; use 2 to 64");
	refuses("ram=0,0,100,/m,0",
		"test.conf:1: ram: start, size (not 0) and offset must be multiples of 4096 bytes");
}

static void names_what_does_not_fit_together(void)
{
	refuses("page=/p", "test.conf: tier: no tier is defined; add a tier line for each");
	refuses(TIERS "force_tier=hbm", "test.conf: force_tier: tier 'hbm' is not defined; "
					"use the name of a tier line");
	refuses(TIERS "force_tier=slow\nfast_kinds=anon",
		"test.conf: fast_kinds: cannot be combined with force_tier; remove one of the two");
	refuses(TIERS "ram=2,0,4096,/m,0",
		"test.conf: ram: tier 2 is not defined; tier lines count from 0");
	refuses(TIERS "ram=0,0,8192,/m,0\nram=1,4096,4096,/m,0",
		"test.conf: ram: two ranges overlap at 0x1000; change one");
	refuses(TIERS "llc_bytes=1000000", "test.conf: llc_bytes: 1000000 bytes in 16 ways: "
					   "bytes / 64 / ways must be a power of two");
	refuses(TIERS "l1_bytes=65536",
		"test.conf: l1_bytes: a way has more than 4096 bytes; use more ways");
	refuses(TIERS "dump=1",
		"test.conf: pages: missing, but dump=1 needs it; add pages=FILE");
}

void test_config(void)
{
	reads_all_keys();
	has_defaults();
	names_what_is_wrong();
	names_what_does_not_fit_together();
}

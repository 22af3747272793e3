// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "config.h"

#define TIERS	"tier=fast,80,90.5,7.5,7.5,64\ntier=slow,240,240,0.9375,0.5,256\n"

/* What config_parse() prints, its newline included, into message. */
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
	refuses("tire=x", "test.conf:1: tire: unknown key");
	refuses("\npage", "test.conf:2: page: '=' is missing");
	refuses("page=", "test.conf:1: page: a path is missing");
	refuses("l1_bytes=12k", "test.conf:1: l1_bytes: '12k' is not a whole number");
	refuses("l1_bytes=-1", "test.conf:1: l1_bytes: '-1' is not a whole number");
	refuses("ns_per_instruction=1e3",
		"test.conf:1: ns_per_instruction: '1e3' is not a number");
	refuses("ns_per_instruction=0",
		"test.conf:1: ns_per_instruction: '0' is too small");
	refuses("store_stall=.5", "test.conf:1: store_stall: '.5' is not a number");
	refuses("tier=a,1,1,1,1", "test.conf:1: tier: 5 fields where 6 are due");
	refuses("tier=a,1,1,1,1,64,0", "test.conf:1: tier: more than 6 fields");
	refuses("tier=a,1,1,0,1,64", "test.conf:1: tier: '0' is too small");
	refuses("tier=a,1,1,1,1,100",
		"test.conf:1: tier: unit of 100 bytes is not a power of two from 64 to 4096");
	refuses("background=off",
		"test.conf:1: background: 'off' is neither 'shared' nor 'own-core'");
	refuses("observe=yes", "test.conf:1: observe: 'yes' is neither '0' nor '1'");
	refuses("llc_ways=65", "test.conf:1: llc_ways: 65 ways are not 2 to 64");
	refuses("ram=0,0,100,/m,0",
		"test.conf:1: ram: a range is made of whole 4096-byte frames");
}

static void names_what_does_not_fit_together(void)
{
	refuses("page=/p", "test.conf: tier: there is none");
	refuses(TIERS "force_tier=hbm", "test.conf: force_tier: there is no tier 'hbm'");
	refuses(TIERS "force_tier=slow\nfast_kinds=anon",
		"test.conf: fast_kinds: force_tier says how all pages are timed");
	refuses(TIERS "ram=2,0,4096,/m,0", "test.conf: ram: there is no tier 2");
	refuses(TIERS "ram=0,0,8192,/m,0\nram=1,4096,4096,/m,0",
		"test.conf: ram: two ranges overlap at 0x1000");
	refuses(TIERS "llc_bytes=1000000",
		"test.conf: llc_bytes: 1000000 bytes in 16 ways are not a power of two of sets");
	refuses(TIERS "l1_bytes=65536", "test.conf: l1_bytes: more than 4096 bytes a way");
	refuses(TIERS "dump=1", "test.conf: pages: missing, but dump=1 asks for that file");
}

void test_config(void)
{
	reads_all_keys();
	has_defaults();
	names_what_is_wrong();
	names_what_does_not_fit_together();
}

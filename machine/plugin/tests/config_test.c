// SPDX-License-Identifier: GPL-2.0
/*
 * The configuration's values are read exactly, and errors name line and key.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "config.h"

#define TIERS	"tier=fast,80,7.5,7.5,64\ntier=slow,240,0.9375,0.5,256\n"

/* Parse text; put the message that config_parse() prints to stderr into message. */
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
			   "output=/o=1\npages=/f\nlive=/l\nprogress=/q\nns_per_instruction=0.125\n"
			   "l1_bytes=16384\nl1_ways=4\nllc_bytes=0x80000\nllc_ways=8\n"
			   "cores=5\nllc_ns=20\nsnoop_ns=50.5\noutstanding=12\n"
			   "window=512\nstore_buffer=9\nprefetch=30\ntlb=32,4\n"
			   "tlb_huge=16,4\nstlb=1024,8\nstlb_ns=3\n" TIERS
			   "loaded=slow,0:1,0.5:1.5,1:4\n"
			   "ram=0,0,0x1000000,/m0,4096\nram=1,16777216,4096,/m1,0\n"
			   "force_tier=slow\nfast_frames=/ff\nsample_ns=1000.5\ndump=1",
			   "test.conf"));
	CHECK(!strcmp(config.output, "/o=1") && !strcmp(config.live, "/l"));
	CHECK(!strcmp(config.progress, "/q") && !strcmp(config.fast_frames, "/ff"));
	CHECK(!strcmp(config.frames, "/f") && config.dump && !config.observe);
	CHECK(config.cores == 5 && config.llc_ps == 20000 && config.snoop_ps == 50500);
	CHECK(config.overlap.outstanding == 12 && config.overlap.window == 512);
	CHECK(config.overlap.store_buffer == 9 && config.overlap.prefetch == 30);
	CHECK(config.overlap.insn_ps == 125 && config.stlb_ps == 3000);
	CHECK(config.tlb.small.entries == 32 && config.tlb.huge.ways == 4);
	CHECK(config.tlb.second.entries == 1024 && config.tlb.second.ways == 8);
	CHECK(config.tiers[0].point_count == 0 && config.tiers[1].point_count == 3);
	CHECK(config.tiers[1].points[1].utilisation == LOADED_ONE / 2);
	CHECK(config.tiers[1].points[2].factor == 4 * LOADED_ONE);
	CHECK(config.insn_ps == 125 && config.sample_ps == 1000500);
	CHECK(config.l1_bytes == 16384 && config.l1_ways == 4);
	CHECK(config.llc_bytes == 524288 && config.llc_ways == 8);
	CHECK(config.tier_count == 2 && config.force_tier == 1);
	CHECK(!strcmp(config.tiers[0].name, "fast"));
	CHECK(config.tiers[0].read_ps == 80000 && config.tiers[1].read_ps == 240000);
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
	CHECK(config.force_tier == -1 && config.cores == 1 && !config.sample_ps);
	CHECK(config.overlap.outstanding == 10 && config.overlap.window == 224);
	CHECK(config.tlb.second.entries == 1536 && config.tlb.second.ways == 12);
	CHECK(config.llc_ps == 0 && config.tiers[0].point_count == 0);
	CHECK(config.sockets == 1 && !config.link.unit_bytes);
	config_free(&config);
}

static void reads_sockets(void)
{
	struct config config;

	CHECK(config_parse(&config, TIERS "cores=4\nsockets=2\nremote=68.5,32\n"
			   "remote_loaded=0:1,0.5:2\n"
			   "ram=0,0,4096,/m,0\nram=0,4096,4096,/m,4096,1\n", "test.conf"));
	CHECK(config.sockets == 2 && config.link.read_ps == 68500);
	CHECK(config.link.read_unit_ps == 2000 && config.link.write_unit_ps == 2000);
	CHECK(config.link.point_count == 2 && config.link.points[1].factor == 2 * LOADED_ONE);
	CHECK(config.ranges[0].socket == 0 && config.ranges[1].socket == 1);
	config_free(&config);
}

static void names_what_is_wrong(void)
{
	refuses("tire=x",
		"test.conf:1: tire: unknown key; machine/plugin/config.h lists the keys");
	refuses("\npages", "test.conf:2: pages: '=' is missing; write KEY=VALUE");
	refuses("pages=", "test.conf:1: pages: the path is empty; name a file");
	refuses("l1_bytes=12k", "test.conf:1: l1_bytes: '12k' is not an integer; "
				"write decimal or 0x hexadecimal digits");
	refuses("l1_bytes=-1", "test.conf:1: l1_bytes: '-1' is not an integer; "
			       "write decimal or 0x hexadecimal digits");
	refuses("ns_per_instruction=1e3",
		"test.conf:1: ns_per_instruction: '1e3' is not a number; write it like 0.25");
	refuses("ns_per_instruction=0",
		"test.conf:1: ns_per_instruction: '0' is too small; write a number above 0");
	refuses("llc_ns=.5", "test.conf:1: llc_ns: '.5' is not a number; write it like 0.25");
	refuses("cores=9", "test.conf:1: cores: 9 is out of range; use 1 to 8");
	refuses("outstanding=0", "test.conf:1: outstanding: 0 is out of range; use 1 to 32");
	refuses("prefetch=65", "test.conf:1: prefetch: 65 is out of range; use 1 to 64");
	refuses("store_buffer=0", "test.conf:1: store_buffer: 0 is out of range; use 1 to 32");
	refuses("stlb=1000,8", "test.conf:1: stlb: 1000 entries in 8 ways: entries / ways must be "
			       "a power of two, with 1 to 64 ways");
	refuses("tlb=64", "test.conf:1: tlb: found 1 fields separated by commas, expected 2");
	refuses("loaded=slow,0:1",
		"test.conf:1: loaded: tier 'slow' is not defined above this line");
	refuses("tier=a,1,1,1,64\nloaded=a,0.5",
		"test.conf:2: loaded: '0.5' is not a point; write UTILISATION:FACTOR");
	refuses("tier=a,1,1,1,64\nloaded=a,0:1,0.5:2,0.5:3",
		"test.conf:2: loaded: 0.5:3 is invalid; begin with 0:1, let utilisation rise to "
		"at most 1, and let factors be 1 or more");
	refuses("tier=a,1,1,1",
		"test.conf:1: tier: found 4 fields separated by commas, expected 5");
	refuses("tier=a,1,1,1,64,0",
		"test.conf:1: tier: expected 5 fields separated by commas, found more");
	refuses("tier=a,1,1,0,64",
		"test.conf:1: tier: '0' is too small; write a number above 0");
	refuses("tier=a,1,1,1,100",
		"test.conf:1: tier: unit of 100 bytes is invalid; "
		"use a power of two from 64 to 4096");
	refuses("observe=yes", "test.conf:1: observe: 'yes' is neither '0' nor '1'");
	refuses("llc_ways=65",
		"test.conf:1: llc_ways: 65 ways are out of range; use 2 to 64");
	refuses("ram=0,0,100,/m,0",
		"test.conf:1: ram: start, size (not 0) and offset must be multiples of 4096 bytes");
	refuses("sockets=3", "test.conf:1: sockets: 3 is out of range; use 1 to 2");
	refuses("remote=68", "test.conf:1: remote: found 1 fields separated by commas, expected 2");
	refuses("remote=68,0", "test.conf:1: remote: '0' is too small; write a number above 0");
	refuses("ram=0,0,4096,/m,0,2", "test.conf:1: ram: socket 2 is out of range; "
				       "sockets count from 0, and there are 2 at most");
}

static void names_what_does_not_fit_together(void)
{
	refuses("pages=/p", "test.conf: tier: no tier is defined; add a tier line for each");
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
	refuses(TIERS "sockets=2\ncores=5\nremote=1,1",
		"test.conf: sockets: 5 cores cannot be divided among 2 sockets; change one");
	refuses(TIERS "sockets=2\ncores=4",
		"test.conf: remote: missing, but sockets=2 needs it; add remote=NS,BYTES_PER_NS");
	refuses(TIERS "remote=1,1",
		"test.conf: remote: there is one socket; remove the keys, or add sockets=2");
	refuses(TIERS "ram=0,0,4096,/m,0,1",
		"test.conf: ram: socket 1 does not exist; sockets count from 0, and sockets=1");
}

void test_config(void)
{
	reads_all_keys();
	has_defaults();
	reads_sockets();
	names_what_is_wrong();
	names_what_does_not_fit_together();
}

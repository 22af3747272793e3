// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "machine.h"

#define MEGA		(1ULL << 20)
#define SLOW		(16 * MEGA)	/* physical address of the slow tier */

static char folder[] = "/tmp/kloc-model-XXXXXX";
static struct machine machine;
static struct kloc_machine_page page;
static struct counts counts;

static void make_file(const char *name, uint64_t bytes)
{
	FILE *file = fopen(name, "w");

	CHECK(file && !ftruncate(fileno(file), (off_t)bytes));
	fclose(file);
}

static void start(const char *more)
{
	char text[1024];

	make_file("m0", 16 * MEGA);
	make_file("m1", 64 * MEGA);
	snprintf(text, sizeof(text),
		 "output=out.json\npages=frames\n"
		 "tier=fast,80,80,8,8,64\ntier=slow,240,240,1,1,64\n"
		 "ram=0,0,16777216,m0,0\nram=1,16777216,67108864,m1,0\n%s", more);
	memset(&machine, 0, sizeof(machine));
	memset(&page, 0, sizeof(page));
	memset(&counts, 0, sizeof(counts));
	CHECK(config_parse(&machine.config, text, "test"));
	CHECK(machine_init(&machine, &page, &counts));
	CHECK(page.magic == KLOC_MACHINE_MAGIC && page.version == KLOC_MACHINE_VERSION);
}

static void stop(void)
{
	for (unsigned int i = 0; i < machine.ram.count; i++)
		CHECK(machine.ram.ranges[i].bytes != NULL);
	machine_free(&machine);
}

/* Make a call of the guest, with its clocks as they are (it never idled). */
static void call(unsigned int number)
{
	machine_read_tsc(&machine);
	page.tsc = counts.user + counts.kernel;
	page.monotonic = page.tsc + (uint64_t)page.offset;
	machine_call(&machine, number);
}

/* One instruction in user mode that accesses memory; virtual = physical address. */
static void touch(uint64_t physical, bool store)
{
	uint64_t key = spaces_key(&machine.spaces, physical);

	counts.user++;
	if (!machine_access_l1(&machine, key, store))
		machine_access_beyond(&machine, key, physical, store, false);
	if (machine.config.observe)
		machine_observe(&machine, key, physical, store);
}

static uint64_t elapsed_ps(void)
{
	return clock_now_ps(&machine.region.end.clock) -
	       clock_now_ps(&machine.region.begin.clock);
}

static bool within_per_cent(uint64_t value, uint64_t expected)
{
	uint64_t error = value > expected ? value - expected : expected - value;

	return error * 100 <= expected;
}

/* Access lines in an order that is no stream. */
static void chase(uint64_t from, uint64_t lines)
{
	for (uint64_t i = 0; i < lines; i++)
		touch(from + i * 4099 % lines * LINE_BYTES, false);
}

static void chase_has_the_latency(uint64_t from, uint64_t latency_ns)
{
	uint64_t lines = 8 * MEGA / LINE_BYTES;

	start("");
	call(KLOC_MACHINE_BEGIN);
	chase(from, lines);
	call(KLOC_MACHINE_END);
	CHECK(within_per_cent(elapsed_ps(), lines * (latency_ns * PS_PER_NS + 250)));
	stop();
}

static void stream_has_the_bandwidth(uint64_t from, uint64_t bytes_per_ns, bool store)
{
	uint64_t bytes = 8 * MEGA;

	start("");
	call(KLOC_MACHINE_BEGIN);
	for (uint64_t at = 0; at < bytes; at += 8)
		touch(from + at, store);
	call(KLOC_MACHINE_END);
	/* Written lines were read first, and all but the cached ones are written back. */
	if (store)
		CHECK(machine.tiers[from ? 1 : 0].bytes[TRANSFER_WRITE] >= bytes - 2 * MEGA);
	CHECK(within_per_cent(elapsed_ps(), (bytes + (store ? bytes - MEGA : 0)) *
						     PS_PER_NS / bytes_per_ns));
	stop();
}

static void small_set_does_not_stall(void)
{
	start("");
	call(KLOC_MACHINE_BEGIN);
	chase(SLOW, 4096);
	call(KLOC_MACHINE_END);
	call(KLOC_MACHINE_BEGIN);
	chase(SLOW, 4096);
	call(KLOC_MACHINE_END);
	CHECK(machine.region.llc_misses == 4096);	/* BEGIN empties the caches */
	call(KLOC_MACHINE_BEGIN);
	for (int i = 0; i < 100; i++)
		chase(SLOW, 4096);
	call(KLOC_MACHINE_END);
	CHECK(machine.region.llc_misses == 4096);
	stop();
}

static void late_write_backs_take_bandwidth(void)
{
	uint64_t lines = MEGA / LINE_BYTES;

	start("");
	call(KLOC_MACHINE_BEGIN);
	for (uint64_t i = 0; i < lines; i++)
		touch(SLOW + i * LINE_BYTES, true);
	counts.user += 400000000;			/* 100 ms without an access */
	chase(0, 8 * lines);
	CHECK(machine.tiers[1].bytes[TRANSFER_WRITE] == MEGA);
	CHECK(machine.tiers[1].ledger.lost_ps == 0);
	stop();
}

static void force_tier_times_all_as_one(void)
{
	uint64_t lines = 4 * MEGA / LINE_BYTES;

	start("force_tier=fast\n");
	call(KLOC_MACHINE_BEGIN);
	chase(SLOW, lines);
	call(KLOC_MACHINE_END);
	CHECK(within_per_cent(elapsed_ps(), lines * 80250));
	CHECK(machine.region.misses[0][KIND_UNKNOWN][0] == lines);
	CHECK(machine.tiers[1].bytes[TRANSFER_READ] == 0);
	stop();
}

/* Write to the first range's file: the model maps it read-only. */
static void poke(uint64_t at, const void *bytes, size_t count)
{
	FILE *file = fopen("m0", "r+");

	CHECK(file && !fseek(file, (long)at, SEEK_SET));
	CHECK(fwrite(bytes, count, 1, file) == 1 && !fclose(file));
}

/* Describe a memmap of 64 bytes a frame, from frame 1 on; virtual = physical address. */
static void describe_pages(void)
{
	page.layout = (struct kloc_machine_layout){
		.page_size = 64, .page_head = 8, .page_mapping = 24, .page_index = 32,
		.page_private = 40, .page_type = 48, .type_slab = 0xf5,
		.memmap_base = FRAME_BYTES, .memmap = { FRAME_BYTES },
	};
	call(KLOC_MACHINE_LAYOUT);
}

static void write_page(uint64_t frame, uint64_t mapping, uint32_t references)
{
	uint64_t words[8] = { 0 };

	words[3] = mapping;
	words[6] = 0xffffffff | (uint64_t)references << 32;
	poke(FRAME_BYTES + frame * sizeof(words), words, sizeof(words));
}

/* Write to a page, free it, and have it written back: all of it counts for tier. */
static void place_by_kind(const char *kinds, uint64_t mapping, unsigned int tier)
{
	uint64_t lines = FRAME_BYTES / LINE_BYTES;
	char text[64];

	snprintf(text, sizeof(text), "fast_kinds=%s\n", kinds);
	start(text);
	describe_pages();
	write_page(512, mapping, 1);
	call(KLOC_MACHINE_BEGIN);
	for (uint64_t i = 0; i < lines; i++)
		touch(512 * FRAME_BYTES + i * 37 % lines * LINE_BYTES, true);
	CHECK(machine.region.tier_stall_ps[tier] >= lines * (tier ? 120 : 40) * PS_PER_NS);
	CHECK(machine.region.tier_stall_ps[!tier] == 0);
	write_page(512, 0, 0);
	chase(4 * MEGA, 8 * MEGA / LINE_BYTES);
	CHECK(machine.tiers[tier].bytes[TRANSFER_WRITE] == FRAME_BYTES);
	CHECK(machine.tiers[!tier].bytes[TRANSFER_WRITE] == 0);
	stop();
}

static void pages_are_placed_by_kind(void)
{
	const uint64_t anon = 0xffff888000000001;

	place_by_kind("anon", anon, 0);
	place_by_kind("shmem,slab:*", anon, 1);
	place_by_kind("", anon, 1);
	place_by_kind("other", 0, 0);
}

static void unknown_kinds_are_refused(void)
{
	struct placement placement;

	CHECK(placement_init(&placement, "anon,slab:dentry", 2, 1));
	placement_free(&placement);
	CHECK(!placement_init(&placement, "anon,pagecache", 2, 1));
	placement_free(&placement);
	CHECK(!placement_init(&placement, "anon,", 2, 1));
	placement_free(&placement);
	CHECK(!placement_init(&placement, "slab:", 2, 1));
	placement_free(&placement);
}

/* Run a region with some of everything. Return its report, which the caller frees. */
static char *busy_region(const char *more)
{
	char *report;

	start(more);
	describe_pages();
	call(KLOC_MACHINE_BEGIN);
	write_page(512, 0xffff888000000001, 1);
	touch(FRAME_BYTES + 512 * 64, true);
	chase(SLOW, 3000);
	for (int i = 0; i < 1000; i++)
		touch(512 * FRAME_BYTES + (uint64_t)i * 8, i % 3 == 0);
	page.slot = 5;
	call(KLOC_MACHINE_SWITCH);
	chase(SLOW + MEGA, 500);
	page.slot = 0;
	call(KLOC_MACHINE_SWITCH);
	page.dma_bytes_per_us = 500;
	call(KLOC_MACHINE_DMA_BEGIN);
	touch(SLOW, true);
	call(KLOC_MACHINE_DMA_END);
	touch(1ULL << 40, false);
	call(KLOC_MACHINE_END);
	report = strdup(machine.reports);
	CHECK(report != NULL);
	return report;
}

static void observing_changes_nothing(void)
{
	char *plain = busy_region(""), *observed, *objects;

	stop();
	observed = busy_region("observe=1\n");
	objects = strstr(observed, ",\n  \"objects\"");
	CHECK(objects && !strstr(plain, "objects"));
	CHECK(!strncmp(plain, observed, (size_t)(objects - observed)));
	CHECK((size_t)(objects - observed) + 1 == strlen(plain));
	free(plain);
	free(observed);
	stop();
}

static void what_the_core_refers_to_is_observed(void)
{
	const struct use *anon;
	uint64_t references = 0, misses = 0;

	free(busy_region("observe=1\n"));
	anon = &machine.observer.uses[KIND_ANON];
	CHECK(anon->allocated == 1 && anon->references == FRAME_BYTES / 8);
	for (unsigned int kind = 0; kind < KIND_SLAB; kind++) {
		references += machine.observer.uses[kind].references;
		misses += machine.observer.uses[kind].misses;
	}
	/* Without those of background, of the device, and of device memory. */
	CHECK(references == 4001);
	CHECK(misses == machine.region.llc_misses - 500);
	stop();
}

static void background_does_not_stop_the_workload(void)
{
	start("");
	call(KLOC_MACHINE_BEGIN);
	page.slot = 5;
	strcpy(page.slots[5].comm, "kswapd0");
	call(KLOC_MACHINE_SWITCH);
	chase(SLOW, 4096);
	page.slot = 0;
	call(KLOC_MACHINE_SWITCH);
	call(KLOC_MACHINE_END);
	CHECK(elapsed_ps() == 0);
	CHECK(machine.region.tier_stall_ps[1] == 0);
	CHECK(machine.clock.background.threads[5].stall_ps >= 4096 * 240000);
	CHECK(machine.tiers[1].bytes[TRANSFER_READ] == 4096 * LINE_BYTES);
	CHECK(page.background >= 4096 * 240 && page.own_core);
	stop();
}

static void device_takes_bandwidth_and_no_time(void)
{
	start("");
	call(KLOC_MACHINE_BEGIN);
	touch(SLOW, true);
	page.dma_bytes_per_us = 500;
	call(KLOC_MACHINE_DMA_BEGIN);
	for (uint64_t at = 0; at < 4096; at += 8)
		touch(SLOW + at, true);
	call(KLOC_MACHINE_DMA_END);
	CHECK(machine.tiers[1].bytes[TRANSFER_DMA_WRITE] == 4096);
	CHECK(clock_now_ps(&machine.clock) == 120000 + 250);
	/* The device needs 128 ns a line, and half of the tier's 1 byte/ns suffices. */
	CHECK(machine.clock.device_ps < (120 + 64 * 128 + 300) * PS_PER_NS);
	CHECK(machine.clock.device_ps >= (120 + 64 * 128) * PS_PER_NS);
	/* The line that the core had written was dropped, not written back. */
	touch(SLOW, false);
	CHECK(machine.region.llc_misses == 2);
	CHECK(machine.tiers[1].bytes[TRANSFER_WRITE] == 0);
	stop();
}

static void device_memory_is_no_memory(void)
{
	start("");
	call(KLOC_MACHINE_BEGIN);
	touch(1ULL << 40, false);
	CHECK(machine.region.l1_misses == 0);
	stop();
}

static void spaces_are_kept_apart(void)
{
	start("");
	call(KLOC_MACHINE_BEGIN);
	page.mm = 7;
	call(KLOC_MACHINE_SWITCH);
	touch(SLOW, false);
	page.mm = 8;
	call(KLOC_MACHINE_SWITCH);
	touch(SLOW, false);
	CHECK(machine.region.l1_misses == 2);
	CHECK(machine.region.llc_misses == 1);
	page.mm = 7;
	call(KLOC_MACHINE_SWITCH);
	touch(SLOW, false);
	CHECK(machine.region.l1_misses == 2);
	stop();
}

static char *read_output(void)
{
	static char text[1 << 20];
	FILE *file = fopen("out.json", "r");

	CHECK(file != NULL);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

static void begin_twice_and_end_alone(void)
{
	start("");
	call(KLOC_MACHINE_END);
	call(KLOC_MACHINE_BEGIN);
	chase(0, 100);
	call(KLOC_MACHINE_BEGIN);
	CHECK(strstr(read_output(), "\"complete\": false"));
	call(KLOC_MACHINE_END);
	CHECK(strstr(read_output(), "\"complete\": true"));
	stop();
}

static void end_of_qemu_leaves_a_file(void)
{
	remove("out.json");
	start("");
	machine_finish(&machine);
	CHECK(strstr(read_output(), "\"complete\": false"));
	CHECK(strstr(read_output(), "\"regions\": []"));
	stop();
	start("");
	call(KLOC_MACHINE_BEGIN);
	chase(SLOW, 100);
	machine_finish(&machine);
	CHECK(strstr(read_output(), "\"complete\": false"));
	CHECK(strstr(read_output(), "\"llc_misses\": 100"));
	stop();
}

static void series_thins_out(void)
{
	start("sample_ns=1000\n");
	call(KLOC_MACHINE_BEGIN);
	for (int i = 0; i < 20; i++)
		chase(SLOW, MEGA / LINE_BYTES);	/* 5 ms in total */
	call(KLOC_MACHINE_END);
	CHECK(machine.region.sample_count <= SAMPLES_MAX);
	CHECK(machine.region.sample_count > SAMPLES_MAX / 4);
	for (unsigned int i = 1; i < machine.region.sample_count; i++)
		CHECK(machine.region.samples[i].t_ps >= machine.region.samples[i - 1].t_ps);
	stop();
}

static void moved_pages_have_reasons(void)
{
	const char *text;

	start("sample_ns=1000\n");
	page.promoted_by[KLOC_MACHINE_HINT_FAULT] = 100;	/* before the region */
	page.demoted_by[KLOC_MACHINE_DAMON] = 100;
	call(KLOC_MACHINE_BEGIN);
	page.promoted_by[KLOC_MACHINE_HINT_FAULT] += 3;
	page.demoted_by[KLOC_MACHINE_DEMOTION] += 5;
	chase(SLOW, 4);
	call(KLOC_MACHINE_END);
	text = read_output();
	CHECK(strstr(text, "\"hint_fault\": 3}"));
	CHECK(strstr(text, "\"demotion\": 5}}"));
	CHECK(!strstr(text, "damon"));
	text = strstr(text, "\"series\"");
	CHECK(strstr(text, "\"hint_fault\": ["));
	CHECK(machine.region.samples[machine.region.sample_count - 1]
		      .demoted_by[KLOC_MACHINE_DEMOTION] == 5);
	stop();
}

static void frames_say_what_fast_memory_would_save(void)
{
	uint64_t lines = 4 * MEGA / LINE_BYTES, number = 16 * MEGA >> FRAME_SHIFT;
	struct frame *frames = calloc(80 * MEGA >> FRAME_SHIFT, sizeof(*frames));
	FILE *file;

	start("dump=1\nforce_tier=slow\n");
	call(KLOC_MACHINE_START);
	call(KLOC_MACHINE_BEGIN);
	chase(SLOW, lines);
	call(KLOC_MACHINE_END);
	stop();
	file = fopen("frames", "r");
	CHECK(file && frames);
	CHECK(fread(frames, sizeof(*frames), 80 * MEGA >> FRAME_SHIFT, file) ==
	      80 * MEGA >> FRAME_SHIFT);
	fclose(file);
	CHECK(frames[0].flags == (FRAME_IN_USE | FRAME_FAST) && !frames[0].misses);
	CHECK(frames[number].flags == FRAME_IN_USE && frames[number].misses == 64);
	CHECK(frames[number].saved_ns > 63.5 * 160 && frames[number].saved_ns < 64.5 * 160);
	free(frames);
}

void test_machine(void)
{
	char *before = getcwd(NULL, 0);

	CHECK(before && mkdtemp(folder) && !chdir(folder));
	chase_has_the_latency(0, 80);
	chase_has_the_latency(SLOW, 240);
	stream_has_the_bandwidth(0, 8, false);
	stream_has_the_bandwidth(SLOW, 1, false);
	stream_has_the_bandwidth(0, 8, true);
	stream_has_the_bandwidth(SLOW, 1, true);
	small_set_does_not_stall();
	late_write_backs_take_bandwidth();
	force_tier_times_all_as_one();
	pages_are_placed_by_kind();
	unknown_kinds_are_refused();
	observing_changes_nothing();
	what_the_core_refers_to_is_observed();
	background_does_not_stop_the_workload();
	device_takes_bandwidth_and_no_time();
	device_memory_is_no_memory();
	spaces_are_kept_apart();
	begin_twice_and_end_alone();
	end_of_qemu_leaves_a_file();
	series_thins_out();
	moved_pages_have_reasons();
	frames_say_what_fast_memory_would_save();
	remove("m0");
	remove("m1");
	remove("out.json");
	remove("frames");
	CHECK(!chdir(before) && !rmdir(folder));
	free(before);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The machine as a whole: known programs on known memory take the time that they must, and
 * the report says why.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "rig.h"

#define ANON	0xffff888000000001ULL

static bool within_per_cent(uint64_t value, uint64_t expected, uint64_t per_cent)
{
	uint64_t error = value > expected ? value - expected : expected - value;

	if (error * 100 > expected * per_cent)
		printf("%llu, expected %llu\n", (unsigned long long)value,
		       (unsigned long long)expected);
	return error * 100 <= expected * per_cent;
}

static void a_list_has_the_latency(uint64_t from, uint64_t latency_ns)
{
	uint64_t lines = 8 * MEGA / LINE_BYTES;

	rig_start("");
	rig_call(KLOC_MACHINE_BEGIN);
	rig_chase(from, lines);
	rig_call(KLOC_MACHINE_END);
	CHECK(within_per_cent(rig_elapsed_ps(), lines * latency_ns * PS_PER_NS, 1));
	CHECK(rig.region.waits_ps[OVERLAP_VALUE] * 100 > rig_elapsed_ps() * 98);
	rig_stop();
}

static void independent_misses_overlap(unsigned int outstanding)
{
	uint64_t lines = 4 * MEGA / LINE_BYTES;
	char more[64];

	snprintf(more, sizeof(more), "outstanding=%u\nwindow=1000000\n", outstanding);
	rig_start(more);
	rig_call(KLOC_MACHINE_BEGIN);
	rig_scatter(0, lines);
	rig_call(KLOC_MACHINE_END);
	CHECK(within_per_cent(rig_elapsed_ps(), lines * 80 * PS_PER_NS / outstanding, 2));
	rig_stop();
}

static void a_stream_has_the_bandwidth(uint64_t from, uint64_t bytes_per_ns, bool store)
{
	uint64_t bytes = 8 * MEGA;

	rig_start("");
	rig_call(KLOC_MACHINE_BEGIN);
	for (uint64_t at = 0; at < bytes; at += 8)
		rig_touch(from + at, store);
	rig_call(KLOC_MACHINE_END);
	/* Written lines were read first, and all but the cached ones are written back. */
	if (store)
		CHECK(rig.tiers[0][from ? 1 : 0].bytes[TRANSFER_WRITE] >= bytes - 2 * MEGA);
	CHECK(within_per_cent(rig_elapsed_ps(), (bytes + (store ? bytes - MEGA : 0)) *
						PS_PER_NS / bytes_per_ns, 2));
	rig_stop();
}

static void a_warm_up_leaves_its_lines(void)
{
	rig_start("");
	rig_call(KLOC_MACHINE_WARM);
	CHECK(!strcmp(rig.region.name, "warm-up"));
	rig_scatter(RIG_SLOW, 4096);
	rig_call(KLOC_MACHINE_BEGIN);
	CHECK(!strcmp(rig.region.name, "measured"));
	for (int i = 0; i < 10; i++)
		rig_scatter(RIG_SLOW, 4096);
	rig_call(KLOC_MACHINE_END);
	CHECK(rig.region.llc_misses == 0);
	CHECK(strstr(rig_output(), "\"name\": \"warm-up\""));
	/* A region that follows no warm-up finds empty caches. */
	rig_call(KLOC_MACHINE_BEGIN);
	rig_scatter(RIG_SLOW, 4096);
	rig_call(KLOC_MACHINE_END);
	CHECK(rig.region.llc_misses == 4096);
	rig_stop();
}

static void a_hit_in_the_last_level_has_its_latency(void)
{
	rig_start("llc_ns=20\n");
	rig_call(KLOC_MACHINE_WARM);
	rig_chase(RIG_SLOW, 4096);
	rig_call(KLOC_MACHINE_BEGIN);
	rig_chase(RIG_SLOW, 4096);
	rig_call(KLOC_MACHINE_END);
	CHECK(within_per_cent(rig_elapsed_ps(), 4096 * 20 * PS_PER_NS, 2));
	CHECK(rig.region.tier_stall_ps[0] + rig.region.tier_stall_ps[1] <= 240 * PS_PER_NS);
	CHECK(rig.region.tier_stall_ps[TIER_CACHE] > 4000 * 20 * PS_PER_NS);
	CHECK(strstr(rig_output(), "\"cache\""));
	rig_stop();
}

static void late_write_backs_take_bandwidth(void)
{
	uint64_t lines = MEGA / LINE_BYTES;

	rig_start("");
	rig_call(KLOC_MACHINE_BEGIN);
	for (uint64_t i = 0; i < lines; i++)
		rig_touch(RIG_SLOW + i * LINE_BYTES, true);
	rig_now_ps[0] += 100000000000;			/* 100 ms without an access */
	rig_scatter(0, 8 * lines);
	CHECK(rig.tiers[0][1].bytes[TRANSFER_WRITE] == MEGA);
	CHECK(rig.tiers[0][1].ledger.lost_ps == 0);
	rig_stop();
}

static void force_tier_times_all_as_one(void)
{
	uint64_t lines = 4 * MEGA / LINE_BYTES;

	rig_start("force_tier=fast\n");
	rig_call(KLOC_MACHINE_BEGIN);
	rig_chase(RIG_SLOW, lines);
	rig_call(KLOC_MACHINE_END);
	CHECK(within_per_cent(rig_elapsed_ps(), lines * 80 * PS_PER_NS, 1));
	CHECK(rig.region.misses[0][KIND_UNKNOWN][0] == lines);
	CHECK(rig.tiers[0][1].bytes[TRANSFER_READ] == 0);
	rig_stop();
}

static void stores_take_lines_from_other_cores(void)
{
	rig_start("cores=2\nllc_ns=20\nsnoop_ns=50\n");
	rig_call(KLOC_MACHINE_BEGIN);
	rig_access(0, 0, 0, false);
	rig_access(1, 0, 0, false);
	CHECK(rig.region.l1_misses == 2 && rig.region.snoops == 0);
	rig_access(0, 0, 0, true);		/* a hit, and core 1 loses the line */
	CHECK(rig.region.l1_misses == 2);
	rig_access(1, 0, 0, false);		/* comes from core 0's L1 */
	CHECK(rig.region.l1_misses == 3 && rig.region.snoops == 1);
	rig_access(0, 0, 0, false);		/* still there, clean now */
	CHECK(rig.region.l1_misses == 3);
	rig_access(1, 0, 0, true);
	rig_access(0, 0, 0, true);		/* a store misses it, too */
	CHECK(rig.region.l1_misses == 4 && rig.region.snoops == 2);
	CHECK(rig.region.llc_misses == 1);
	rig_stop();
}

static void a_line_from_another_core_has_its_latency(void)
{
	rig_start("cores=2\nllc_ns=20\nsnoop_ns=50\n");
	*rig_word(0) = LINE_BYTES * 7;
	rig_call(KLOC_MACHINE_BEGIN);
	rig_access(0, 0, 0, true);
	rig_now_ps[1] = rig_now_ps[0] + 1000 * PS_PER_NS;
	rig_access(1, 0, 0, false);
	rig_access(1, LINE_BYTES * 7, LINE_BYTES * 7, false);	/* waits for the first */
	CHECK(rig_now_ps[1] - rig_now_ps[0] == 1050 * PS_PER_NS + rig.config.insn_ps);
	rig_stop();
}

static void stalls_of_cores_are_those_of_tiers(void)
{
	uint64_t cores = 0, tiers = 0;

	rig_start("cores=3\nllc_ns=20\nsnoop_ns=50\n");
	rig_call(KLOC_MACHINE_WARM);
	for (uint64_t i = 0; i < 30000; i++)
		rig_access(i % 3, 0, i * 4099 % 9000 * LINE_BYTES * (1 + i % 2), i % 5 == 0);
	rig_call(KLOC_MACHINE_BEGIN);
	for (uint64_t i = 0; i < 30000; i++)
		rig_access(i % 3, i % 3000 * 64, RIG_SLOW + i * 4099 % 9000 * LINE_BYTES,
			   i % 5 == 0);
	rig_call(KLOC_MACHINE_END);
	for (unsigned int i = 0; i < 3; i++)
		cores += rig.region.end.cores[i].stall_ps - rig.region.begin.cores[i].stall_ps;
	for (unsigned int tier = 0; tier <= TIER_CACHE; tier++)
		tiers += rig.region.tier_stall_ps[tier];
	CHECK(cores > 0 && cores == tiers);
	rig_stop();
}

/* A store whose address is under way asks late; that wait counts for the store's own tier. */
static void a_late_store_counts_for_its_tier(void)
{
	rig_start("store_buffer=1\n");
	*rig_word(RIG_SLOW) = RIG_SLOW + MEGA;
	rig_call(KLOC_MACHINE_BEGIN);
	rig_touch(RIG_SLOW, false);
	rig_touch(RIG_SLOW + MEGA, true);	/* its address is in the line before */
	rig_touch(RIG_SLOW + 2 * MEGA, true);	/* waits for a place in the buffer */
	rig_call(KLOC_MACHINE_END);
	CHECK(rig.region.waits_ps[OVERLAP_STORE] > 400 * PS_PER_NS);
	CHECK(rig.region.tier_stall_ps[0] == 0);
	CHECK(rig.region.tier_stall_ps[1] > 400 * PS_PER_NS);
	rig_stop();
}

static void walks_are_seen(void)
{
	const uint64_t address = 0x7f1234567000, physical = RIG_SLOW + 0x5000;
	uint64_t *entry, first_ps;

	rig_start("llc_ns=20\n");
	entry = rig_map(16 * FRAME_BYTES, address, physical);
	rig_call(KLOC_MACHINE_BEGIN);
	paging_set_root(&rig, 0, 16 * FRAME_BYTES);
	rig_access(0, address, physical, false);
	CHECK(rig.region.walks == 1 && rig.region.walk_ps >= 4 * 80 * PS_PER_NS);
	CHECK(*entry & 1 << 5);				/* the Accessed bit */
	first_ps = rig.region.walk_ps;
	rig_access(0, address + 64, physical + 64, false);
	CHECK(rig.region.walks == 1);
	paging_flush_page(&rig, 0, address);
	rig_access(0, address + 128, physical + 128, false);
	CHECK(rig.region.walks == 2);
	/* The L1 has the entry now, although the kernel has not described itself. */
	CHECK(rig.region.walk_ps == first_ps);
	paging_flush_page(&rig, 0, address + FRAME_BYTES);	/* another page */
	rig_access(0, address + 192, physical + 192, false);
	CHECK(rig.region.walks == 2);
	paging_set_root(&rig, 0, 16 * FRAME_BYTES);	/* the same: a flush */
	rig_access(0, address + 256, physical + 256, false);
	CHECK(rig.region.walks == 3);
	paging_flush_all(&rig, 0);
	rig_access(0, address + 320, physical + 320, false);
	CHECK(rig.region.walks == 4);
	rig_stop();
}

static void a_walk_counts_for_the_page_table(void)
{
	const uint64_t address = 0x7f1234567000;

	rig_start("");
	rig_describe();
	for (uint64_t frame = 16; frame < 20; frame++) {
		rig_write_page(frame, 0, 1);
		*rig_word(FRAME_BYTES + frame * 64 + 48) = 0xf2000000 | 1ULL << 32;
	}
	rig_write_page(512, ANON, 1);
	rig_map(16 * FRAME_BYTES, address, 512 * FRAME_BYTES);
	*rig_word(512 * FRAME_BYTES) = address + 64;	/* the second access depends on it */
	rig_call(KLOC_MACHINE_BEGIN);
	paging_set_root(&rig, 0, 16 * FRAME_BYTES);
	rig_access(0, address, 512 * FRAME_BYTES, false);
	rig_access(0, address + 64, 512 * FRAME_BYTES + 64, false);
	CHECK(rig.region.stall_ps[0][KIND_PAGETABLE][0] >= 300 * PS_PER_NS);
	CHECK(rig.region.stall_ps[0][KIND_ANON][0] >= 79 * PS_PER_NS);
	CHECK(rig.region.stall_ps[0][KIND_FILE][0] == 0);
	rig_stop();
}

static void spaces_are_kept_apart(void)
{
	rig_start("cores=2\n");
	rig_call(KLOC_MACHINE_BEGIN);
	paging_set_root(&rig, 0, 7 * FRAME_BYTES);
	rig_access(0, 0, RIG_SLOW, false);
	paging_set_root(&rig, 0, 8 * FRAME_BYTES);
	rig_access(0, 0, RIG_SLOW, false);
	CHECK(rig.region.l1_misses == 2 && rig.region.llc_misses == 1);
	paging_set_root(&rig, 0, 7 * FRAME_BYTES);
	rig_access(0, 0, RIG_SLOW, false);
	CHECK(rig.region.l1_misses == 2);
	/* A store drops the line from another L1, whatever its virtual address there. */
	paging_set_root(&rig, 1, 9 * FRAME_BYTES);
	rig_access(1, 1 * MEGA, RIG_SLOW, true);
	rig_access(0, 0, RIG_SLOW, false);
	CHECK(rig.region.l1_misses == 4 && rig.region.snoops == 1);
	rig_stop();
}

/* Write to a page, free it, and have it written back. Check that only `tier` is accessed. */
static void place_by_kind(const char *kinds, uint64_t mapping, unsigned int tier)
{
	uint64_t lines = FRAME_BYTES / LINE_BYTES;
	char text[64];

	snprintf(text, sizeof(text), "fast_kinds=%s\n", kinds);
	rig_start(text);
	rig_describe();
	rig_write_page(512, mapping, 1);
	rig_call(KLOC_MACHINE_BEGIN);
	for (uint64_t i = 0; i < lines; i++)
		rig_touch(512 * FRAME_BYTES + i * 37 % lines * LINE_BYTES, true);
	CHECK(rig.region.tier_stall_ps[tier] > 0);
	CHECK(rig.region.tier_stall_ps[!tier] == 0);
	rig_write_page(512, 0, 0);
	rig_scatter(4 * MEGA, 8 * MEGA / LINE_BYTES);
	CHECK(rig.tiers[0][tier].bytes[TRANSFER_WRITE] == FRAME_BYTES);
	CHECK(rig.tiers[0][!tier].bytes[TRANSFER_WRITE] == 0);
	rig_stop();
}

static void pages_are_placed_by_kind(void)
{
	place_by_kind("anon", ANON, 0);
	place_by_kind("shmem,slab:*", ANON, 1);
	place_by_kind("", ANON, 1);
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

/* The oracle: frames that a file marks are timed as fast, the others as slow. */
static void frames_are_placed_by_a_file(void)
{
	uint64_t frames = 80 * MEGA >> FRAME_SHIFT, chosen = 24 * MEGA >> FRAME_SHIFT;
	FILE *file = fopen("fast", "w");

	for (uint64_t frame = 0; frame < frames; frame++)
		fputc(frame >= chosen, file);
	fclose(file);
	rig_start("force_tier=slow\nfast_frames=fast\n");
	rig_call(KLOC_MACHINE_BEGIN);
	rig_chase(0, 4096);
	rig_chase(24 * MEGA, 4096);
	rig_call(KLOC_MACHINE_END);
	CHECK(rig.region.misses[1][KIND_UNKNOWN][0] == 4096);
	CHECK(rig.region.misses[0][KIND_UNKNOWN][0] == 4096);
	CHECK(within_per_cent(rig_elapsed_ps(), 4096 * (80 + 240) * PS_PER_NS, 1));
	rig_stop();
}

static void a_short_file_of_frames_is_refused(void)
{
	FILE *file = fopen("fast", "w");

	fputc(1, file);
	fclose(file);
	rig_start("");
	rig.config.fast_frames = strdup("fast");
	rig_stop();
	memset(&rig, 0, sizeof(rig));
	CHECK(config_parse(&rig.config, "tier=a,1,1,1,64\nram=0,0,16777216,m0,0\nfast_frames=fast",
			   "test"));
	CHECK(!machine_init(&rig, NULL));
	config_free(&rig.config);
}

/* Run a region with some of everything. Return its report, which the caller frees. */
static char *busy_region(const char *more)
{
	char *report;

	rig_start(more);
	rig_describe();
	rig_call(KLOC_MACHINE_BEGIN);
	rig_write_page(512, ANON, 1);
	rig_touch(FRAME_BYTES + 512 * 64, true);
	rig_scatter(RIG_SLOW, 3000);
	for (int i = 0; i < 1000; i++)
		rig_touch(512 * FRAME_BYTES + (uint64_t)i * 8 % FRAME_BYTES, i % 3 == 0);
	access_by_device(&rig, RIG_SLOW, 4096, true, rig_now_ps[0]);
	rig_touch(1ULL << 40, false);
	rig_call(KLOC_MACHINE_END);
	report = strdup(rig.reports);
	CHECK(report != NULL);
	return report;
}

static void observing_changes_nothing(void)
{
	char *plain = busy_region(""), *observed, *objects;

	rig_stop();
	observed = busy_region("observe=1\n");
	objects = strstr(observed, ",\n  \"objects\"");
	CHECK(objects && !strstr(plain, "objects"));
	CHECK(!strncmp(plain, observed, (size_t)(objects - observed)));
	CHECK((size_t)(objects - observed) + 1 == strlen(plain));
	free(plain);
	free(observed);
	rig_stop();
}

static void what_the_cores_refer_to_is_observed(void)
{
	const struct use *anon;
	uint64_t references = 0, misses = 0;

	free(busy_region("observe=1\n"));
	anon = &rig.observer.uses[KIND_ANON];
	CHECK(anon->allocated == 1 && anon->references == 1000);
	for (unsigned int kind = 0; kind < KIND_SLAB; kind++) {
		references += rig.observer.uses[kind].references;
		misses += rig.observer.uses[kind].misses;
	}
	/* Accesses of the device and to device memory do not count. */
	CHECK(references == 4001 && misses == rig.region.llc_misses);
	rig_stop();
}

static void a_device_takes_bandwidth_and_no_time(void)
{
	rig_start("");
	rig_call(KLOC_MACHINE_BEGIN);
	rig_touch(RIG_SLOW, true);
	access_by_device(&rig, RIG_SLOW, 4096, true, rig_now_ps[0]);
	CHECK(rig.tiers[0][1].bytes[TRANSFER_DMA_WRITE] == 4096 && rig.region.dma_lines == 64);
	CHECK(rig_now_ps[0] == rig.config.insn_ps);
	/* The line that the core had written was dropped, not written back. */
	rig_touch(RIG_SLOW, false);
	CHECK(rig.region.llc_misses == 2 && rig.tiers[0][1].bytes[TRANSFER_WRITE] == 0);
	access_by_device(&rig, RIG_SLOW, 4096, false, rig_now_ps[0]);
	rig_touch(RIG_SLOW, false);			/* reading drops nothing */
	CHECK(rig.region.l1_misses == 2);
	CHECK(rig.tiers[0][1].bytes[TRANSFER_DMA_READ] == 4096);
	rig_call(KLOC_MACHINE_END);
	/* Outside of a region. */
	access_by_device(&rig, RIG_SLOW, 4096, true, rig_now_ps[0]);
	CHECK(rig.tiers[0][1].bytes[TRANSFER_DMA_WRITE] == 4096);
	rig_stop();
}

static void device_memory_is_no_memory(void)
{
	rig_start("");
	rig_call(KLOC_MACHINE_BEGIN);
	rig_touch(1ULL << 40, false);
	CHECK(rig.region.l1_misses == 0);
	rig_stop();
}

static void begin_twice_and_end_alone(void)
{
	rig_start("");
	rig_call(KLOC_MACHINE_END);
	rig_call(KLOC_MACHINE_BEGIN);
	rig_scatter(0, 100);
	rig_call(KLOC_MACHINE_BEGIN);
	CHECK(strstr(rig_output(), "\"complete\": false"));
	rig_call(KLOC_MACHINE_END);
	CHECK(strstr(rig_output(), "\"complete\": true"));
	rig_stop();
}

static void the_end_of_qemu_leaves_a_file(void)
{
	remove("out.json");
	rig_start("");
	calls_finish(&rig, 0);
	CHECK(strstr(rig_output(), "\"complete\": false"));
	CHECK(strstr(rig_output(), "\"regions\": []"));
	rig_stop();
	rig_start("");
	rig_call(KLOC_MACHINE_BEGIN);
	rig_scatter(RIG_SLOW, 100);
	calls_finish(&rig, rig_now_ps[0]);
	CHECK(strstr(rig_output(), "\"complete\": false"));
	CHECK(strstr(rig_output(), "\"llc_misses\": 100"));
	rig_stop();
}

/* src/kloc/measure/record.py reads these. */
static void the_report_has_its_keys(void)
{
	static const char *const keys[] = {
		"schema", "layout_known", "cores", "idle_ns", "instructions", "time_ns",
		"monotonic_ns", "accesses", "l1_misses", "llc_misses", "streamed_misses", "snoops",
		"dma_lines", "tlb", "stlb_hits", "walks", "walk_ns", "waits_ns", "value", "window",
		"full", "store", "bandwidth", "free_fast_at_start", "stall_ns", "misses",
		"traffic_bytes", "unserved_ns", "migrated", "moved", "migrated_by", "pages",
	};

	free(busy_region(""));
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		char quoted[64];

		snprintf(quoted, sizeof(quoted), "\"%s\": ", keys[i]);
		if (!strstr(rig_output(), quoted))
			printf("no key %s\n", keys[i]);
		CHECK(strstr(rig_output(), quoted));
	}
	rig_stop();
}

static void a_layout_of_another_version_is_refused(void)
{
	struct kloc_machine_page *page;

	rig_start("");
	page = (void *)rig_word(RIG_PAGE);
	page->magic = KLOC_MACHINE_MAGIC;
	page->version = KLOC_MACHINE_VERSION + 1;
	calls_handle(&rig, KLOC_MACHINE_LAYOUT, RIG_PAGE, 0);
	CHECK(!rig.pages.known && !rig.page);
	calls_handle(&rig, KLOC_MACHINE_LAYOUT, 1ULL << 40, 0);	/* nowhere */
	CHECK(!rig.pages.known && !rig.page);
	rig_stop();
}

static void the_series_thins_out(void)
{
	rig_start("sample_ns=1000\n");
	rig_call(KLOC_MACHINE_BEGIN);
	for (int i = 0; i < 20; i++)
		rig_chase(RIG_SLOW, MEGA / LINE_BYTES);
	rig_call(KLOC_MACHINE_END);
	CHECK(rig.region.sample_count <= SAMPLES_MAX);
	CHECK(rig.region.sample_count > SAMPLES_MAX / 4);
	for (unsigned int i = 1; i < rig.region.sample_count; i++)
		CHECK(rig.region.samples[i].t_ps >= rig.region.samples[i - 1].t_ps);
	rig_stop();
}

static void moved_pages_have_reasons_and_threads(void)
{
	struct kloc_machine_page *page;
	const char *text;

	rig_start("sample_ns=1000\n");
	page = rig_describe();
	page->promoted_by[KLOC_MACHINE_HINT_FAULT] = 100;	/* before the region */
	page->demoted_by[KLOC_MACHINE_DAMON] = 100;
	rig_call(KLOC_MACHINE_BEGIN);
	page->promoted_by[KLOC_MACHINE_HINT_FAULT] += 3;
	page->demoted_by[KLOC_MACHINE_DEMOTION] += 5;
	strcpy(page->slots[2].comm, "kswapd0");
	page->slots[2].migrated = 5;
	rig_scatter(RIG_SLOW, 4);
	rig_call(KLOC_MACHINE_END);
	text = rig_output();
	CHECK(strstr(text, "\"hint_fault\": 3}"));
	CHECK(strstr(text, "\"demotion\": 5}}"));
	CHECK(strstr(text, "\"kswapd0\": 5"));
	CHECK(!strstr(text, "damon"));
	text = strstr(text, "\"series\"");
	CHECK(strstr(text, "\"hint_fault\": ["));
	CHECK(rig.region.samples[rig.region.sample_count - 1]
		      .demoted_by[KLOC_MACHINE_DEMOTION] == 5);
	rig_stop();
}

static void frames_say_what_cores_waited_for(void)
{
	uint64_t count = 80 * MEGA >> FRAME_SHIFT, number = 16 * MEGA >> FRAME_SHIFT;
	struct frame *frames = calloc(count, sizeof(*frames));
	double sum = 0;
	FILE *file;

	rig_start("dump=1\nforce_tier=slow\n");
	rig_describe();
	for (uint64_t frame = 0; frame < 4096; frame++)
		rig_write_page(frame, 0, frame != 3000);
	rig_call(KLOC_MACHINE_START);
	rig_call(KLOC_MACHINE_BEGIN);
	rig_chase(RIG_SLOW, 4096);
	rig_call(KLOC_MACHINE_END);
	CHECK(rig.frames.free_fast == 1);
	file = fopen("frames", "r");
	CHECK(file && frames && fread(frames, sizeof(*frames), count, file) == count);
	fclose(file);
	CHECK(frames[0].flags == (FRAME_IN_USE | FRAME_FAST) && !frames[0].misses);
	CHECK(frames[3000].flags == FRAME_FAST);
	CHECK(frames[number].misses == 64);
	CHECK(frames[number].stall_ns > 63 * 240 && frames[number].stall_ns < 65 * 240);
	for (uint64_t frame = 0; frame < count; frame++)
		sum += frames[frame].stall_ns;
	CHECK((uint64_t)(sum * 1000 + 0.5) == rig.region.tier_stall_ps[1]);
	free(frames);
	rig_stop();
}

/* A kernel that does not describe itself: all its memory counts as free. */
static void frames_without_a_layout_are_free(void)
{
	rig_start("dump=1\n");
	rig_call(KLOC_MACHINE_START);
	CHECK(rig.frames.free_fast == 16 * MEGA >> FRAME_SHIFT);
	CHECK(rig.frames.frames[0].flags == FRAME_FAST);
	rig_stop();
}

void test_machine(void)
{
	rig_enter();
	a_list_has_the_latency(0, 80);
	a_list_has_the_latency(RIG_SLOW, 240);
	independent_misses_overlap(1);
	independent_misses_overlap(4);
	independent_misses_overlap(10);
	a_stream_has_the_bandwidth(0, 8, false);
	a_stream_has_the_bandwidth(RIG_SLOW, 1, false);
	a_stream_has_the_bandwidth(0, 8, true);
	a_stream_has_the_bandwidth(RIG_SLOW, 1, true);
	a_warm_up_leaves_its_lines();
	a_hit_in_the_last_level_has_its_latency();
	late_write_backs_take_bandwidth();
	force_tier_times_all_as_one();
	stores_take_lines_from_other_cores();
	a_line_from_another_core_has_its_latency();
	stalls_of_cores_are_those_of_tiers();
	a_late_store_counts_for_its_tier();
	walks_are_seen();
	a_walk_counts_for_the_page_table();
	spaces_are_kept_apart();
	pages_are_placed_by_kind();
	unknown_kinds_are_refused();
	frames_are_placed_by_a_file();
	a_short_file_of_frames_is_refused();
	observing_changes_nothing();
	what_the_cores_refer_to_is_observed();
	a_device_takes_bandwidth_and_no_time();
	device_memory_is_no_memory();
	begin_twice_and_end_alone();
	the_end_of_qemu_leaves_a_file();
	the_report_has_its_keys();
	a_layout_of_another_version_is_refused();
	the_series_thins_out();
	moved_pages_have_reasons_and_threads();
	frames_say_what_cores_waited_for();
	frames_without_a_layout_are_free();
	rig_leave();
}

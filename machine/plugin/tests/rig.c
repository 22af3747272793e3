// SPDX-License-Identifier: GPL-2.0
/*
 * The rig: a machine on files of its own, whose cores execute one access at a time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "rig.h"

#define STRIDE	4099	/* lines; shares no factor with a power of two */

struct machine rig;
uint64_t rig_now_ps[CORES_MAX];
struct counts rig_counts[CORES_MAX];
bool rig_skips;
uint64_t rig_skipped;

static char directory[32];
static char *before;
static unsigned int running;

void rig_enter(void)
{
	strcpy(directory, "/tmp/kloc-model-XXXXXX");
	before = getcwd(NULL, 0);
	CHECK(before && mkdtemp(directory) && !chdir(directory));
}

void rig_leave(void)
{
	char command[64];

	CHECK(!chdir(before));
	free(before);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	CHECK(!system(command));
}

static void make_file(const char *name, uint64_t bytes)
{
	FILE *file = fopen(name, "w");

	CHECK(file && !ftruncate(fileno(file), (off_t)bytes));
	fclose(file);
}

static void stall(uint64_t ps)
{
	rig_now_ps[running] += ps;
}

void rig_start(const char *more)
{
	char text[1024];

	make_file("m0", 16 * MEGA);
	make_file("m1", 64 * MEGA);
	snprintf(text, sizeof(text),
		 "output=out.json\npages=frames\n"
		 "tier=fast,80,8,8,64\ntier=slow,240,1,1,64\n"
		 "ram=0,0,16777216,m0,0\nram=1,16777216,67108864,m1,0\n%s", more);
	memset(&rig, 0, sizeof(rig));
	memset(rig_now_ps, 0, sizeof(rig_now_ps));
	memset(rig_counts, 0, sizeof(rig_counts));
	rig_skipped = 0;
	CHECK(config_parse(&rig.config, text, "test"));
	CHECK(machine_init(&rig, stall));
	for (unsigned int i = 0; i < CORES_MAX; i++)
		rig.cores[i].counts = &rig_counts[i];
}

void rig_stop(void)
{
	machine_free(&rig);
}

static uint64_t latest_ps(void)
{
	uint64_t latest = 0;

	for (unsigned int i = 0; i < CORES_MAX; i++)
		if (rig_now_ps[i] > latest)
			latest = rig_now_ps[i];
	return latest;
}

void rig_call(unsigned int call)
{
	calls_handle(&rig, call, latest_ps() / PS_PER_NS, latest_ps());
}

uint64_t *rig_word(uint64_t physical)
{
	uint64_t *word = ram_word(&rig.ram, physical);

	CHECK(word != NULL);
	return word;
}

struct kloc_machine_page *rig_describe(void)
{
	struct kloc_machine_page *page = (void *)rig_word(RIG_PAGE);

	page->magic = KLOC_MACHINE_MAGIC;
	page->version = KLOC_MACHINE_VERSION;
	page->layout = (struct kloc_machine_layout){
		.kernel_map = 0xffffffff80000000, .page_size = 64, .page_head = 8,
		.page_mapping = 24, .page_index = 32, .page_private = 40, .page_type = 48,
		.type_slab = 0xf5, .type_table = 0xf2, .type_buddy = 0xf0,
		.memmap_base = FRAME_BYTES, .memmap = { FRAME_BYTES },
	};
	calls_handle(&rig, KLOC_MACHINE_LAYOUT, RIG_PAGE, latest_ps());
	CHECK(rig.pages.known);
	return page;
}

void rig_write_page(uint64_t frame, uint64_t mapping, uint32_t references)
{
	uint64_t at = FRAME_BYTES + frame * 64;

	memset(rig_word(at), 0, 64);
	*rig_word(at + 24) = mapping;
	*rig_word(at + 48) = 0xffffffff | (uint64_t)references << 32;
}

uint64_t *rig_map(uint64_t root, uint64_t address, uint64_t physical)
{
	uint64_t table = root, *entry = NULL;

	for (unsigned int shift = 39; shift >= FRAME_SHIFT; shift -= 9) {
		entry = rig_word(table + (address >> shift & 511) * 8);
		table += FRAME_BYTES;
		*entry = (shift == FRAME_SHIFT ? physical : table) | 0x7;
	}
	return entry;
}

/* Return whether translated code leaves out an access. */
static bool skip(const struct filter *filter, uint64_t address, bool store)
{
	const uint64_t *lines = store ? filter->stores : filter->loads;

	return (lines[(address >> LINE_SHIFT) % FILTER_LINES] ^ address) < LINE_BYTES;
}

void rig_access(unsigned int number, uint64_t address, uint64_t physical, bool store)
{
	struct core *core = &rig.cores[number];
	uint64_t key = space_key(&core->space, address);
	struct access access;

	running = number;
	rig_counts[number].user++;
	rig_now_ps[number] += rig.config.insn_ps;
	core->filter->counts[0]++;
	if (rig_skips && skip(core->filter, address, store)) {
		rig_skipped++;
		return;
	}
	access = (struct access){
		.key = key,
		.address = address,
		.now_ps = rig_now_ps[number],
		.insn = rig_counts[number].user,
		.store = store,
	};
	if (!access_l1(&rig, number, key, store))
		access_beyond_l1(&rig, number, &access, physical);
	access_enter_filter(core, key, address);
	if (rig.config.observe && ram_find(&rig.ram, physical))
		access_observe(&rig, core, key, address, store, rig_now_ps[number]);
}

void rig_touch(uint64_t physical, bool store)
{
	rig_access(0, physical, physical, store);
}

static uint64_t scattered(uint64_t from, uint64_t lines, uint64_t i)
{
	return from + i * STRIDE % lines * LINE_BYTES;
}

void rig_scatter(uint64_t from, uint64_t lines)
{
	for (uint64_t i = 0; i < lines; i++)
		rig_touch(scattered(from, lines, i), false);
}

void rig_chase(uint64_t from, uint64_t lines)
{
	for (uint64_t i = 0; i < lines; i++)
		*rig_word(scattered(from, lines, i)) = scattered(from, lines, i + 1);
	rig_scatter(from, lines);
}

uint64_t rig_elapsed_ps(void)
{
	return rig.region.end.time_ps - rig.region.begin.time_ps;
}

const char *rig_output(void)
{
	static char text[1 << 20];
	FILE *file = fopen("out.json", "r");

	CHECK(file != NULL);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

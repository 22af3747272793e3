// SPDX-License-Identifier: GPL-2.0
/*
 * Misses overlap, and cores wait, as the rules of overlap.h say; small programs take the
 * time that follows from these rules.
 */
#include <stdlib.h>
#include <string.h>

#include "bandwidth.h"
#include "check.h"
#include "overlap.h"

#define INSN_PS		250ULL
#define LATENCY_PS	80000ULL
#define OUTSTANDING	10
#define WINDOW		224
#define STORE_BUFFER	8
#define PREFETCH	20
#define HEAP		0x7f1234000000ULL	/* virtual address of the test's memory */

static const struct overlap_config config = {
	.outstanding = OUTSTANDING,
	.store_buffer = STORE_BUFFER,
	.prefetch = PREFETCH,
	.window = WINDOW,
	.insn_ps = INSN_PS,
};

static const uint64_t no_pointers[OVERLAP_WORDS] = { 1, 2, 3, 4, 5, 6, 7, 8 };

static const struct overlap_source data = { .frame = 7, .tier = 1 };
static const struct overlap_source table = { .frame = 9, .tier = 0 };

/* The core under test. All its misses have one latency. */
static struct overlap overlap;
static uint64_t now_ps, insn, latency_ps;
static uint64_t waited_ps[OVERLAP_REASONS];
static uint64_t random_state;

static void core_reset(void)
{
	overlap_init(&overlap, &config);
	now_ps = 1000000;
	insn = 4000;
	latency_ps = LATENCY_PS;
	random_state = 1;
	memset(waited_ps, 0, sizeof(waited_ps));
}

static uint64_t next_random(void)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return random_state >> 33;
}

static void execute(uint64_t instructions)
{
	insn += instructions;
	now_ps += instructions * INSN_PS;
}

/* Begin an access. Return how long the core stalls. */
static uint64_t begin(uint64_t address, bool store)
{
	struct overlap_start start;
	uint64_t sum_ps = 0;

	execute(1);
	start = overlap_wait(&overlap, now_ps, insn, address, store);
	for (unsigned int i = 0; i < overlap.wait_count; i++) {
		waited_ps[overlap.waits[i].reason] += overlap.waits[i].ps;
		sum_ps += overlap.waits[i].ps;
	}
	CHECK(sum_ps == start.wait_ps);
	now_ps += start.wait_ps;
	CHECK(start.start_ps >= now_ps);
	return start.wait_ps;
}

static uint64_t miss(uint64_t address, const void *content, bool store)
{
	uint64_t wait_ps = begin(address, store);

	overlap_add(&overlap, &(struct overlap_line){
		.latency_ps = latency_ps, .content = content, .source = data,
	});
	return wait_ps;
}

static uint64_t load(uint64_t address, const void *content)
{
	return miss(address, content, false);
}

/* Load an address that no line points to. */
static uint64_t load_anywhere(void)
{
	return load(0x600000000000ULL + next_random() * LINE_BYTES, no_pointers);
}

static uint64_t store_anywhere(void)
{
	return miss(0x600000000000ULL + next_random() * LINE_BYTES, no_pointers, true);
}

static bool within_percent(uint64_t value, uint64_t expected)
{
	uint64_t error = value > expected ? value - expected : expected - value;

	return error * 100 <= expected;
}

#define NODES		4096ULL
#define NODE_DISTANCE	8256ULL		/* far enough that a pointer to one is near no other */

/* A node is a line; its second word points to the next node. */
struct node {
	uint64_t words[OVERLAP_WORDS];
};

static struct node *nodes;

static uint64_t node_address(uint64_t node)
{
	return HEAP + node * NODE_DISTANCE;
}

/* Link all nodes into one ring, in random order. */
static void link_nodes(void)
{
	uint64_t order[NODES];

	nodes = calloc(NODES, sizeof(*nodes));
	for (uint64_t i = 0; i < NODES; i++) {
		uint64_t other = next_random() % (i + 1);

		order[i] = order[other];
		order[other] = i;
	}
	for (uint64_t i = 0; i < NODES; i++)
		nodes[order[i]].words[1] = node_address(order[(i + 1) % NODES]);
}

static uint64_t next_node(uint64_t node)
{
	return (nodes[node].words[1] - HEAP) / NODE_DISTANCE;
}

/* Follow this many chains in one loop. Return ps a load. */
static uint64_t chase(unsigned int chains)
{
	const uint64_t rounds = 20000;
	uint64_t at[16], begin_ps;

	core_reset();
	link_nodes();
	for (unsigned int i = 0; i < chains; i++)
		for (at[i] = i; i && at[i] == at[i - 1];)
			at[i]++;
	begin_ps = now_ps;
	for (uint64_t round = 0; round < rounds; round++) {
		for (unsigned int i = 0; i < chains; i++) {
			load(node_address(at[i]), &nodes[at[i]]);
			at[i] = next_node(at[i]);
		}
		execute(2);
	}
	free(nodes);
	return (now_ps - begin_ps) / (rounds * chains);
}

static void chases_overlap(void)
{
	CHECK(within_percent(chase(1), LATENCY_PS));
	CHECK(waited_ps[OVERLAP_FULL] == 0);
	CHECK(within_percent(chase(2), LATENCY_PS / 2));
	CHECK(within_percent(chase(4), LATENCY_PS / 4));
	CHECK(within_percent(chase(8), LATENCY_PS / 8));
	CHECK(within_percent(chase(16), LATENCY_PS / OUTSTANDING));
}

static void random_sum_overlaps_tenfold(void)
{
	uint64_t begin_ps;

	core_reset();
	begin_ps = now_ps;
	for (int i = 0; i < 100000; i++) {
		load_anywhere();
		execute(4);
	}
	CHECK(within_percent((now_ps - begin_ps) / 100000, LATENCY_PS / OUTSTANDING));
	CHECK(waited_ps[OVERLAP_VALUE] == 0);
	CHECK(waited_ps[OVERLAP_WINDOW] == 0);
}

/*
 * Look up random keys: a bucket, then `depth` nodes that each point to the next. The
 * last node of a look-up overlaps with the next bucket, which is asked for six
 * instructions later. Return ps a look-up without these.
 */
static uint64_t look_up(unsigned int depth)
{
	const uint64_t lookups = 10000;
	uint64_t begin_ps;

	core_reset();
	begin_ps = now_ps;
	for (uint64_t i = 0; i < lookups; i++) {
		uint64_t line[OVERLAP_WORDS] = { 0 };
		uint64_t address = 0x500000000000ULL + next_random() * 64;

		for (unsigned int level = 0; level <= depth; level++) {
			line[3] = HEAP + next_random() * 256;
			load(address, line);
			/* The key is in the second line of the object that it points to. */
			address = line[3] + 72;
			execute(5);
		}
	}
	return (now_ps - begin_ps) / lookups - 6 * INSN_PS;
}

static void hash_chains_wait_for_each_node(void)
{
	CHECK(within_percent(look_up(1), LATENCY_PS));
	CHECK(within_percent(look_up(2), 2 * LATENCY_PS));
	CHECK(within_percent(look_up(5), 5 * LATENCY_PS));
}

static void pointer_to_a_line_nearby_counts(void)
{
	static const struct {
		int64_t distance;	/* from the pointer to the address */
		bool waits;
	} cases[] = {
		{ 0, true }, { 8, true }, { 63, true }, { 640, true }, { 4032 + 63, true },
		{ 4096, false }, { -1, true }, { -64, true }, { -65, false },
		{ 1 << 20, false }, { -(1 << 20), false }, { 1LL << 38, false },
		{ -(1LL << 44), false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t line[OVERLAP_WORDS] = { 0 };

		core_reset();
		line[i % OVERLAP_WORDS] = HEAP;
		load(0x500000000000ULL, line);
		CHECK(load(HEAP + (uint64_t)cases[i].distance, no_pointers) ==
		      (cases[i].waits ? LATENCY_PS - INSN_PS : 0));
	}
}

static void kernel_pointers_count(void)
{
	uint64_t line[OVERLAP_WORDS] = { [7] = 0xffff888012345680ULL };

	core_reset();
	load(0xffffea0000000000ULL, line);
	/* A small number is none, though the lower bits of the address are the same. */
	line[7] = 0x12345680;
	load(0xffffea0000010000ULL, line);
	CHECK(load(0xffff8880123456c0ULL, no_pointers) == LATENCY_PS - 2 * INSN_PS);
	core_reset();
	load(0xffffea0000010000ULL, line);
	CHECK(load(0xffff8880123456c0ULL, no_pointers) == 0);
}

/* An object of two lines whose first has an empty list: it points to itself. */
static void pointer_into_its_own_line_does_not_count(void)
{
	uint64_t line[OVERLAP_WORDS] = { [2] = HEAP + 16, [3] = HEAP + 16 };

	core_reset();
	load(HEAP, line);
	CHECK(load(HEAP + 64, no_pointers) == 0);
	CHECK(load(HEAP + 1024, no_pointers) == 0);
}

static void nearest_pointer_counts(void)
{
	uint64_t far[OVERLAP_WORDS] = { HEAP }, near[OVERLAP_WORDS] = { 0, HEAP + 1024 };

	core_reset();
	latency_ps = 20000;
	load(0x500000000000ULL, near);
	latency_ps = LATENCY_PS;
	load(0x500000100000ULL, far);
	CHECK(load(HEAP + 1040, no_pointers) == 20000 - 2 * INSN_PS);
}

static void value_that_has_arrived_is_not_waited_for(void)
{
	uint64_t line[OVERLAP_WORDS] = { HEAP };

	core_reset();
	latency_ps = 10000;
	load(0x500000000000ULL, line);
	execute(40);
	CHECK(load(HEAP, no_pointers) == 0);
}

/* It takes the place of one that pointed there. */
static void line_without_content_points_nowhere(void)
{
	uint64_t line[OVERLAP_WORDS] = { HEAP };

	core_reset();
	latency_ps = 10000;
	load(0x500000000000ULL, line);
	execute(100);
	load(0x500000000000ULL, NULL);
	CHECK(load(HEAP, no_pointers) == 0);
}

static void core_waits_at_the_end_of_the_window(void)
{
	core_reset();
	load_anywhere();
	execute(WINDOW - 1);
	/* Instruction i + 224 need not wait yet, and the next one waits. */
	CHECK(load_anywhere() == 0);
	execute(1);
	CHECK(load_anywhere() == LATENCY_PS - WINDOW * INSN_PS);
	CHECK(waited_ps[OVERLAP_WINDOW] == LATENCY_PS - WINDOW * INSN_PS);
}

/* The wait is the same if no miss comes while the core waits, or long after. */
static void window_is_kept_without_a_further_miss(void)
{
	core_reset();
	load_anywhere();
	execute(100000);
	CHECK(load_anywhere() == LATENCY_PS - WINDOW * INSN_PS);
	CHECK(waited_ps[OVERLAP_WINDOW] == LATENCY_PS - WINDOW * INSN_PS);
}

/* Two loads 100 instructions apart: the second wait begins later by the first. */
static void waits_for_the_window_add_up(void)
{
	uint64_t first_ps = LATENCY_PS - WINDOW * INSN_PS;

	core_reset();
	load_anywhere();
	latency_ps = 200000;
	execute(99);
	load_anywhere();
	execute(5000);
	CHECK(load_anywhere() == first_ps + (200000 - first_ps - WINDOW * INSN_PS));
}

/*
 * A load every 32 instructions: eight in a window. The eighth is asked for before the
 * wait for the first, the ninth 8 ns after it: eight loads take 88 ns.
 */
static void window_limits_overlap(void)
{
	uint64_t begin_ps;

	core_reset();
	begin_ps = now_ps;
	for (int i = 0; i < 80000; i++) {
		load_anywhere();
		execute(31);
	}
	CHECK(within_percent((now_ps - begin_ps) / 80000, 88000 / 8));
	CHECK(waited_ps[OVERLAP_FULL] == 0);
}

static void stores_wait_for_the_store_buffer_only(void)
{
	uint64_t begin_ps;

	core_reset();
	store_anywhere();
	execute(1000);
	CHECK(store_anywhere() == 0);
	begin_ps = now_ps;
	for (int i = 0; i < 100000; i++)
		store_anywhere();
	CHECK(within_percent((now_ps - begin_ps) / 100000, LATENCY_PS / STORE_BUFFER));
	CHECK(waited_ps[OVERLAP_STORE] > 0);
	CHECK(waited_ps[OVERLAP_WINDOW] == 0);
	CHECK(waited_ps[OVERLAP_FULL] == 0);
}

static void store_waits_for_the_oldest_store(void)
{
	core_reset();
	store_anywhere();
	latency_ps = 10000;
	for (int i = 1; i < STORE_BUFFER; i++)
		store_anywhere();
	CHECK(store_anywhere() == LATENCY_PS - STORE_BUFFER * INSN_PS);
	CHECK(overlap.count == 1);
}

static void stores_take_places_of_loads(void)
{
	core_reset();
	for (int i = 0; i < 6; i++)
		store_anywhere();
	for (int i = 0; i < 4; i++)
		CHECK(load_anywhere() == 0);
	CHECK(load_anywhere() == LATENCY_PS - OUTSTANDING * INSN_PS);
	CHECK(waited_ps[OVERLAP_FULL] == LATENCY_PS - OUTSTANDING * INSN_PS);
}

static void store_through_a_pointer_begins_later(void)
{
	uint64_t line[OVERLAP_WORDS] = { HEAP }, next[OVERLAP_WORDS] = { HEAP + 0x100000 };
	uint64_t arrives_ps;

	core_reset();
	load(0x500000000000ULL, line);
	arrives_ps = now_ps + LATENCY_PS;
	CHECK(miss(HEAP, next, true) == 0);
	CHECK(overlap.start_ps == arrives_ps);
	/* A load that depends on the store's line waits for both. */
	CHECK(load(HEAP + 0x100000, no_pointers) == 2 * LATENCY_PS - 2 * INSN_PS);
}

/* Stream through memory, `gap` instructions a line. Return ps a line. */
static uint64_t stream(uint64_t gap, struct ledger *ledger, uint64_t service_ps)
{
	const uint64_t lines = 20000;
	uint64_t begin_ps = now_ps;

	for (uint64_t i = 0; i < lines; i++) {
		uint64_t wait_ps = 0;

		begin(HEAP + i * LINE_BYTES, false);
		if (ledger) {
			ledger_advance(ledger, now_ps);
			wait_ps = ledger_book(ledger, now_ps, service_ps);
		}
		overlap_add(&overlap, &(struct overlap_line){
			.latency_ps = latency_ps, .bandwidth_ps = wait_ps, .streamed = true,
			.content = no_pointers, .source = data,
		});
		execute(gap - 1);
	}
	return (now_ps - begin_ps) / lines;
}

static void stream_has_the_prefetched_lines_in_a_latency(void)
{
	core_reset();
	CHECK(within_percent(stream(8, NULL, 0), LATENCY_PS / PREFETCH));
	core_reset();
	latency_ps = 240000;
	CHECK(within_percent(stream(8, NULL, 0), 240000 / PREFETCH));
}

static void slow_stream_waits_for_nothing(void)
{
	core_reset();
	CHECK(stream(32, NULL, 0) == 32 * INSN_PS);
}

static void stream_gets_the_bandwidth_and_waits_for_it(void)
{
	static struct ledger ledger;

	core_reset();
	ledger_clear(&ledger, now_ps);
	CHECK(within_percent(stream(8, &ledger, 8533), 8533));
	CHECK(waited_ps[OVERLAP_BANDWIDTH] > 20000 * 5000);
	CHECK(waited_ps[OVERLAP_FULL] + waited_ps[OVERLAP_WINDOW] < 20000 * 1000);
}

static void streams_share_the_prefetches(void)
{
	uint64_t begin_ps;

	core_reset();
	begin_ps = now_ps;
	for (uint64_t i = 0; i < 20000; i++) {
		begin(HEAP + i % 4 * 0x1000000 + i / 4 * LINE_BYTES, false);
		overlap_add(&overlap, &(struct overlap_line){
			.latency_ps = latency_ps, .streamed = true, .source = data,
		});
	}
	CHECK(within_percent((now_ps - begin_ps) / 20000, LATENCY_PS / PREFETCH));
}

static void prefetch_is_not_before_the_stream(void)
{
	core_reset();
	begin(HEAP, false);
	overlap_add(&overlap, &(struct overlap_line){
		.latency_ps = latency_ps, .streamed = true, .since_ps = now_ps - 30000,
		.content = (uint64_t[OVERLAP_WORDS]){ HEAP + 0x10000 },
	});
	CHECK(load(HEAP + 0x10000, no_pointers) == LATENCY_PS - 30000 - INSN_PS);
}

static const struct overlap_wait *wait_at(unsigned int i, enum overlap_reason reason,
					  uint64_t ps)
{
	CHECK(i < overlap.wait_count);
	CHECK(overlap.waits[i].reason == reason);
	CHECK(overlap.waits[i].ps == ps);
	return &overlap.waits[i];
}

static void wait_is_counted_by_its_parts(void)
{
	uint64_t line[OVERLAP_WORDS] = { HEAP };

	core_reset();
	begin(0x500000000000ULL, false);
	overlap_add(&overlap, &(struct overlap_line){
		.walk_ps = 30000, .latency_ps = 80000, .bandwidth_ps = 5000,
		.content = line, .source = data, .walk_source = table,
	});
	execute(79);
	CHECK(load(HEAP, no_pointers) == 115000 - 80 * INSN_PS);
	CHECK(overlap.wait_count == 3);
	CHECK(wait_at(0, OVERLAP_VALUE, 10000)->source.frame == table.frame);
	CHECK(wait_at(1, OVERLAP_VALUE, 80000)->source.frame == data.frame);
	CHECK(wait_at(2, OVERLAP_BANDWIDTH, 5000)->source.frame == data.frame);
}

static void wait_is_counted_for_the_line_that_was_waited_for(void)
{
	static const struct overlap_source slow = { .frame = 1, .tier = 1 };

	core_reset();
	begin(HEAP, false);
	overlap_add(&overlap, &(struct overlap_line){ .latency_ps = 240000, .source = slow });
	for (int i = 1; i < OUTSTANDING; i++)
		load_anywhere();
	/* The first to arrive is a line of the others. */
	load_anywhere();
	CHECK(overlap.wait_count == 1);
	CHECK(wait_at(0, OVERLAP_FULL, LATENCY_PS - 9 * INSN_PS)->source.frame == data.frame);
	execute(1000);
	load_anywhere();
	CHECK(overlap.waits[0].source.frame == slow.frame);
	CHECK(overlap.waits[0].reason == OVERLAP_WINDOW);
}

static void clear_forgets(void)
{
	core_reset();
	for (int i = 0; i < 1000; i++)
		load_anywhere();
	overlap_clear(&overlap);
	for (int i = 0; i < OUTSTANDING; i++)
		CHECK(load_anywhere() == 0);
}

/* However lines come and go, places are neither lost nor used twice. */
static void places_are_never_lost(void)
{
	core_reset();
	link_nodes();
	for (int i = 0; i < 200000; i++) {
		uint64_t node = next_random() % NODES;

		latency_ps = next_random() % 200000;
		miss(node_address(node), next_random() % 4 ? &nodes[node] : NULL,
		     next_random() % 3 == 0);
		execute(next_random() % 100);
		CHECK(overlap.count <= OUTSTANDING);
		CHECK(overlap.stores <= STORE_BUFFER);
		CHECK(__builtin_popcount(overlap.free) + overlap.count == OUTSTANDING);
	}
	free(nodes);
	for (int reason = 0; reason < OVERLAP_BANDWIDTH; reason++)
		CHECK(waited_ps[reason] > 0);
}

void test_overlap(void)
{
	chases_overlap();
	random_sum_overlaps_tenfold();
	hash_chains_wait_for_each_node();
	pointer_to_a_line_nearby_counts();
	kernel_pointers_count();
	pointer_into_its_own_line_does_not_count();
	nearest_pointer_counts();
	value_that_has_arrived_is_not_waited_for();
	line_without_content_points_nowhere();
	core_waits_at_the_end_of_the_window();
	window_is_kept_without_a_further_miss();
	waits_for_the_window_add_up();
	window_limits_overlap();
	stores_wait_for_the_store_buffer_only();
	store_waits_for_the_oldest_store();
	stores_take_places_of_loads();
	store_through_a_pointer_begins_later();
	stream_has_the_prefetched_lines_in_a_latency();
	slow_stream_waits_for_nothing();
	stream_gets_the_bandwidth_and_waits_for_it();
	streams_share_the_prefetches();
	prefetch_is_not_before_the_stream();
	wait_is_counted_by_its_parts();
	wait_is_counted_for_the_line_that_was_waited_for();
	clear_forgets();
	places_are_never_lost();
}

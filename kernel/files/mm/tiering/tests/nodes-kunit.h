/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies of memory tiers: tests of the nodes that take part, and of the order of
 * tiers.
 */
#ifndef _MM_TIERING_NODES_KUNIT_H
#define _MM_TIERING_NODES_KUNIT_H

#include <kunit/test.h>

/* Tiers of the nodes 0 to 3, 0 for the highest; U8_MAX for a node without memory. */
static u8 nodes_test_tiers[4];

static void nodes_test_set(u8 first, u8 second, u8 third, u8 fourth)
{
	nodes_test_tiers[0] = first;
	nodes_test_tiers[1] = second;
	nodes_test_tiers[2] = third;
	nodes_test_tiers[3] = fourth;
}

static void nodes_test_below(int nid, nodemask_t *below)
{
	int other;

	nodes_clear(*below);
	for (other = 0; other < ARRAY_SIZE(nodes_test_tiers); other++)
		if (nodes_test_tiers[other] != U8_MAX &&
		    nodes_test_tiers[other] > nodes_test_tiers[nid])
			node_set(other, *below);
}

static nodemask_t nodes_test_mask(unsigned int bits)
{
	nodemask_t mask = NODE_MASK_NONE;
	int nid;

	for (nid = 0; nid < 4; nid++)
		if (bits & BIT(nid))
			node_set(nid, mask);
	return mask;
}

/*
 * Check the nodes of fast memory, and the tiers as masks of nodes, the highest first.
 */
static void nodes_test_order(struct kunit *test, unsigned int candidates,
			     unsigned int fast, const unsigned int *tiers,
			     unsigned int count, unsigned int first)
{
	nodemask_t nodes = NODE_MASK_NONE, expected = nodes_test_mask(fast), chosen;
	nodemask_t could = nodes_test_mask(candidates);
	struct tiering_order *order;
	unsigned int i;

	for (i = 0; i < 4; i++)
		if (nodes_test_tiers[i] != U8_MAX)
			node_set(i, nodes);
	chosen = tiering_choose_fast(&could, nodes_test_below);
	KUNIT_EXPECT_TRUE(test, nodes_equal(chosen, expected));
	order = tiering_order_make(&nodes, &chosen, nodes_test_below);
	KUNIT_ASSERT_NOT_NULL(test, order);
	KUNIT_EXPECT_EQ(test, order->count, count);
	KUNIT_EXPECT_EQ(test, order->fast, first);
	for (i = 0; i < min(count, order->count); i++) {
		expected = nodes_test_mask(tiers[i]);
		KUNIT_EXPECT_TRUE(test, nodes_equal(order->tiers[i], expected));
	}
	kfree(order);
}

#define NODES_TEST_ORDER(test, candidates, fast, first, ...) do {		\
	static const unsigned int tiers[] = { __VA_ARGS__ };			\
	nodes_test_order(test, candidates, fast, tiers, ARRAY_SIZE(tiers), first); \
} while (0)

/* Two sockets, each with fast and slow memory. */
static void nodes_test_two_fast_nodes(struct kunit *test)
{
	nodes_test_set(0, 0, 1, 1);
	NODES_TEST_ORDER(test, 0x3, 0x3, 0, 0x3, 0xc);
}

/* HBM, DRAM with CPUs, CXL, and a node without memory: DRAM is fast memory. */
static void nodes_test_memory_above_the_cpus(struct kunit *test)
{
	nodes_test_set(1, 0, U8_MAX, 2);
	NODES_TEST_ORDER(test, 0x3, 0x1, 1, 0x2, 0x1, 0x8);
}

/* HBM and DRAM with CPUs: there is nothing below DRAM, so HBM is fast memory. */
static void nodes_test_cpus_on_slow_memory(struct kunit *test)
{
	nodes_test_set(1, 0, U8_MAX, U8_MAX);
	NODES_TEST_ORDER(test, 0x2, 0x2, 0, 0x2, 0x1);
}

/* DRAM, CXL, persistent memory: only DRAM is in the top tier. */
static void nodes_test_two_tiers_below(struct kunit *test)
{
	nodes_test_set(2, 0, 1, 1);
	NODES_TEST_ORDER(test, 0x2, 0x2, 0, 0x2, 0xc, 0x1);
}

static void nodes_test_one_tier(struct kunit *test)
{
	nodes_test_set(0, 0, 0, 0);
	NODES_TEST_ORDER(test, 0, 0, 0, 0xf);
}

/* Two sockets: fast nodes 0 and 1, slow nodes 2 and 3. */
static const nodemask_t nodes_test_sockets[] = {
	{ { BIT(0) | BIT(1) } }, { { BIT(2) | BIT(3) } },
};

static int nodes_test_distance(int from, int to)
{
	static const u8 distances[2][4] = { { 10, 20, 17, 28 }, { 20, 10, 28, 17 } };

	return distances[from][to];
}

/* Nodes with room, as a mask. */
static unsigned int nodes_test_free;

static bool nodes_test_has_room(int nid, unsigned int pages)
{
	return nodes_test_free & BIT(nid);
}

/* Find the best node for a folio that a CPU of node 0 uses. */
static int nodes_test_best(int nid, unsigned int free, unsigned int allowed)
{
	nodemask_t nodes = nodes_test_mask(allowed);
	const struct tiering_wish wish = {
		.nid = nid,
		.cpu_nid = 0,
		.pages = 1,
		.allowed = &nodes,
		.distance = nodes_test_distance,
		.has_room = nodes_test_has_room,
	};

	nodes_test_free = free;
	return tiering_best(nodes_test_sockets, ARRAY_SIZE(nodes_test_sockets), &wish);
}

/* The tier comes first, and then the distance from the CPU. */
static void nodes_test_better(struct kunit *test)
{
	/* Near slow memory: near fast memory, else that of the other socket. */
	KUNIT_EXPECT_EQ(test, nodes_test_best(2, 0xf, 0xf), 0);
	KUNIT_EXPECT_EQ(test, nodes_test_best(2, 0xe, 0xf), 1);
	KUNIT_EXPECT_EQ(test, nodes_test_best(2, 0xc, 0xf), NUMA_NO_NODE);
	/* Far slow memory: near slow memory is the last choice. */
	KUNIT_EXPECT_EQ(test, nodes_test_best(3, 0xe, 0xf), 1);
	KUNIT_EXPECT_EQ(test, nodes_test_best(3, 0xc, 0xf), 2);
	KUNIT_EXPECT_EQ(test, nodes_test_best(3, 0x8, 0xf), NUMA_NO_NODE);
}

/* Never to a lower tier, or farther away in the same tier. */
static void nodes_test_best_stays(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nodes_test_best(0, 0xf, 0xf), NUMA_NO_NODE);
	KUNIT_EXPECT_EQ(test, nodes_test_best(1, 0xf, 0xf), 0);
	KUNIT_EXPECT_EQ(test, nodes_test_best(1, 0xe, 0xf), NUMA_NO_NODE);
	/* Memory above the tiers was asked for. */
	KUNIT_EXPECT_EQ(test, nodes_test_best(4, 0xf, 0xf), NUMA_NO_NODE);
}

/* The cpuset wins. */
static void nodes_test_better_is_allowed(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nodes_test_best(2, 0xf, 0xe), 1);
	KUNIT_EXPECT_EQ(test, nodes_test_best(3, 0xf, 0xc), 2);
	KUNIT_EXPECT_EQ(test, nodes_test_best(3, 0xf, 0x8), NUMA_NO_NODE);
}

/*
 * The index of a removed node is used again, and another daemon advances the scan. It
 * still does so when a lower node comes.
 */
static void nodes_test_a_node_goes(struct kunit *test)
{
	struct tiering_node *nodes[2];
	int i;

	/* No policy is selected while the kernel boots. */
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_NULL(test, tiering_nodes[i]);
		nodes[i] = kunit_kzalloc(test, sizeof(*nodes[i]), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, nodes[i]);
		nodes[i]->nid = i;
		nodes[i]->index = i;
	}
	tiering_nodes[0] = nodes[0];
	tiering_nodes[1] = nodes[1];
	tiering_choose_counter();
	KUNIT_EXPECT_TRUE(test, nodes[0]->counts);
	KUNIT_EXPECT_FALSE(test, nodes[1]->counts);
	KUNIT_EXPECT_EQ(test, tiering_free_index(), 2);
	tiering_nodes[0] = NULL;
	tiering_choose_counter();
	KUNIT_EXPECT_TRUE(test, nodes[1]->counts);
	KUNIT_EXPECT_EQ(test, tiering_free_index(), 0);
	nodes[0]->counts = false;
	tiering_nodes[0] = nodes[0];
	tiering_choose_counter();
	KUNIT_EXPECT_FALSE(test, nodes[0]->counts);
	KUNIT_EXPECT_TRUE(test, nodes[1]->counts);
	tiering_nodes[0] = NULL;
	tiering_nodes[1] = NULL;
}

static struct kunit_case nodes_test_cases[] = {
	KUNIT_CASE(nodes_test_two_fast_nodes),
	KUNIT_CASE(nodes_test_memory_above_the_cpus),
	KUNIT_CASE(nodes_test_cpus_on_slow_memory),
	KUNIT_CASE(nodes_test_two_tiers_below),
	KUNIT_CASE(nodes_test_one_tier),
	KUNIT_CASE(nodes_test_better),
	KUNIT_CASE(nodes_test_best_stays),
	KUNIT_CASE(nodes_test_better_is_allowed),
	KUNIT_CASE(nodes_test_a_node_goes),
	{}
};

static struct kunit_suite nodes_test_suite = {
	.name = "tiering-nodes",
	.test_cases = nodes_test_cases,
};

kunit_test_suite(nodes_test_suite);

#endif /* _MM_TIERING_NODES_KUNIT_H */

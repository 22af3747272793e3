// SPDX-License-Identifier: GPL-2.0
/*
 * The plugin of test_qemu.py, which does what qemu_guest.c asks for, and writes down what it is
 * told, to FILE of its argument out=FILE.
 *
 * A store to STALL stalls the vCPU. A store to FILTER enters the line of an address into the
 * vCPU's filter, as the only one; 0 clears the filter. A store to VARIANT selects the variant of the
 * blocks. A store to MARK writes a line: the mark, the vCPU of the
 * callback, its time (ps), its instructions as the inline operations count them, its stalls (ps),
 * the number of TLB events of each kind and the last values of the first two, and the bytes that
 * devices read and wrote, and of the callbacks with a filter the accesses that QEMU has counted and
 * the calls, and the vCPU's instructions in blocks of variant 1. At the end, each vCPU has a line "vcpu" with its instructions by inline
 * operations and by callbacks, and the line "trace" is a hash of the vCPU, address and time of each
 * block that was executed: equal hashes mean equal executions.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <qemu-plugin.h>

#define VCPUS_MAX	8
#define STALL		0x800000
#define MARK		0x800004
#define FILTER		0x800008
#define VARIANT		0x80000c

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static struct {
	uint64_t instructions;
	uint64_t stalled_ps;
	uint64_t last_ps;
	uint64_t filtered;
	uint64_t varied;
} vcpus[VCPUS_MAX];

static struct qemu_plugin_scoreboard *inline_counts;
static uint64_t trace, backward;
static uint64_t dma_read, dma_written;
static uint64_t tlb_events[3], tlb_values[3];
static FILE *out;

static void mix(uint64_t value)
{
	trace = (trace ^ value) * 0x9e3779b97f4a7c15ULL;
	trace ^= trace >> 29;
}

static uint64_t inline_count(unsigned int vcpu)
{
	return qemu_plugin_u64_get(qemu_plugin_scoreboard_u64(inline_counts), vcpu);
}

static void on_block(unsigned int index, void *data)
{
	uint64_t now_ps = qemu_plugin_time_ps();

	vcpus[index].instructions += (uintptr_t)data & 0xffff;
	if (now_ps < vcpus[index].last_ps)
		backward++;
	vcpus[index].last_ps = now_ps;
	mix(index);
	mix((uintptr_t)data);
	mix(now_ps);
}

static void on_varied_block(unsigned int index, void *data)
{
	vcpus[index].varied += (uintptr_t)data;
}

static void set_filter(unsigned int index, uint64_t address)
{
	qemu_plugin_mem_filter *filter = qemu_plugin_vcpu_mem_filter(index);
	uint64_t line = address >> QEMU_PLUGIN_FILTER_LINE_BITS;

	for (int i = 0; i < QEMU_PLUGIN_FILTER_LINES; i++)
		filter->loads[i] = filter->stores[i] = QEMU_PLUGIN_FILTER_NONE(i);
	if (!address)
		return;
	filter->loads[line % QEMU_PLUGIN_FILTER_LINES] = line << QEMU_PLUGIN_FILTER_LINE_BITS;
	filter->stores[line % QEMU_PLUGIN_FILTER_LINES] = line << QEMU_PLUGIN_FILTER_LINE_BITS;
}

static void on_filtered(unsigned int index, qemu_plugin_meminfo_t info, uint64_t address,
			void *data)
{
	(void)info;
	(void)address;
	(void)data;
	vcpus[index].filtered++;
}

static void on_store(unsigned int index, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	uint64_t value;

	(void)data;
	if (address != STALL && address != MARK && address != FILTER && address != VARIANT)
		return;
	value = qemu_plugin_mem_get_value(info).data.u32;
	if (address == FILTER) {
		set_filter(index, value);
		return;
	}
	if (address == VARIANT) {
		qemu_plugin_select_variant(value);
		return;
	}
	if (address == STALL) {
		vcpus[index].stalled_ps += value;
		qemu_plugin_vcpu_stall(value);
		return;
	}
	fprintf(out, "mark %" PRIu64 " %u %" PRIu64 " %" PRIu64 " %" PRIu64, value, index,
		qemu_plugin_time_ps(), inline_count(index), vcpus[index].stalled_ps);
	fprintf(out, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, tlb_events[0],
		tlb_events[1], tlb_events[2], tlb_values[0], tlb_values[1]);
	fprintf(out, " %" PRIu64 " %" PRIu64, dma_read, dma_written);
	fprintf(out, " %" PRIu64 " %" PRIu64, qemu_plugin_vcpu_mem_filter(index)->counts[1],
		vcpus[index].filtered);
	fprintf(out, " %" PRIu64 "\n", vcpus[index].varied);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t count = qemu_plugin_tb_n_insns(tb);
	uintptr_t data = (uintptr_t)qemu_plugin_tb_vaddr(tb) << 16 | count;

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, (void *)data);
	qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(
		tb, QEMU_PLUGIN_INLINE_ADD_U64, qemu_plugin_scoreboard_u64(inline_counts), count);
	if (qemu_plugin_tb_variant(tb))
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_varied_block, QEMU_PLUGIN_CB_NO_REGS,
						     (void *)(uintptr_t)count);
	for (size_t i = 0; i < count; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		qemu_plugin_register_vcpu_mem_cb(insn, on_store, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_W, NULL);
		qemu_plugin_register_vcpu_mem_filtered_cb(insn, on_filtered,
							  QEMU_PLUGIN_CB_NO_REGS,
							  QEMU_PLUGIN_MEM_RW, 1, NULL);
	}
}

static void on_tlb(unsigned int index, enum qemu_plugin_tlb_event event, uint64_t value)
{
	tlb_events[event]++;
	tlb_values[event] = value;
	mix(index);
	mix(value);
}

static void on_dma(uint64_t physical, uint64_t bytes, bool write)
{
	*(write ? &dma_written : &dma_read) += bytes;
	mix(physical);
	mix(qemu_plugin_time_ps());
}

static void on_exit_of_qemu(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	for (unsigned int i = 0; i < VCPUS_MAX && vcpus[i].instructions; i++)
		fprintf(out, "vcpu %u %" PRIu64 " %" PRIu64 "\n", i, inline_count(i),
			vcpus[i].instructions);
	fprintf(out, "backward %" PRIu64 "\n", backward);
	fprintf(out, "trace %" PRIu64 "\n", trace);
	fclose(out);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
					   char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4))
		return -1;
	out = fopen(argv[0] + 4, "w");
	if (!out)
		return -1;
	inline_counts = qemu_plugin_scoreboard_new(sizeof(uint64_t));
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_vcpu_tlb_cb(id, on_tlb);
	qemu_plugin_register_dma_cb(id, on_dma);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
	return 0;
}

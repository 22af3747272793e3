// SPDX-License-Identifier: GPL-2.0
/*
 * The plugin of test_qemu.py: stalls, and writes down what it was told.
 *
 * Arguments: out=FILE for the figures; stall_ps=N and every=N: each N-th access to memory of a
 * vCPU stalls for that long. The figure "trace" is a hash of the vCPU, address and time of each
 * block that was executed: equal hashes mean equal executions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <qemu-plugin.h>

#define VCPUS_MAX 8

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

struct vcpu {
	uint64_t instructions;
	uint64_t accesses;
	uint64_t stalled_ps;
	uint64_t last_ps;
};

static struct vcpu vcpus[VCPUS_MAX];
static struct qemu_plugin_scoreboard *inline_counts;
static uint64_t trace, backward;
static uint64_t dma_read, dma_written;
static uint64_t tlb_events[3];
static uint64_t stall_ps, every = 1;
static const char *out;

static void mix(uint64_t value)
{
	trace = (trace ^ value) * 0x9e3779b97f4a7c15ULL;
	trace ^= trace >> 29;
}

static void on_block(unsigned int index, void *data)
{
	uint64_t now_ps = qemu_plugin_time_ps();
	struct vcpu *vcpu = &vcpus[index];

	vcpu->instructions += (uintptr_t)data & 0xffff;
	if (now_ps < vcpu->last_ps)
		backward++;
	vcpu->last_ps = now_ps;
	mix(index);
	mix((uintptr_t)data);
	mix(now_ps);
}

static void on_access(unsigned int index, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	struct vcpu *vcpu = &vcpus[index];

	(void)info;
	(void)address;
	(void)data;
	if (++vcpu->accesses % every || !stall_ps)
		return;
	vcpu->stalled_ps += stall_ps;
	qemu_plugin_vcpu_stall(stall_ps);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t count = qemu_plugin_tb_n_insns(tb);
	uintptr_t data = (uintptr_t)qemu_plugin_tb_vaddr(tb) << 16 | count;

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, (void *)data);
	qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(
		tb, QEMU_PLUGIN_INLINE_ADD_U64, qemu_plugin_scoreboard_u64(inline_counts), count);
	for (size_t i = 0; i < count; i++)
		qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_access,
						 QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
}

static void on_tlb(unsigned int index, enum qemu_plugin_tlb_event event, uint64_t value)
{
	tlb_events[event]++;
	mix(index);
	mix(value);
}

static void on_dma(uint64_t physical, uint64_t bytes, bool write)
{
	*(write ? &dma_written : &dma_read) += bytes;
	mix(physical);
	mix(qemu_plugin_time_ps());
}

static void write_figures(qemu_plugin_id_t id, void *data)
{
	FILE *file = fopen(out, "w");

	(void)id;
	(void)data;
	if (!file)
		return;
	for (int i = 0; i < VCPUS_MAX && vcpus[i].instructions; i++)
		fprintf(file, "vcpu %d %llu %llu %llu %llu\n", i,
			(unsigned long long)vcpus[i].instructions,
			(unsigned long long)qemu_plugin_u64_get(
				qemu_plugin_scoreboard_u64(inline_counts), i),
			(unsigned long long)vcpus[i].stalled_ps,
			(unsigned long long)vcpus[i].last_ps);
	fprintf(file, "backward %llu\n", (unsigned long long)backward);
	fprintf(file, "dma %llu %llu\n", (unsigned long long)dma_read,
		(unsigned long long)dma_written);
	fprintf(file, "tlb %llu %llu %llu\n", (unsigned long long)tlb_events[0],
		(unsigned long long)tlb_events[1], (unsigned long long)tlb_events[2]);
	fprintf(file, "machine_ps %llu\n", (unsigned long long)qemu_plugin_time_ps());
	fprintf(file, "trace %016llx\n", (unsigned long long)trace);
	fclose(file);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
					   char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			out = argv[i] + 4;
		else if (!strncmp(argv[i], "stall_ps=", 9))
			stall_ps = strtoull(argv[i] + 9, NULL, 10);
		else if (!strncmp(argv[i], "every=", 6))
			every = strtoull(argv[i] + 6, NULL, 10);
		else
			return -1;
	}
	inline_counts = qemu_plugin_scoreboard_new(sizeof(uint64_t));
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_vcpu_tlb_cb(id, on_tlb);
	qemu_plugin_register_dma_cb(id, on_dma);
	qemu_plugin_register_atexit_cb(id, write_figures, NULL);
	return out ? 0 : -1;
}

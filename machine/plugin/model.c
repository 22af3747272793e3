// SPDX-License-Identifier: GPL-2.0
/*
 * The timing model of the two-tier machine: a QEMU TCG plugin.
 *
 * The patched QEMU gives each vCPU a time of its own: a constant for each instruction,
 * idle time, and the stalls that this plugin adds. The guest's clocks show that time.
 *
 * In a region, each data access goes through
 *
 *	L1	32 KiB, 8 ways, of each core; indexed by virtual line, so that a hit,
 *		which is nearly every access, needs no address translation
 *	TLB	of each core: two levels, and a walk of the guest's page tables
 *	LLC	608 KiB, 19 ways, write-back, shared; indexed by a hash of the physical
 *		line
 *	tier	by physical address
 *
 * (sizes of the profile `tiered`), all with exact LRU. After a miss a core runs on; it
 * waits when it needs the value, or has too many lines under way. Misses, write-backs
 * and devices share the bandwidth of a tier, whose latency rises with load.
 *
 * Where to read on:
 *	machine.h	the machine: its state, setup and teardown
 *	access.h	an access, from the L1 on; DMA
 *	hierarchy.h	L1s, LLC and tiers together, and their coherence
 *	paging.h	address spaces and translation
 *	calls.h		calls of the guest
 *	core.h		the state of a core
 *	overlap.h	misses that overlap, and when a core waits
 *	cache.h		the L1s and the LLC; spaces.h: keys of the L1s
 *	filter.h	accesses that translated code does not report
 *	tlb.h		the TLB and the walk
 *	stream.h	the prefetcher
 *	tier.h		latency and units of a tier; bandwidth.h: its bandwidth
 *	pages.h		the kind of each page; observer.h: how kinds are used
 *	frames.h	stalls by frame, for the oracle
 *	placement.h	timing by page kind, for `kloc what-if`, or by frame
 *	region.h	counters; report.h: the result
 *	live.h, progress.h	figures shown while the guest runs
 *	config.h	the configuration
 *
 * The guest calls the model by a NOP that contains the number of the call, with an
 * argument in RAX. See <linux/kloc_machine.h>.
 *
 * Outside of regions translated code counts instructions only, and the guest runs at
 * nearly QEMU's own speed. A block of code has two translations side by side, with and
 * without callbacks for memory accesses.
 *
 * Limits (each header above lists its own):
 * - Hits in the L1 cost nothing beyond the CPI.
 * - Instruction fetches cost nothing.
 * - An access that straddles two lines counts as one of the first.
 * - Nothing stalls, and no bandwidth is taken, outside of regions.
 */
#include <stdio.h>
#include <string.h>

#include "access.h"
#include "calls.h"
#include "machine.h"
#include "paging.h"
#include "qemu_api.h"

int qemu_plugin_version = QEMU_PLUGIN_API;

static struct machine machine;

/* Instruction counters (struct counts) of the vCPUs; translated code updates them. */
static struct qemu_plugin_scoreboard *scoreboard;

/* RAX, and a buffer for its value. */
static struct qemu_plugin_register *argument_register;
static GByteArray *argument_bytes;

/*
 * Pack the data of a memory callback: the mode in bit 0, and above it the number of
 * instructions that follow in the block. They are subtracted from counters and time, which
 * QEMU has advanced to the block's end.
 */
static void *pack(size_t following, bool kernel)
{
	return (void *)(uintptr_t)(following << 1 | kernel);
}

static uint64_t time_at(uintptr_t packed)
{
	return qemu_plugin_time_ps() - (packed >> 1) * machine.config.insn_ps;
}

/*
 * Handle an access that cache_use_recent() did not serve: look up all ways of the
 * L1, and on a miss ask QEMU for the physical address. Device memory is ignored.
 */
__attribute__((noinline))
static void access_further(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,
			   uint64_t key, bool store, uintptr_t packed)
{
	struct core *core = &machine.cores[cpu];
	struct qemu_plugin_hwaddr *where;
	struct access access;

	if (likely(access_l1(&machine, cpu, key, store))) {
		access_enter_filter(core, key, address);
		return;
	}
	where = qemu_plugin_get_hwaddr(info, address);
	if (!where || qemu_plugin_hwaddr_is_io(where))
		return;
	access = (struct access){
		.key = key,
		.address = address,
		.now_ps = time_at(packed),
		.insn = core->counts->user + core->counts->kernel - (packed >> 1),
		.store = store,
		.kernel = packed & 1,
	};
	access_beyond_l1(&machine, cpu, &access, qemu_plugin_hwaddr_phys_addr(where));
	access_enter_filter(core, key, address);
}

/*
 * Handle an access that the filter does not hold. These are many, so this function is
 * short and ends in a tail call.
 */
static inline void access_memory(unsigned int cpu, qemu_plugin_meminfo_t info,
				 uint64_t address, bool store, uintptr_t packed)
{
	struct core *core = &machine.cores[cpu];
	uint64_t key = space_key(&core->space, address);
	struct cache_line *set = cache_set(&core->l1, key);

	if (likely(cache_use_recent(set, key, store)))
		filter_enter(core->filter, address, set);
	else
		access_further(cpu, info, address, key, store, packed);
}

static void on_load(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,
		    void *userdata)
{
	access_memory(cpu, info, address, false, (uintptr_t)userdata);
}

static void on_store(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,
		     void *userdata)
{
	access_memory(cpu, info, address, true, (uintptr_t)userdata);
}

/* Handle any access, where there is no filter. */
static void see_memory(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,
		       bool store, uintptr_t packed)
{
	struct core *core = &machine.cores[cpu];

	++core->filter->counts[packed & 1];
	access_memory(cpu, info, address, store, packed);
	if (machine.config.observe)
		access_observe(&machine, core, space_key(&core->space, address), address,
			       store, time_at(packed));
}

static void on_every_load(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,
			  void *userdata)
{
	see_memory(cpu, info, address, false, (uintptr_t)userdata);
}

static void on_every_store(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,
			   void *userdata)
{
	see_memory(cpu, info, address, true, (uintptr_t)userdata);
}

static void on_tlb_event(unsigned int cpu, enum qemu_plugin_tlb_event event, uint64_t value)
{
	if (cpu >= machine.config.cores)
		return;
	switch (event) {
	case QEMU_PLUGIN_TLB_ROOT:
		paging_set_root(&machine, cpu, value);
		break;
	case QEMU_PLUGIN_TLB_PAGE:
		paging_flush_page(&machine, cpu, value);
		break;
	case QEMU_PLUGIN_TLB_ALL:
		paging_flush_all(&machine, cpu);
		break;
	}
}

static void on_dma(uint64_t physical, uint64_t bytes, bool write)
{
	access_by_device(&machine, physical, bytes, write, qemu_plugin_time_ps());
}

static struct qemu_plugin_register *find_register(const char *name)
{
	GArray *list = qemu_plugin_get_registers();
	const qemu_plugin_reg_descriptor *registers = (const void *)list->data;
	struct qemu_plugin_register *found = NULL;

	for (unsigned int i = 0; i < list->len; i++)
		if (!strcmp(registers[i].name, name))
			found = registers[i].handle;
	g_array_free(list, 1);
	return found;
}

/* Return the argument of a call that the running vCPU makes. */
static uint64_t read_argument(void)
{
	uint64_t value = 0;

	if (!argument_register)
		argument_register = find_register("rax");
	g_byte_array_set_size(argument_bytes, 0);
	if (argument_register &&
	    qemu_plugin_read_register(argument_register, argument_bytes) == sizeof(value))
		memcpy(&value, argument_bytes->data, sizeof(value));
	return value;
}

/* Handle a call of the guest. userdata is its number. */
static void on_call(unsigned int cpu, void *userdata)
{
	bool modelled = machine.modelled;

	(void)cpu;
	calls_handle(&machine, (unsigned int)(uintptr_t)userdata, read_argument(),
		     qemu_plugin_time_ps());
	if (machine.modelled != modelled)
		qemu_plugin_select_variant(machine.modelled);
}

/* Return the number of the call that this instruction makes, or 0. */
static unsigned int call_number(const struct qemu_plugin_insn *insn)
{
	static const uint8_t nop[] = { 0x0f, 0x1f, 0x80 };
	static const uint8_t name[] = { KLOC_MACHINE_NOP_1, KLOC_MACHINE_NOP_2,
					KLOC_MACHINE_NOP_3 };
	uint8_t code[7];

	if (qemu_plugin_insn_size(insn) != sizeof(code))
		return 0;
	qemu_plugin_insn_data(insn, code, sizeof(code));
	if (memcmp(code, nop, sizeof(nop)) || memcmp(code + 4, name, sizeof(name)))
		return 0;
	return code[3];
}

/* Register the callbacks of an instruction; `following` more come after it in the block. */
static void translate_insn(struct qemu_plugin_insn *insn, bool modelled, bool kernel,
			   size_t following)
{
	unsigned int call = call_number(insn);
	void *packed = pack(following, kernel);

	if (call)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_call, QEMU_PLUGIN_CB_R_REGS,
						       (void *)(uintptr_t)call);
	if (!modelled)
		return;
	if (!access_is_filtered(&machine)) {
		qemu_plugin_register_vcpu_mem_addr_cb(insn, on_every_load,
						      QEMU_PLUGIN_CB_NO_REGS,
						      QEMU_PLUGIN_MEM_R, packed);
		qemu_plugin_register_vcpu_mem_addr_cb(insn, on_every_store,
						      QEMU_PLUGIN_CB_NO_REGS,
						      QEMU_PLUGIN_MEM_W, packed);
		return;
	}
	qemu_plugin_register_vcpu_mem_filtered_cb(insn, on_load, QEMU_PLUGIN_CB_NO_REGS,
						  QEMU_PLUGIN_MEM_R, kernel, packed);
	qemu_plugin_register_vcpu_mem_filtered_cb(insn, on_store, QEMU_PLUGIN_CB_NO_REGS,
						  QEMU_PLUGIN_MEM_W, kernel, packed);
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t count = qemu_plugin_tb_n_insns(tb);
	bool modelled = qemu_plugin_tb_variant(tb);
	bool kernel = qemu_plugin_tb_vaddr(tb) >> 63;
	qemu_plugin_u64 counter = {
		.score = scoreboard,
		.offset = kernel ? offsetof(struct counts, kernel) :
				   offsetof(struct counts, user),
	};

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64,
							  counter, count);
	for (size_t i = 0; i < count; i++)
		translate_insn(qemu_plugin_tb_get_insn(tb, i), modelled, kernel,
			       count - 1 - i);
}

static void on_exit_qemu(qemu_plugin_id_t id, void *userdata)
{
	(void)id;
	(void)userdata;
	calls_finish(&machine, qemu_plugin_time_ps());
}

static void on_vcpu(qemu_plugin_id_t id, unsigned int cpu)
{
	(void)id;
	if (cpu >= machine.config.cores)
		return;
	machine.cores[cpu].counts = qemu_plugin_scoreboard_find(scoreboard, cpu);
	machine_set_filter(&machine.cores[cpu], qemu_plugin_vcpu_mem_filter(cpu));
}

static void register_callbacks(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_vcpu_tlb_cb(id, on_tlb_event);
	qemu_plugin_register_dma_cb(id, on_dma);
	qemu_plugin_register_atexit_cb(id, on_exit_qemu, NULL);
}

static bool complain(const char *what)
{
	fprintf(stderr, "kloc model: %s\n", what);
	return false;
}

static bool suits(const qemu_info_t *info)
{
	if (strcmp(info->target_name, "x86_64") || !info->system_emulation)
		return complain("this plugin needs qemu-system-x86_64");
	if ((unsigned int)info->system.max_vcpus != machine.config.cores)
		return complain("the configuration's cores are not QEMU's -smp; make them equal");
	return true;
}

static bool read_arguments(int argc, char **argv)
{
	const char key[] = "config=";

	if (argc != 1 || strncmp(argv[0], key, strlen(key)))
		return complain("usage: -plugin model.so,config=FILE");
	return config_read(&machine.config, argv[0] + strlen(key));
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	if (!read_arguments(argc, argv) || !suits(info) ||
	    !machine_init(&machine, qemu_plugin_vcpu_stall) ||
	    !progress_begin(&machine.progress, &machine, qemu_plugin_time_ps))
		return -1;
	argument_bytes = g_byte_array_new();
	scoreboard = qemu_plugin_scoreboard_new(sizeof(struct counts));
	register_callbacks(id);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The timing model of the two-tier machine: a QEMU TCG plugin.
 *
 * QEMU executes the guest's instructions and knows nothing of time: under
 * -icount shift=0 its clock counts them, 1 ns each. This plugin computes how long
 * they would take on a machine whose memory has tiers of different speed, and
 * gives the result to the guest as its time.
 *
 * Each instruction takes the profile's CPI. In the measured region, each data
 * access goes through
 *
 *	L1	32 KiB, 8 ways; indexed by virtual line, so that a hit, which is
 *		nearly every access, needs no address translation
 *	LLC	1 MiB, 16 ways, write-back; indexed by a hash of the physical line
 *	tier	by physical address; a load that misses stalls the core for the
 *		read latency, a store for store_stall of the write latency
 *
 * (sizes are the defaults), all caches with exact LRU. A miss that continues a
 * stream is taken as prefetched and waits for bandwidth only. Misses, write-backs,
 * background threads and devices' copies share the bandwidth of a tier.
 *
 * Where to read on:
 *	clock.h		simulated time, and how the guest reads it
 *	background.h	kernel threads that have a core of their own
 *	cache.h		the L1 and the LLC; spaces.h: keys of the L1
 *	stream.h	the prefetcher
 *	tier.h		latency and units of a tier; bandwidth.h: its bandwidth
 *	pages.h		the kind of each page; observer.h: how kinds are used
 *	frames.h	what each frame would save in fast memory, for the oracle
 *	placement.h	timing by page kind, for `kloc what-if`
 *	region.h	what is counted; report.h: the result; live.h: progress
 *	config.h	the configuration
 *	machine.h	how these work together; all of the model but QEMU
 *
 * The guest tells the model what it cannot see (a task switch, a device's copy,
 * idle, the ends of the measured region): it fills in a page of memory that both
 * share, and executes a NOP with the number of the call. See
 * <linux/kloc_machine.h>.
 *
 * Outside the measured region only instructions are counted, in translated code,
 * and the guest runs at nearly QEMU's own speed. At both ends of the region all
 * translations are dropped, and made again with or without callbacks for memory
 * accesses.
 *
 * Limits (see the headers above for those of each part):
 * - There is one CPU: QEMU up to 11.1 mixes up vCPUs in plugins under icount.
 * - Hits in the L1 and in the LLC cost nothing beyond the CPI.
 * - Independent misses do not overlap, unless they are prefetched.
 * - Instruction fetches and page-table walks cost nothing, and there is no TLB:
 *   it does not matter where page tables are, or how large pages are.
 * - An access that straddles two lines counts as one of the first.
 * - Nothing stalls, and no bandwidth is taken, outside the measured region.
 */
#include <stdio.h>
#include <string.h>

#include "file.h"
#include "machine.h"
#include "qemu_api.h"

int qemu_plugin_version = QEMU_PLUGIN_API;

static struct machine machine;
static qemu_plugin_id_t plugin;

/* Instruction counters (struct counts) of the only vCPU; translated code updates them. */
static struct qemu_plugin_scoreboard *scoreboard;

/*
 * Handle an access that cache_use_recent() did not serve: look up all ways of the
 * L1, and on a miss ask QEMU for the physical address. Device memory is ignored.
 */
__attribute__((noinline))
static void access_further(qemu_plugin_meminfo_t info, uint64_t address, uint64_t key,
			   bool store, bool kernel)
{
	struct qemu_plugin_hwaddr *where;

	if (likely(machine_access_l1(&machine, key, store)))
		return;
	where = qemu_plugin_get_hwaddr(info, address);
	if (where && !qemu_plugin_hwaddr_is_io(where))
		machine_access_beyond(&machine, key, qemu_plugin_hwaddr_phys_addr(where),
				      store, kernel);
}

/*
 * Handle an access. Every access of the region comes here, so this is short and
 * ends in a tail call. accesses is the counter of the mode: user or kernel.
 */
static inline void access_memory(qemu_plugin_meminfo_t info, uint64_t address, bool store,
				 uint64_t *accesses)
{
	uint64_t key = spaces_key(&machine.spaces, address);

	++*accesses;
	if (unlikely(!cache_use_recent(cache_set(&machine.l1, key), key, store)))
		access_further(info, address, key, store,
			       accesses == &machine.region.accesses[1]);
}

static void on_load(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,
		    void *userdata)
{
	(void)cpu;
	access_memory(info, address, false, userdata);
}

static void on_store(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,
		     void *userdata)
{
	(void)cpu;
	access_memory(info, address, true, userdata);
}

/* Like access_memory(), for key "observe", which needs every access. */
static void observe_memory(qemu_plugin_meminfo_t info, uint64_t address, bool store,
			   uint64_t *accesses)
{
	access_memory(info, address, store, accesses);
	machine_observe(&machine, spaces_key(&machine.spaces, address), address, store);
}

static void on_observed_load(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,
			     void *userdata)
{
	(void)cpu;
	observe_memory(info, address, false, userdata);
}

static void on_observed_store(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,
			      void *userdata)
{
	(void)cpu;
	observe_memory(info, address, true, userdata);
}

static void on_read_tsc(unsigned int cpu, void *userdata)
{
	(void)cpu;
	(void)userdata;
	machine_read_tsc(&machine);
}

static void register_callbacks(qemu_plugin_id_t id);

/* Handle a call of the guest. userdata is its number. */
static void on_call(unsigned int cpu, void *userdata)
{
	bool modelled = machine.modelled;

	(void)cpu;
	machine_call(&machine, (unsigned int)(uintptr_t)userdata);
	if (machine.modelled != modelled)
		qemu_plugin_reset(plugin, register_callbacks);
}

static bool reads_tsc(const uint8_t *code, size_t size)
{
	return (size == 2 && code[0] == 0x0f && code[1] == 0x31) ||	/* rdtsc */
	       (size == 3 && code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xf9);
}

/* Return the number of the call that this instruction makes, or 0. */
static unsigned int call_number(const uint8_t *code, size_t size)
{
	if (size == 7 && code[0] == 0x0f && code[1] == 0x1f && code[2] == 0x80 &&
	    code[4] == KLOC_MACHINE_NOP_1 && code[5] == KLOC_MACHINE_NOP_2 &&
	    code[6] == KLOC_MACHINE_NOP_3)
		return code[3];
	return 0;
}

static void translate_insn(struct qemu_plugin_insn *insn, bool kernel)
{
	void *accesses = &machine.region.accesses[kernel];
	size_t size = qemu_plugin_insn_size(insn);
	uint8_t code[7];

	if (size == 2 || size == 3 || size == 7) {
		unsigned int call;

		qemu_plugin_insn_data(insn, code, size);
		call = call_number(code, size);
		if (call)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_call,
							       QEMU_PLUGIN_CB_NO_REGS,
							       (void *)(uintptr_t)call);
		else if (reads_tsc(code, size))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_read_tsc,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
	if (machine.modelled) {
		bool observed = machine.config.observe;

		qemu_plugin_register_vcpu_mem_cb(insn, observed ? on_observed_load : on_load,
						 QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_R,
						 accesses);
		qemu_plugin_register_vcpu_mem_cb(insn, observed ? on_observed_store : on_store,
						 QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_W,
						 accesses);
	}
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t count = qemu_plugin_tb_n_insns(tb);
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
		translate_insn(qemu_plugin_tb_get_insn(tb, i), kernel);
}

static void on_exit_qemu(qemu_plugin_id_t id, void *userdata)
{
	(void)id;
	(void)userdata;
	machine_finish(&machine);
}

static void on_vcpu(qemu_plugin_id_t id, unsigned int cpu)
{
	(void)id;
	machine.counts = qemu_plugin_scoreboard_find(scoreboard, cpu);
}

static void register_callbacks(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
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
	if (info->system.max_vcpus > 1)
		return complain("the model supports one CPU; start QEMU with -smp 1");
	return true;
}

static bool read_arguments(int argc, char **argv)
{
	const char key[] = "config=";

	if (argc != 1 || strncmp(argv[0], key, strlen(key)))
		return complain("usage: -plugin model.so,config=FILE");
	if (!config_read(&machine.config, argv[0] + strlen(key)))
		return false;
	if (!machine.config.page)
		return complain("the configuration has no page=FILE; add the guest's shared page");
	return true;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	static const struct counts none;
	struct kloc_machine_page *page;

	if (!suits(info) || !read_arguments(argc, argv))
		return -1;
	page = file_map("page", machine.config.page, 0, sizeof(*page), true);
	if (!page || !machine_init(&machine, page, &none))
		return -1;
	plugin = id;
	scoreboard = qemu_plugin_scoreboard_new(sizeof(struct counts));
	register_callbacks(id);
	return 0;
}

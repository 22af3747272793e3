/* SPDX-License-Identifier: GPL-2.0 */
/*
 * QEMU's plugin interface, version 4 (QEMU 10.0), as far as the project's plugins use it,
 * so that they build without QEMU's headers. "Patched" marks functions of
 * machine/qemu/patches.
 *
 * All handles are opaque. Callbacks run on the thread of the vCPU.
 */
#ifndef QEMU_API_H
#define QEMU_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_API 4
#define QEMU_EXPORTED __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;

struct filter;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;
struct qemu_plugin_scoreboard;

/* QEMU's description of itself, given to qemu_plugin_install(). */
typedef struct {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus;
		int max_vcpus;
	} system;
} qemu_info_t;

/* A 64-bit counter per vCPU: the field at offset of the vCPU's scoreboard entry. */
typedef struct {
	struct qemu_plugin_scoreboard *score;
	size_t offset;
} qemu_plugin_u64;

enum qemu_plugin_op {
	QEMU_PLUGIN_INLINE_ADD_U64,
	QEMU_PLUGIN_INLINE_STORE_U64,
};

enum qemu_plugin_cb_flags {
	QEMU_PLUGIN_CB_NO_REGS,
	QEMU_PLUGIN_CB_R_REGS,
};

/* Patched: changes that a vCPU makes to its TLB. */
enum qemu_plugin_tlb_event {
	QEMU_PLUGIN_TLB_ROOT,	/* uses other page tables; the value is CR3 */
	QEMU_PLUGIN_TLB_PAGE,	/* drops the entry of an address */
	QEMU_PLUGIN_TLB_ALL,	/* drops all entries */
};

enum qemu_plugin_mem_rw {
	QEMU_PLUGIN_MEM_R = 1,
	QEMU_PLUGIN_MEM_W = 2,
};

typedef void (*qemu_plugin_simple_cb_t)(qemu_plugin_id_t id);
typedef void (*qemu_plugin_udata_cb_t)(qemu_plugin_id_t id, void *userdata);
typedef void (*qemu_plugin_vcpu_simple_cb_t)(qemu_plugin_id_t id, unsigned int cpu);
typedef void (*qemu_plugin_vcpu_udata_cb_t)(unsigned int cpu, void *userdata);
typedef void (*qemu_plugin_vcpu_tb_trans_cb_t)(qemu_plugin_id_t id,
					       struct qemu_plugin_tb *tb);
typedef void (*qemu_plugin_vcpu_mem_cb_t)(unsigned int cpu,
					  qemu_plugin_meminfo_t info,
					  uint64_t vaddr, void *userdata);

typedef void (*qemu_plugin_vcpu_tlb_cb_t)(unsigned int cpu, enum qemu_plugin_tlb_event event,
					  uint64_t value);
typedef void (*qemu_plugin_dma_cb_t)(uint64_t physical, uint64_t bytes, bool write);

/* GLib's arrays, as far as registers need them. */
typedef struct {
	char *data;
	unsigned int len;
} GArray;

typedef struct {
	uint8_t *data;
	unsigned int len;
} GByteArray;

GByteArray *g_byte_array_new(void);
GByteArray *g_byte_array_set_size(GByteArray *array, unsigned int length);
char *g_array_free(GArray *array, int free_segment);

typedef struct {
	struct qemu_plugin_register *handle;
	const char *name;
	const char *feature;
} qemu_plugin_reg_descriptor;

/* Exported by a plugin: the interface version that it uses, and its entry point. */
extern QEMU_EXPORTED int qemu_plugin_version;
QEMU_EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info,
				      int argc, char **argv);

/* Drop all callbacks and translations, then call cb to register callbacks again. */
void qemu_plugin_reset(qemu_plugin_id_t id, qemu_plugin_simple_cb_t cb);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id,
				       qemu_plugin_vcpu_simple_cb_t cb);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb_t cb,
				    void *userdata);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   qemu_plugin_vcpu_tb_trans_cb_t cb);

/* Patched: call cb for TLB events of vCPUs, and for accesses of devices to memory. */
void qemu_plugin_register_vcpu_tlb_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_tlb_cb_t cb);
void qemu_plugin_register_dma_cb(qemu_plugin_id_t id, qemu_plugin_dma_cb_t cb);

/*
 * Patched: return the time in ps. In a callback of a vCPU it is that vCPU's time, with all
 * instructions of the current block, else the machine's. And let the running vCPU wait.
 */
uint64_t qemu_plugin_time_ps(void);
void qemu_plugin_vcpu_stall(uint64_t ps);

/*
 * Patched: let vCPUs execute this variant of their blocks from the next block on; and
 * return, at translation time, the variant of a block. The first variant is false.
 */
void qemu_plugin_select_variant(bool variant);
bool qemu_plugin_tb_variant(const struct qemu_plugin_tb *tb);

/* At translation time: inspect a block, and register callbacks for its execution. */
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb,
						 size_t index);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t size);
void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb *tb,
						       enum qemu_plugin_op op,
						       qemu_plugin_u64 entry,
						       uint64_t operand);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    qemu_plugin_vcpu_udata_cb_t cb,
					    enum qemu_plugin_cb_flags flags,
					    void *userdata);

/* Patched: call cb for each access. The callback cannot read the value. */
void qemu_plugin_register_vcpu_mem_addr_cb(struct qemu_plugin_insn *insn,
					   qemu_plugin_vcpu_mem_cb_t cb,
					   enum qemu_plugin_cb_flags flags,
					   enum qemu_plugin_mem_rw rw, void *userdata);

/*
 * Patched: call cb for each access whose line is not in the vCPU's filter. Counter 0 or 1
 * of the filter counts all accesses. See filter.h.
 */
struct filter *qemu_plugin_vcpu_mem_filter(unsigned int cpu);
void qemu_plugin_register_vcpu_mem_filtered_cb(struct qemu_plugin_insn *insn,
					       qemu_plugin_vcpu_mem_cb_t cb,
					       enum qemu_plugin_cb_flags flags,
					       enum qemu_plugin_mem_rw rw,
					       unsigned int counter, void *userdata);

/* In a memory callback: the physical address of the access. NULL if it is unknown. */
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info,
						  uint64_t vaddr);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *where);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *where);

/*
 * In a callback of a vCPU: a list of its registers, of qemu_plugin_reg_descriptor, and
 * the value of one, appended to an array. The callback has QEMU_PLUGIN_CB_R_REGS.
 */
GArray *qemu_plugin_get_registers(void);
int qemu_plugin_read_register(struct qemu_plugin_register *handle, GByteArray *to);

/* Counters that translated code updates without a callback. */
struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t entry_bytes);
void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *score, unsigned int cpu);

#endif /* QEMU_API_H */

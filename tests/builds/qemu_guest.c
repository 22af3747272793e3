// SPDX-License-Identifier: GPL-2.0
/*
 * The guest of test_qemu.py: no kernel, 32 bits, started by QEMU as a multiboot image. It measures
 * by the TSC, which has 1 GHz, and prints "name value..." lines to the serial line. All values are
 * ns unless a line says otherwise. The plugin qemu_probe.c listens to stores at DOORBELLS.
 *
 * Built with -DPATCHES=N, it patches its own code N times instead, without the plugin and a disk,
 * and without -icount, so that its CPUs run at the same time. Then the TSC is the host's.
 */
#include <stddef.h>
#include <stdint.h>

#ifndef PATCHES
#define PATCHES		0
#endif

#define CPUS_MAX	8
#define STACK		4096

#define STALL		((volatile uint32_t *)0x800000)	/* the vCPU stalls for that many ps */
#define MARK		((volatile uint32_t *)0x800004)	/* the plugin writes down where it is */

#define FILTER		((volatile uint32_t *)0x800008)	/* the filter has this line only */
#define VARIANT		((volatile uint32_t *)0x80000c)	/* of the blocks from now on, 0 or 1 */

#define TOUCHES		100
#define LOOPS		1000000U
#define START_TICKS	30000000000ULL	/* for another CPU to start on a busy host */
#define PATCH_TICKS	100000000000ULL	/* a busy host runs the CPUs in turns, not together */
#define STALL_NS	20000U
#define TIMER_NS	5000U
#define SLEEP_NS	1000000U
#define PAUSES		1000

#define APIC		0xfee00000U
#define APIC_ID		0x20
#define APIC_EOI	0xb0
#define APIC_SPURIOUS	0xf0
#define APIC_ICR	0x300
#define APIC_TIMER	0x320
#define APIC_COUNT	0x380
#define APIC_DIVIDE	0x3e0
#define TO_OTHERS	0xc0000U
#define INIT		0x4500U
#define STARTUP		0x4600U
#define FIXED		0x4000U
#define TRAMPOLINE	0x8000U
#define WAKE_VECTOR	0x40
#define TIMER_VECTOR	0x41

#define NOINLINE	__attribute__((noinline))

/*
 * The entry point, with the multiboot header, and the one of the other CPUs, which begin in real
 * mode in a copy at TRAMPOLINE.
 */
__asm__(".align 4\n"
	"	.long 0x1badb002, 0, -0x1badb002\n"
	".globl begin\n"
	"begin:\n"
	"	cli\n"
	"	lgdt gdt_pointer\n"
	"	ljmp $8, $1f\n"
	"1:	mov $16, %eax\n"
	"	mov %eax, %ds\n"
	"	mov %eax, %es\n"
	"	mov %eax, %ss\n"
	"	mov $stacks + 4096, %esp\n"
	"	call first_cpu\n"
	".code16\n"
	"trampoline:\n"
	"	cli\n"
	"	xor %ax, %ax\n"
	"	mov %ax, %ds\n"
	"	lgdtl gdt_pointer - trampoline + 0x8000\n"
	"	mov %cr0, %eax\n"
	"	or $1, %al\n"
	"	mov %eax, %cr0\n"
	"	ljmpl $8, $1f\n"
	"gdt_pointer:\n"
	"	.word 23\n"
	"	.long gdt\n"
	"trampoline_end:\n"
	".code32\n"
	"1:	mov $16, %eax\n"
	"	mov %eax, %ds\n"
	"	mov %eax, %es\n"
	"	mov %eax, %ss\n"
	"	mov 0xfee00020, %eax\n"
	"	shr $24, %eax\n"
	"	mov %eax, %esp\n"
	"	inc %esp\n"
	"	shl $12, %esp\n"
	"	add $stacks, %esp\n"
	"	push %eax\n"
	"	call other_cpu\n");

extern const char trampoline[], trampoline_end[];
const uint64_t gdt[3] = { 0, 0x00cf9a000000ffffULL, 0x00cf92000000ffffULL };
char stacks[CPUS_MAX][STACK] __attribute__((aligned(STACK)));

static struct {
	uint32_t low, high;
} idt[256];

static volatile int online, arrived, done;
static void (*volatile job)(int cpu);
static volatile int asked[CPUS_MAX];
static volatile uint64_t woken[CPUS_MAX], fired[CPUS_MAX];	/* TSC in the handlers */
static volatile uint64_t took[CPUS_MAX];
static int cpus = 1;

static void out8(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port) : "memory");
}

static void out16(uint16_t port, uint16_t value)
{
	__asm__ volatile("outw %0, %1" : : "a"(value), "Nd"(port) : "memory");
}

static void out32(uint16_t port, uint32_t value)
{
	__asm__ volatile("outl %0, %1" : : "a"(value), "Nd"(port) : "memory");
}

static uint16_t in16(uint16_t port)
{
	uint16_t value;

	__asm__ volatile("inw %1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

static uint32_t in32(uint16_t port)
{
	uint32_t value;

	__asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

static inline uint64_t now(void)
{
	uint64_t tsc;

	__asm__ volatile("rdtsc" : "=A"(tsc) : : "memory");
	return tsc;
}

static void wait_until(uint64_t time)
{
	while (now() < time)
		;
}

static void print(const char *text)
{
	for (; *text; text++)
		out8(0x3f8, *text);
}

static void print_hex(uint64_t value)
{
	char text[] = " 0x0000000000000000";

	for (int i = 18; i > 2; i--, value >>= 4)
		text[i] = "0123456789abcdef"[value & 15];
	print(text);
}

static void print_value(const char *name, uint64_t value)
{
	print(name);
	print_hex(value);
	print("\n");
}

/* Print what the CPUs have left in took. */
static void print_all(const char *name)
{
	print(name);
	for (int cpu = 0; cpu < cpus; cpu++)
		print_hex(took[cpu]);
	print("\n");
}

static volatile uint32_t *apic(uint32_t at)
{
	return (volatile uint32_t *)(APIC + at);
}

static int this_cpu(void)
{
	return (int)(*apic(APIC_ID) >> 24);
}

struct frame;

static __attribute__((interrupt)) void on_wake(struct frame *frame)
{
	(void)frame;
	woken[this_cpu()] = now();
	*apic(APIC_EOI) = 0;
}

static __attribute__((interrupt)) void on_timer(struct frame *frame)
{
	(void)frame;
	fired[this_cpu()] = now();
	*apic(APIC_EOI) = 0;
}

static void set_gate(int vector, void (*handler)(struct frame *frame))
{
	uint32_t at = (uint32_t)handler;

	idt[vector].low = 8 << 16 | (at & 0xffff);
	idt[vector].high = (at & 0xffff0000) | 0x8e00;
}

static void prepare_cpu(void)
{
	struct {
		uint16_t limit;
		uint32_t base;
	} __attribute__((packed)) pointer = { sizeof(idt) - 1, (uint32_t)idt };

	__asm__ volatile("lidt %0" : : "m"(pointer));
	*apic(APIC_SPURIOUS) = 0x1ff;
	*apic(APIC_DIVIDE) = 0xb;
	*apic(APIC_TIMER) = TIMER_VECTOR;
}

/* Wait in HLT until an interrupt has left something in *flag. */
static void halt_until(volatile uint64_t *flag)
{
	__asm__ volatile("cli");
	while (!*flag)
		__asm__ volatile("sti\n\thlt\n\tcli" : : : "memory");
}

__attribute__((noreturn, used)) void other_cpu(int cpu)
{
	prepare_cpu();
	__atomic_fetch_add(&online, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		while (!asked[cpu])
			__asm__ volatile("sti\n\thlt\n\tcli" : : : "memory");
		asked[cpu] = 0;
		job(cpu);
		__atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
	}
}

/* Run work on all CPUs. */
static void run_on_all(void (*work)(int cpu))
{
	arrived = 0;
	done = 0;
	job = work;
	for (int cpu = 1; cpu < cpus; cpu++)
		asked[cpu] = 1;
	*apic(APIC_ICR) = TO_OTHERS | FIXED | WAKE_VECTOR;
	work(0);
	while (done != cpus - 1)
		;
	/* They halt before anybody measures. */
	wait_until(now() + 10000);
}

/* Wait until all CPUs are here. */
static void meet(void)
{
	__atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
	while (arrived != cpus)
		;
}

/* Return how long LOOPS * 2 instructions take. */
static NOINLINE uint64_t time_loop(void)
{
	uint32_t left = LOOPS;
	uint64_t begin = now();

	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(left) : : "cc");
	return now() - begin;
}

/* The plugin sees the marks of a CPU with the CPU's own number. */
static void loop_with_marks(int cpu)
{
	meet();
	*MARK = 0x100 + cpu;
	took[cpu] = time_loop();
	*MARK = 0x200 + cpu;
}

static void loop_and_stall(int cpu)
{
	uint64_t begin;

	meet();
	if (cpu == 1) {
		begin = now();
		for (int i = 0; i < 10; i++)
			*STALL = STALL_NS * 1000;
		took[cpu] = now() - begin;
	} else {
		took[cpu] = time_loop();
	}
}

static void measure_loops(void)
{
	uint64_t begin;

	*MARK = 1;
	print_value("alone", time_loop());
	run_on_all(loop_with_marks);
	print_all("together");

	*MARK = 2;
	begin = now();
	*STALL = STALL_NS * 1000;
	print_value("stall", now() - begin);
	run_on_all(loop_and_stall);
	print_all("one_stalls");

	*MARK = 3;
	for (int i = 0; i < 10; i++) {
		*STALL = 123457;
		time_loop();
	}
	*MARK = 4;

	begin = now();
	for (int i = 0; i < PAUSES; i++)
		__asm__ volatile("pause");
	print_value("pauses", now() - begin);
}

/* CPU 0 stalls while the timer of CPU 1, which is idle, falls due. */
static void stall_or_wait(int cpu)
{
	uint64_t begin;

	meet();
	if (cpu == 0) {
		*STALL = STALL_NS * 1000;
	} else if (cpu == 1) {
		fired[1] = 0;
		begin = now();
		*apic(APIC_COUNT) = TIMER_NS;
		halt_until(&fired[1]);
		took[1] = fired[1] - begin;
	}
}

static volatile uint64_t written;

/* CPU 1 waits for what CPU 0 writes, and says how late it saw that. */
static void write_or_watch(int cpu)
{
	written = 0;
	meet();
	if (cpu == 0) {
		time_loop();
		written = now();
	} else if (cpu == 1) {
		while (!written)
			;
		took[1] = now() - written;
	}
}

static void measure_timers(void)
{
	uint64_t begin;

	fired[0] = 0;
	begin = now();
	*apic(APIC_COUNT) = SLEEP_NS;
	halt_until(&fired[0]);
	print_value("timer", fired[0] - begin);

	fired[0] = 0;
	begin = now();
	*apic(APIC_COUNT) = TIMER_NS;
	__asm__ volatile("sti");
	*STALL = STALL_NS * 1000;
	while (!fired[0])
		;
	__asm__ volatile("cli");
	print_value("timer_in_stall", fired[0] - begin);

	run_on_all(stall_or_wait);
	print_value("timer_of_other", took[1]);

	woken[1] = 0;
	begin = now();
	*apic(APIC_ICR) = TO_OTHERS | FIXED | WAKE_VECTOR;
	wait_until(begin + 10000);
	print_value("wake", woken[1] - begin);

	run_on_all(write_or_watch);
	print_value("seen", took[1]);
}

#define PAGE		4096U
#define PAGES		900U
#define TEST_AREA	0x1000000U	/* mapped by small pages */
#define PRESENT		0x1U
#define WRITABLE	0x2U
#define ACCESSED	0x20U
#define LARGE		0x80U
#define CR4_PSE		0x10U
#define CR4_PGE		0x80U
#define CR0_WP		0x10000U
#define CR0_PG		0x80000000U

static uint32_t directories[2][1024] __attribute__((aligned(4096)));
static uint32_t table[1024] __attribute__((aligned(4096)));

static void set_cr3(uint32_t *directory)
{
	__asm__ volatile("mov %0, %%cr3" : : "r"(directory) : "memory");
}

static void change_cr4(uint32_t set, uint32_t clear)
{
	uint32_t value;

	__asm__ volatile("mov %%cr4, %0" : "=r"(value));
	__asm__ volatile("mov %0, %%cr4" : : "r"((value | set) & ~clear) : "memory");
}

static void change_cr0(uint32_t set, uint32_t clear)
{
	uint32_t value;

	__asm__ volatile("mov %%cr0, %0" : "=r"(value));
	__asm__ volatile("mov %0, %%cr0" : : "r"((value | set) & ~clear) : "memory");
}

static void touch_pages(void)
{
	for (uint32_t at = 0; at < PAGES; at++)
		*(volatile char *)(TEST_AREA + at * PAGE);
}

static uint32_t count_accessed(void)
{
	uint32_t count = 0;

	for (uint32_t at = 0; at < PAGES; at++)
		count += !!(table[at] & ACCESSED);
	return count;
}

static void measure_tlb(void)
{
	for (uint32_t i = 0; i < 1024; i++) {
		table[i] = (TEST_AREA + i * PAGE) | PRESENT | WRITABLE;
		directories[0][i] = i << 22 | PRESENT | WRITABLE | LARGE;
	}
	directories[0][TEST_AREA >> 22] = (uint32_t)table | PRESENT | WRITABLE;
	for (uint32_t i = 0; i < 1024; i++)
		directories[1][i] = directories[0][i];

	*MARK = 10;
	change_cr4(CR4_PSE, 0);
	*MARK = 11;
	set_cr3(directories[0]);
	*MARK = 12;
	change_cr0(CR0_PG, 0);
	*MARK = 13;
	for (int i = 0; i < 5; i++)
		set_cr3(directories[(i + 1) & 1]);
	*MARK = 14;
	for (uint32_t i = 0; i < 7; i++)
		__asm__ volatile("invlpg (%0)" : : "r"(TEST_AREA + i * PAGE) : "memory");
	*MARK = 15;
	change_cr4(CR4_PGE, 0);
	change_cr4(0, CR4_PGE);
	*MARK = 16;
	change_cr0(CR0_WP, 0);
	*MARK = 17;
	touch_pages();
	*MARK = 18;

	/* Bits are set again if the entry has left QEMU's TLB meanwhile. */
	print_value("accessed", count_accessed());
	for (uint32_t i = 0; i < 1024; i++)
		table[i] &= ~ACCESSED;
	touch_pages();
	print_value("accessed_again", count_accessed());
	change_cr0(0, CR0_PG);
}

/* A virtio disk by the interface before version 1, whose registers are ports. */
#define DISK_ID		0x10011af4U
#define QUEUE_PAGE	8
#define QUEUE_SIZE	12
#define QUEUE_SELECT	14
#define NOTIFY		16
#define STATUS		18
#define DESCRIPTOR_NEXT	1
#define DEVICE_WRITES	2
#define READ		0U
#define WRITE		1U
#define FLUSH		4U
#define DISCARD		11U
#define FEATURES	(1U << 9 | 1U << 13)	/* to flush and to discard */
#define BLOCK		4096U
#define SECTORS		(BLOCK / 512)
#define PARALLEL	2

struct descriptor {
	uint64_t at;
	uint32_t bytes;
	uint16_t flags, next;
};

struct request {
	uint32_t type, priority;
	uint64_t sector;
	uint8_t status;
};

static char queue[32768] __attribute__((aligned(4096)));
static uint32_t blocks[PARALLEL][BLOCK / 4] __attribute__((aligned(4096)));
static struct request requests[PARALLEL];
static uint16_t disk;
static volatile uint16_t *available, *used;
static uint16_t queue_size, requested;

static uint32_t read_pci(uint32_t device, uint32_t at)
{
	out32(0xcf8, 0x80000000U | device << 11 | at);
	return in32(0xcfc);
}

static void find_disk(void)
{
	for (uint32_t device = 0; device < 32; device++) {
		if (read_pci(device, 0) != DISK_ID)
			continue;
		disk = read_pci(device, 0x10) & ~3U;
		out32(0xcf8, 0x80000000U | device << 11 | 4);
		out16(0xcfc, 5);	/* ports, and DMA */
	}
	out8(disk + STATUS, 0);
	out8(disk + STATUS, 3);
	out32(disk + 4, FEATURES);
	out16(disk + QUEUE_SELECT, 0);
	queue_size = in16(disk + QUEUE_SIZE);
	out32(disk + QUEUE_PAGE, (uint32_t)queue / PAGE);
	available = (uint16_t *)(queue + queue_size * sizeof(struct descriptor));
	used = (uint16_t *)(((uint32_t)(available + 3 + queue_size) + PAGE - 1) & ~(PAGE - 1));
	available[0] = 1;	/* no interrupts */
	out8(disk + STATUS, 7);
}

/*
 * Begin a request, the one with that number of PARALLEL: read or write a block, flush, or discard
 * what the block in memory says.
 */
static void submit(uint32_t number, uint32_t type, uint32_t block)
{
	struct descriptor *first = (struct descriptor *)queue + number * 3, *next = first;
	struct request *request = &requests[number];

	*request = (struct request){ .type = type, .sector = block * SECTORS, .status = 0xff };
	*next++ = (struct descriptor){ (uint32_t)request, 16, DESCRIPTOR_NEXT, number * 3 + 1 };
	if (type != FLUSH)
		*next++ = (struct descriptor){
			(uint32_t)blocks[number], type == DISCARD ? 16 : BLOCK,
			DESCRIPTOR_NEXT | (type == READ ? DEVICE_WRITES : 0), number * 3 + 2,
		};
	*next = (struct descriptor){ (uint32_t)&request->status, 1, DEVICE_WRITES, 0 };
	available[2 + requested++ % queue_size] = number * 3;
	__asm__ volatile("" : : : "memory");
	available[1] = requested;
}

/* Wait until so many requests are outstanding. */
static void wait_for(uint16_t outstanding)
{
	while ((uint16_t)(requested - used[1]) > outstanding)
		;
	__asm__ volatile("" : : : "memory");
}

static uint64_t time_request(uint32_t type, uint32_t block)
{
	uint64_t begin;

	submit(0, type, block);
	begin = now();
	out16(disk + NOTIFY, 0);
	wait_for(0);
	begin = now() - begin;
	if (requests[0].status)
		print_value("failed", block);
	return begin;
}

/* Load and store words of a line, two times each in each round. */
static NOINLINE uint32_t touch_line(volatile uint32_t *line)
{
	for (uint32_t i = 0; i < TOUCHES; i++) {
		line[1 + i % 15] += i;
		__sync_fetch_and_add(&line[0], 1);
	}
	return line[0];
}

static void measure_filter(void)
{
	static uint32_t line[16] __attribute__((aligned(64)));

	*MARK = 30;
	print_value("touches", touch_line(line));
	*MARK = 31;
	*FILTER = (uint32_t)(uintptr_t)line;
	*MARK = 32;
	print_value("touches_again", touch_line(line));
	*MARK = 33;
	*FILTER = 0;
}

/* Execute the loop in both variants, and again, when both are translated. */
static void measure_variants(void)
{
	for (uint32_t round = 0; round < 4; round++) {
		*VARIANT = round & 1;
		*MARK = 40 + 2 * round;
		time_loop();
		*MARK = 41 + 2 * round;
	}
	*VARIANT = 0;
}

static void measure_disk(void)
{
	uint64_t begin;

	find_disk();
	*MARK = 20;
	print_value("read", time_request(READ, 5));
	*MARK = 21;
	print_value("first_word", blocks[0][0]);

	/* Not neighbours: the device would make one request of those. */
	submit(0, READ, 6);
	submit(1, READ, 9);
	begin = now();
	out16(disk + NOTIFY, 0);
	wait_for(1);
	print_value("first_of_two", now() - begin);
	wait_for(0);
	print_value("second_of_two", now() - begin);

	for (uint32_t i = 0; i < BLOCK / 4; i++)
		blocks[0][i] = 0x5a5a0000U + i;
	*MARK = 22;
	print_value("write", time_request(WRITE, 5));
	*MARK = 23;
	print_value("flush", time_request(FLUSH, 0));
	blocks[0][1023] = 0;
	time_request(READ, 5);
	print_value("last_word", blocks[0][1023]);

	/* The driver has no such request, so the block layer completes it at once. */
	blocks[0][0] = 12 * SECTORS;
	blocks[0][1] = 0;
	blocks[0][2] = SECTORS;
	blocks[0][3] = 0;
	print_value("discard", time_request(DISCARD, 0));
}

/*
 * Code that CPU 0 changes while CPU 1 runs it. All CPUs agree on each change before it counts, as
 * Linux's do when it patches itself.
 */
uint32_t patched(void);
extern uint8_t patched_value[];
__asm__(".globl patched, patched_value\n"
	"patched:\n"
	"	.byte 0xb8\n"
	"patched_value:\n"
	"	.long 0\n"
	"	ret\n");

static volatile uint32_t published, seen, outdated, over;

/* Return how often CPU 0 changed the code: PATCHES times, or less in PATCH_TICKS. */
static uint32_t patch(void)
{
	uint64_t end = now() + PATCH_TICKS;

	for (uint32_t value = 1; value <= (uint32_t)PATCHES; value++) {
		*(volatile uint32_t *)patched_value = value;
		published = value;
		while (seen != value)
			if (now() > end)
				return value - 1;
	}
	return PATCHES;
}

static void run_patched(void)
{
	int eax;

	while (!over) {
		uint32_t value = published;

		patched();
		if (seen == value)
			continue;
		__asm__ volatile("cpuid" : "=a"(eax) : "a"(0) : "ebx", "ecx", "edx", "memory");
		if (patched() < value)
			outdated++;
		seen = value;
	}
}

static void patch_or_run(int cpu)
{
	meet();
	if (cpu == 1)
		run_patched();
	if (cpu)
		return;
	print_value("patches", patch());
	over = 1;
}

static void measure_all(void)
{
	measure_loops();
	if (cpus > 1)
		measure_timers();
	measure_tlb();
	measure_filter();
	measure_variants();
	measure_disk();
}

__attribute__((noreturn, used)) void first_cpu(void)
{
	char *copy = (char *)TRAMPOLINE;

	out8(0x21, 0xff);
	out8(0xa1, 0xff);
	set_gate(WAKE_VECTOR, on_wake);
	set_gate(TIMER_VECTOR, on_timer);
	prepare_cpu();
	for (const char *at = trampoline; at < trampoline_end; at++)
		*copy++ = *at;
	*apic(APIC_ICR) = TO_OTHERS | INIT;
	wait_until(now() + 100000);
	*apic(APIC_ICR) = TO_OTHERS | STARTUP | TRAMPOLINE >> 12;
	wait_until(now() + 1000000);
	for (uint64_t end = now() + START_TICKS; PATCHES && !online && now() < end;)
		;
	cpus += online;
	print_value("cpus", cpus);
	print_value("begin", now());

	if (!PATCHES) {
		measure_all();
	} else if (cpus > 1) {
		run_on_all(patch_or_run);
		print_value("outdated", outdated);
	}

	print_value("end", now());
	/* SeaBIOS has put ACPI's registers there. The CPU does not come back. */
	out16(0x604, 0x2000);
	for (;;)
		;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two-tier machine's driver, what its files share.
 */
#ifndef _KLOC_MACHINE_MACHINE_H
#define _KLOC_MACHINE_MACHINE_H

#include <linux/bits.h>
#include <linux/kloc_machine.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>

#include <asm/msr.h>

struct pci_dev;

/**
 * kloc_machine_call() - call the timing model
 * @call: what the kernel has to say, a constant
 *
 * A NOP that the model recognises; it reads and writes the shared page while
 * the NOP executes.
 */
static __always_inline void kloc_machine_call(const enum kloc_machine_call call)
{
	asm volatile(".byte 0x0f, 0x1f, 0x80, %c0, %c1, %c2, %c3"
		     : : "i" (call), "i" (KLOC_MACHINE_NOP_1),
			 "i" (KLOC_MACHINE_NOP_2), "i" (KLOC_MACHINE_NOP_3)
		     : "memory");
}

/* The shared page, or an empty one on a machine without the model. */
extern struct kloc_machine_page *kloc_machine_page;

/* page.c */
bool kloc_machine_present(void);
struct pci_dev *kloc_machine_pci(unsigned int number);

/* clock.c */

/* The machine's time by the model's last word, which may step back by 1 ns. */
static __always_inline u64 kloc_machine_raw_time(void)
{
	/*
	 * Reading the TSC makes the model publish its offset. An interrupt
	 * that comes between the two reads makes the result late, never early.
	 */
	u64 tsc = rdtsc();

	barrier();
	return tsc + READ_ONCE(kloc_machine_page->offset);
}

u64 kloc_machine_time(void);

/* timer.c */
void kloc_machine_timer_start(void);
void kloc_machine_timer_idle_enter(void);
void kloc_machine_timer_idle_exit(void);
void kloc_machine_timer_reset(void);
void kloc_machine_timer_switch(void);

/* TSC ns in a ns of the machine's time, 16.16 fixed point, and its bounds. */
#define KLOC_MACHINE_RATE_ONE	BIT_ULL(16)
#define KLOC_MACHINE_RATE_MIN	(KLOC_MACHINE_RATE_ONE / 1024)
#define KLOC_MACHINE_RATE_MAX	(KLOC_MACHINE_RATE_ONE * 16)

/**
 * kloc_machine_timer_rate() - how many instructions make a ns?
 * @rate: rate that was assumed so far
 * @instructions: what was executed of late, or the ns that the TSC counted
 * @time: ns of the machine's time which that took
 *
 * A rate that falls is believed at once, one that rises only little by little:
 * a timer that was set by too low a rate costs little.
 *
 * Return: the rate to assume from now on.
 */
static inline u64 kloc_machine_timer_rate(u64 rate, u64 instructions, u64 time)
{
	u64 seen = div64_u64(instructions << 16, max(time, 1));
	u64 rise = (rate * min(instructions, 8192)) >> 16;

	return clamp(min(seen, rate + rise), KLOC_MACHINE_RATE_MIN,
		     KLOC_MACHINE_RATE_MAX);
}

/**
 * kloc_machine_timer_trust() - for how many instructions is a rate trusted?
 * @most: where nothing stalls
 * @rate: TSC ns in a ns of the machine's time, 16.16 fixed point
 *
 * The more the core stalls, the more each instruction can make a timer late,
 * and the fewer of them pass meanwhile.
 *
 * Return: instructions, or TSC ns.
 */
static inline u64 kloc_machine_timer_trust(u64 most, u64 rate)
{
	return (most * clamp(rate, KLOC_MACHINE_RATE_ONE / 16,
			     KLOC_MACHINE_RATE_ONE)) >> 16;
}

/**
 * kloc_machine_timer_scale() - turn the machine's time into timer ticks
 * @ticks: ticks of the machine's time
 * @rate: TSC ns in a ns of the machine's time, 16.16 fixed point
 * @min: least ticks that are worth an interrupt
 * @max: most ticks for which @rate is trusted
 *
 * Half is held back: an early interrupt is cheap, a late one an error.
 *
 * Return: ticks of the timer.
 */
static inline u64 kloc_machine_timer_scale(u64 ticks, u64 rate, u64 min, u64 max)
{
	u64 scaled = mul_u64_u64_shr(ticks, rate, 16);

	return clamp(scaled / 2, min, max);
}

/* background.c */
unsigned int kloc_machine_slot_of(const char *comm);
bool kloc_machine_is_background(const char *comm);

/* disk.c */

/**
 * kloc_machine_disk_finish() - when does a disk finish a transfer?
 * @busy: time until which the disk transfers what came before; updated
 * @now: time at which the request arrives
 * @bytes: bytes to transfer
 * @bytes_per_us: bandwidth of the disk, 0 for unlimited
 * @latency: time that passes from the transfer to completion, ns
 *
 * Transfers follow each other; the latencies of requests overlap.
 *
 * Return: the time of completion, ns.
 */
static inline u64 kloc_machine_disk_finish(u64 *busy, u64 now, u64 bytes,
					   u64 bytes_per_us, u64 latency)
{
	u64 start = max(*busy, now);

	if (bytes_per_us)
		start += DIV64_U64_ROUND_UP(bytes * NSEC_PER_USEC, bytes_per_us);
	*busy = start;
	return start + latency;
}

#endif /* _KLOC_MACHINE_MACHINE_H */

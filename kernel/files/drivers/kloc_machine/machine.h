/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two-tier machine: declarations and arithmetic that its files share.
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
 * @call: the call, a compile-time constant
 *
 * Executes a NOP that the model recognizes. The model reads and writes the
 * shared page meanwhile.
 */
static __always_inline void kloc_machine_call(const enum kloc_machine_call call)
{
	asm volatile(".byte 0x0f, 0x1f, 0x80, %c0, %c1, %c2, %c3"
		     : : "i" (call), "i" (KLOC_MACHINE_NOP_1),
			 "i" (KLOC_MACHINE_NOP_2), "i" (KLOC_MACHINE_NOP_3)
		     : "memory");
}

/* The shared page, or an empty dummy page on a machine without the model. */
extern struct kloc_machine_page *kloc_machine_page;

/* page.c */
bool kloc_machine_present(void);
struct pci_dev *kloc_machine_pci(unsigned int number);

/* clock.c */

/* Simulated time as published by the model, in ns. May step back by 1 ns. */
static __always_inline u64 kloc_machine_raw_time(void)
{
	/*
	 * Reading the TSC makes the model publish its offset. An interrupt
	 * between the two reads makes the result too low, never too high.
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

/* TSC ns per ns of simulated time, as 16.16 fixed point, and its bounds. */
#define KLOC_MACHINE_RATE_ONE	BIT_ULL(16)
#define KLOC_MACHINE_RATE_MIN	(KLOC_MACHINE_RATE_ONE / 1024)
#define KLOC_MACHINE_RATE_MAX	(KLOC_MACHINE_RATE_ONE * 16)

/**
 * kloc_machine_timer_rate() - estimate how many instructions take a ns
 * @rate: the estimate so far
 * @instructions: instructions that were executed recently (TSC ns)
 * @time: simulated time that they took, in ns
 *
 * A lower rate is adopted at once, a higher one step by step: if the rate is
 * too low, the timer fires early, which costs little.
 *
 * Return: the new estimate: TSC ns per ns of simulated time, 16.16 fixed point.
 */
static inline u64 kloc_machine_timer_rate(u64 rate, u64 instructions, u64 time)
{
	u64 seen = div64_u64(instructions << 16, max(time, 1));
	u64 rise = (rate * min(instructions, 8192)) >> 16;

	return clamp(min(seen, rate + rise), KLOC_MACHINE_RATE_MIN,
		     KLOC_MACHINE_RATE_MAX);
}

/**
 * kloc_machine_timer_trust() - get the number of instructions to trust a rate
 * @most: the number for a core that does not stall
 * @rate: TSC ns per ns of simulated time, 16.16 fixed point
 *
 * The more the core stalls, the later each instruction can make a timer, and
 * the fewer instructions are executed in the same time.
 *
 * Return: instructions (TSC ns).
 */
static inline u64 kloc_machine_timer_trust(u64 most, u64 rate)
{
	return (most * clamp(rate, KLOC_MACHINE_RATE_ONE / 16,
			     KLOC_MACHINE_RATE_ONE)) >> 16;
}

/**
 * kloc_machine_timer_scale() - convert simulated time to timer ticks
 * @ticks: ticks of simulated time
 * @rate: TSC ns per ns of simulated time, 16.16 fixed point
 * @min: fewest ticks that are worth an interrupt
 * @max: most ticks for which @rate is trusted
 *
 * Programs half of the time: an early interrupt is cheap, a late one an error.
 *
 * Return: ticks to program, from @min to @max.
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
 * kloc_machine_disk_finish() - compute when a disk completes a request
 * @busy: time until which the disk transfers earlier requests, ns; updated
 * @now: time at which the request arrives, ns
 * @bytes: bytes to transfer
 * @bytes_per_us: bandwidth of the disk, bytes per us, 0 for unlimited
 * @latency: time from the end of the transfer to completion, ns
 *
 * Transfers are done one after the other; the latencies of requests overlap.
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

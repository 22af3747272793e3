/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unit tests of the model, which run without QEMU. Each file of tests has one
 * function below, which calls test functions that CHECK() conditions.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>

/* End the program if condition is false, and print its place and text. */
#define CHECK(condition) check_that(condition, #condition, __FILE__, __LINE__)

void check_that(bool holds, const char *condition, const char *file, int line);

void test_bandwidth(void);
void test_cache(void);
void test_config(void);
void test_filter(void);
void test_histogram(void);
void test_json(void);
void test_live(void);
void test_machine(void);
void test_observer(void);
void test_overlap(void);
void test_pages(void);
void test_sockets(void);
void test_stream(void);
void test_tier(void);
void test_tlb(void);

#endif /* CHECK_H */

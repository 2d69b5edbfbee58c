// SPDX-License-Identifier: Apache-2.0
// row — one instruction to check: a kernel k(in, out, n) of which thread i reads n_in words of 64 bits at in + 8 i n_in
// and writes n_out words, and what C says it must write.
#ifndef GR_CONFORMANCE_ROW_H
#define GR_CONFORMANCE_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ROW_PTX = 24 << 10, ROW_BLOCK = 256, ROW_CASES = 2048 };

typedef struct Row Row;
struct Row {
    char name[192];
    char ptx[ROW_PTX];
    uint32_t n; // threads, a multiple of ROW_BLOCK
    unsigned n_in, n_out;
    // Inputs of all threads.
    void (*fill)(const Row *, uint64_t *in);
    // What all threads must write; NULL: C has no opinion. out starts as the kernel's does, all 0xa5.
    void (*expect)(const Row *, const uint64_t *in, uint64_t *out);
    // Approximate: the value of output 0 of a case and the error allowed, for each half (of packed ones) of the type.
    void (*value)(const Row *, const uint64_t *in, double value[2], double error[2]);
    bool traps;              // the kernel must fail
    const char *approx_type; // NULL: exact
    const void *data;        // what the functions above need
};

typedef void (*OnRow)(const Row *, void *arg);
void rows_alu(OnRow on, void *arg);
void rows_video(OnRow on, void *arg);
void rows_memory(OnRow on, void *arg);
void rows_warp(OnRow on, void *arg);
void rows_matrix(OnRow on, void *arg);

// The kernels' fourth parameter, p_s.
extern const uint8_t row_param[32];

// For the texts: appends.
void row_text(Row *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Header, the parameters, %i = index of the thread, %in and %out = addresses of its words; threads from n on are gone.
void row_begin(Row *r, const char *globals);
void row_end(Row *r); // ret and the brace

#endif

// SPDX-License-Identifier: Apache-2.0
// hidden — processes of the program that gpurace is not in, noted in the header page of the results file.
//
// The page is mapped before a process gives up its rights, changes its root or closes its descriptors, so a note needs
// nothing but memory. That also makes it possible between fork and exec.
#ifndef GR_FINDINGS_HIDDEN_H
#define GR_FINDINGS_HIDDEN_H

#include <stdint.h>

typedef enum GrHiddenWhy {
#define HIDDEN(id, started, words) GR_HIDDEN_##id,
#include "findings/hidden.def"
#undef HIDDEN
    GR_HIDDEN_REASONS
} GrHiddenWhy;

enum { GR_HIDDEN_PROGRAM = 108, GR_HIDDEN_ENTRIES = 31 };

// The processes of one program with one reason.
typedef struct GrHidden {
    uint32_t state; // atomic: 0 free, 1 being written, 2 whole
    uint32_t why;
    int32_t pid;                     // of the first
    uint32_t count;                  // atomic
    char program[GR_HIDDEN_PROGRAM]; // its path; of a longer one the end, behind "…"
    uint32_t reserved;
} GrHidden;

struct GrResultsHeader;

// Notes this process. `program`: what it is, or what it is about to start. Async-signal-safe.
void gr_hidden_note(struct GrResultsHeader *h, GrHiddenWhy why, const char *program);

const char *gr_hidden_words(uint32_t why);
// Whether the process started a program, of which it is not known whether it uses CUDA.
int gr_hidden_is_started(uint32_t why);

#endif

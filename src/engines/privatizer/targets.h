// SPDX-License-Identifier: Apache-2.0
// targets — --variable: the variables of the module whose races are reported (LDetector, section 5.1: target variables,
// as the user names them).
#ifndef GR_ENGINES_PRIVATIZER_TARGETS_H
#define GR_ENGINES_PRIVATIZER_TARGETS_H

#include "ptx/ptx.h"

#include <regex.h>

typedef struct Targets {
    regex_t regex;
    bool is_set;
} Targets;

// The regex names a variable of the module.
bool gr_targets_match(const Targets *t, const PtxModule *m);

// What an instruction accesses, by its text.
typedef enum Target { TARGET_UNKNOWN, TARGET_OTHER, TARGET_WANTED } Target;

// An empty regex: all memory. On failure there is nothing to free.
gr_status gr_targets_init(Targets *t, const char *regex, gr_error *err);
void gr_targets_free(Targets *t);

// The user wants the variable, by the source's or the linker's spelling of its name. NULL: no name, so it is not
// wanted.
bool gr_targets_want(const Targets *t, const char *variable);

// The Target of each site, from 1, which the caller frees. NULL: out of memory.
uint8_t *gr_targets_of_sites(const Targets *t, const PtxModule *m);

#endif

// SPDX-License-Identifier: Apache-2.0
// targets — --variable: whose races are told, of the module's variables (LDetector, section 5.1: target variables, as
// the user names them).
#ifndef GR_ENGINES_PRIVATIZER_TARGETS_H
#define GR_ENGINES_PRIVATIZER_TARGETS_H

#include "ptx/ptx.h"

#include <regex.h>

typedef struct Targets {
    regex_t regex;
    bool is_set;
} Targets;

// Whether it names a variable of the module.
bool gr_targets_match(const Targets *t, const PtxModule *m);

// What an instruction accesses, by its text.
typedef enum Target { TARGET_UNKNOWN, TARGET_OTHER, TARGET_WANTED } Target;

// Empty: all memory. On failure nothing is left to be freed.
gr_status gr_targets_init(Targets *t, const char *regex, gr_error *err);
void gr_targets_free(Targets *t);

// By its name, as the source spells it or as the linker does. NULL: it has none, so it is not.
bool gr_targets_want(const Targets *t, const char *variable);

// By site, from 1, in memory of malloc. NULL: out of memory.
uint8_t *gr_targets_of_sites(const Targets *t, const PtxModule *m);

#endif

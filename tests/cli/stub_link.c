// SPDX-License-Identifier: Apache-2.0
// The stub driver's linker. What it makes is the last input, behind the comment "// linked". STUB_LINK=input makes it
// refuse inputs, and STUB_LINK=output makes cuModuleLoadData refuse what it made.
#include "stub_driver.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Link {
    char *made;
    char *log;
} Link;

static unsigned limit(unsigned n, const CUjit_option *options, void **values) {
    for (unsigned k = 0; k < n; k++)
        if (options[k] == CU_JIT_MAX_REGISTERS)
            return (unsigned)(uintptr_t)values[k];
    return 0;
}

STUB_EXPORT CUresult cuLinkCreate_v2(unsigned n, CUjit_option *options, void **values, CUlinkState *out) {
    Link *l = calloc(1, sizeof *l);
    for (unsigned k = 0; k < n; k++)
        if (options[k] == CU_JIT_ERROR_LOG_BUFFER)
            l->log = values[k];
    stub_say("link registers %u", limit(n, options, values));
    *out = (CUlinkState)l;
    return CUDA_SUCCESS;
}

STUB_EXPORT CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size,
                                      const char *name, unsigned n, CUjit_option *options, void **values) {
    Link *l = (Link *)state;
    (void)name;
    stub_say("input %d options %u registers %u", (int)type, n, limit(n, options, values));
    if (getenv("STUB_LINK") && !strcmp(getenv("STUB_LINK"), "input")) {
        if (l->log)
            strcpy(l->log, "no inputs today");
        return CUDA_ERROR_INVALID_PTX;
    }
    free(l->made);
    l->made = malloc(size + 20);
    sprintf(l->made, "// linked\n%.*s", (int)size, (const char *)data);
    return CUDA_SUCCESS;
}

STUB_EXPORT CUresult cuLinkComplete(CUlinkState state, void **out, size_t *size) {
    Link *l = (Link *)state;
    *out = l->made;
    *size = strlen(l->made) + 1;
    return CUDA_SUCCESS;
}

STUB_EXPORT CUresult cuLinkDestroy(CUlinkState state) {
    Link *l = (Link *)state;
    free(l->made);
    free(l);
    stub_say("unlinked");
    return CUDA_SUCCESS;
}

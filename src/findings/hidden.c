// SPDX-License-Identifier: Apache-2.0
#include "findings/hidden.h"

#include "findings/results.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *words;
    int started;
} reasons[] = {
#define HIDDEN(id, started, words) {words, started},
#include "findings/hidden.def"
#undef HIDDEN
};

static const char cut[] = "…";

static void copy_program(char out[GR_HIDDEN_PROGRAM], const char *program) {
    size_t n = strlen(program), room = GR_HIDDEN_PROGRAM - 1, begin = sizeof cut - 1;
    if (n <= room) {
        memcpy(out, program, n + 1);
        return;
    }
    memcpy(out, cut, begin);
    memcpy(out + begin, program + n - (room - begin), room - begin + 1);
}

static bool is_same(const GrHidden *e, GrHiddenWhy why, const char *program) {
    return __atomic_load_n(&e->state, __ATOMIC_ACQUIRE) == 2 && e->why == why && !strcmp(e->program, program);
}

void gr_hidden_note(struct GrResultsHeader *h, GrHiddenWhy why, const char *program) {
    char name[GR_HIDDEN_PROGRAM];
    copy_program(name, program);
    for (GrHidden *e = h->hidden; e < h->hidden + GR_HIDDEN_ENTRIES; e++) {
        uint32_t unused = 0;
        if (is_same(e, why, name)) {
            __atomic_add_fetch(&e->count, 1, __ATOMIC_RELAXED);
            return;
        }
        if (!__atomic_compare_exchange_n(&e->state, &unused, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        e->why = why;
        e->pid = (int32_t)getpid();
        e->count = 1;
        memcpy(e->program, name, sizeof name);
        __atomic_store_n(&e->state, 2, __ATOMIC_RELEASE);
        return;
    }
    __atomic_add_fetch(&h->hidden_more, 1, __ATOMIC_RELAXED);
}

const char *gr_hidden_words(uint32_t why) {
    return why < GR_HIDDEN_REASONS ? reasons[why].words : "for a reason that this gpurace does not know";
}

int gr_hidden_is_started(uint32_t why) { return why < GR_HIDDEN_REASONS && reasons[why].started; }

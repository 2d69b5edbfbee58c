// SPDX-License-Identifier: Apache-2.0
#include "cli/run/tree.h"

#include "base/process.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add(void *user, const GrProcess *p) {
    GrTreeProcess one = {.pid = p->pid, .parent = p->parent};
    memcpy(one.program, p->name, sizeof p->name);
    if (!p->ended)
        (void)gr_vec_push((GrTree *)user, one);
}

static bool has(const GrTree *t, pid_t pid) {
    for (size_t i = 0; t && i < t->len; i++)
        if (t->data[i].pid == pid)
            return true;
    return false;
}

static void name_file(GrTreeProcess *p) {
    char path[64], file[sizeof p->program];
    snprintf(path, sizeof path, "/proc/%ld/exe", (long)p->pid);
    ssize_t n = readlink(path, file, sizeof file - 1);
    if (n > 0) {
        file[n] = 0;
        memcpy(p->program, file, (size_t)n + 1);
    }
}

void gr_tree_read(const GrTree *before, GrTree *out) {
    GrTree all = {0};
    pid_t self = getpid();
    *out = (GrTree){0};
    gr_processes(add, &all);
    for (size_t was = SIZE_MAX; was != out->len;) { // parents need not come before their children
        was = out->len;
        for (size_t i = 0; i < all.len; i++) {
            GrTreeProcess *p = &all.data[i];
            if ((p->parent == self || has(out, p->parent)) && !has(out, p->pid) && !has(before, p->pid))
                (void)gr_vec_push(out, *p);
        }
    }
    gr_vec_free(&all);
    for (size_t i = 0; i < out->len; i++)
        name_file(&out->data[i]);
}

void gr_tree_free(GrTree *t) { gr_vec_free(t); }

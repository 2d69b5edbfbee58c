// SPDX-License-Identifier: Apache-2.0
#include "cli/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Reads /proc/PID/stat: "PID (NAME) STATE PARENT …", of which NAME may hold anything. False: it has ended.
static bool read_process(pid_t pid, GrTreeProcess *out) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    char *name = strchr(text, '('), *end = strrchr(text, ')');
    char state;
    int parent;
    if (!name || !end || sscanf(end + 1, " %c %d", &state, &parent) != 2 || state == 'Z' || state == 'X')
        return false;
    *out = (GrTreeProcess){.pid = pid, .parent = parent};
    snprintf(out->program, sizeof out->program, "%.*s", (int)(end - name - 1), name + 1);
    return true;
}

static void read_all(GrTree *out) {
    DIR *d = opendir("/proc");
    for (struct dirent *e; d && (e = readdir(d));) {
        GrTreeProcess p;
        if (isdigit((unsigned char)e->d_name[0]) && read_process((pid_t)atol(e->d_name), &p))
            (void)gr_vec_push(out, p);
    }
    if (d)
        closedir(d);
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
    read_all(&all);
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

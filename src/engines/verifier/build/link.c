// SPDX-License-Identifier: Apache-2.0
// link — which sources are in which program: follows objects, archives and shared libraries by their names.
#include "engines/verifier/build/build.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static gr_status no_memory(gr_error *err) { return gr_fail(err, GR_ERR_NOMEM, "reading a build"); }

const char *gr_build_path(Arena *a, const char *folder, const char *name) {
    char *path = *name == '/' ? gr_arena_strdup(a, name) : gr_arena_printf(a, "%s/%s", folder, name),
         *to = path;
    for (char *from = path; from && *from;) {
        size_t len = 1 + strcspn(from + 1, "/"); // with the slash before it
        if (len == 3 && !memcmp(from, "/..", 3)) {
            *to = 0;
            char *last = strrchr(path, '/');
            to = last ? last : path;
        } else if (len > 1 && !(len == 2 && from[1] == '.')) {
            memmove(to, from, len);
            to += len;
        }
        from += len;
    }
    if (path)
        *to = 0;
    return path && !*path ? "/" : path;
}

static GrOutput *find(const GrBuild *b, const char *path) {
    for (size_t k = b->outputs.len; k > 0; k--)
        if (!strcmp(b->outputs.data[k - 1].path, path))
            return &b->outputs.data[k - 1];
    return NULL;
}

static bool is_below(const char *path, const char *folder) {
    size_t n = strlen(folder);
    return !strncmp(path, folder, n) && path[n] == '/';
}

// A file that no seen command made is the project's own, and no library of the system.
static bool is_of_project(const GrBuild *b, const GrLink *l, const char *path) {
    size_t n = strlen(path);
    return (n > 2 && !strcmp(path + n - 2, ".o")) || is_below(path, b->top) || is_below(path, l->folder);
}

static bool add_all(GrOutput *to, const size_t *sources, size_t n) {
    for (size_t k = 0; k < n; k++) {
        bool there = false;
        for (size_t i = 0; i < to->sources.len && !there; i++)
            there = to->sources.data[i] == sources[k];
        if (!there && !gr_vec_push(&to->sources, sources[k]))
            return false;
    }
    return true;
}

// Finds what -lNAME stands for: a file in one of the places. *path is NULL if none has it: a library of the system.
static bool find_library(GrBuild *b, const GrLink *l, const char *name, const char **path) {
    static const char *const ends[] = {"so", "a"};
    *path = NULL;
    for (size_t k = 0; k < l->places.len && !*path; k++) {
        const char *folder = gr_build_path(&b->arena, l->folder, l->places.data[k]);
        for (size_t e = 0; e < 2 && folder && !*path; e++) {
            const char *file = gr_arena_printf(&b->arena, "%s/lib%s.%s", folder, name, ends[e]);
            if (!file)
                return false;
            if (find(b, file) || access(file, F_OK) == 0)
                *path = file;
        }
        if (!folder)
            return false;
    }
    return true;
}

gr_status gr_build_add_link(GrBuild *b, const GrLink *l, gr_error *err) {
    GrOutput made = {.path = gr_build_path(&b->arena, l->folder, l->output), .program = l->program};
    bool ok = made.path && add_all(&made, l->sources.data, l->sources.len);
    GrOutput *same = ok ? find(b, made.path) : NULL;
    if (same)
        same->merged = true;
    for (size_t k = 0; k < l->inputs.len && ok; k++) {
        const char *name = l->inputs.data[k], *path = NULL;
        if (!strncmp(name, "-l", 2))
            ok = find_library(b, l, name + 2, &path);
        else
            ok = (path = gr_build_path(&b->arena, l->folder, name)) != NULL;
        GrOutput *in = ok && path ? find(b, path) : NULL;
        if (in) {
            in->merged = true;
            ok = add_all(&made, in->sources.data, in->sources.len);
        } else if (ok && path && b->top && is_of_project(b, l, path)) {
            const char *text = gr_arena_printf(&b->arena,
                                               "%s has %s in it, which this build did not compile: what it "
                                               "calls is not known. Clean first, so that "
                                               "the build compiles everything",
                                               made.path, path);
            ok = text && gr_vec_push(&b->reasons, text);
        }
    }
    if (ok && gr_vec_push(&b->outputs, made))
        return GR_OK;
    gr_vec_free(&made.sources);
    return no_memory(err);
}

// Renumbers an output's units to those of `to`; units that are gone (SIZE_MAX) go.
static gr_status renumber(GrBuild *b, GrOutput *o, const size_t *to, gr_error *err) {
    size_t left = 0, gone = SIZE_MAX;
    for (size_t k = 0; k < o->sources.len; k++) {
        size_t source = o->sources.data[k];
        if (to[source] != SIZE_MAX)
            o->sources.data[left++] = to[source];
        else
            gone = source;
    }
    o->sources.len = left;
    if (!o->program || !left || gone == SIZE_MAX)
        return GR_OK;
    const char *text = gr_arena_printf(
        &b->arena, "%s, which is in %s, is no longer there after the build: what it calls is not known",
        b->sources.data[gone].file, o->path);
    return text && gr_vec_push(&b->reasons, text) ? GR_OK : no_memory(err);
}

gr_status gr_build_drop_gone(GrBuild *b, gr_error *err) {
    gr_status st = GR_OK;
    size_t n = 0, *to = gr_arena_array(&b->arena, b->sources.len + 1, sizeof *to);
    GR_NEED_OR(to, no_memory(err));
    for (size_t k = 0; k < b->sources.len; k++)
        to[k] = access(b->sources.data[k].file, R_OK) == 0 ? n++ : SIZE_MAX;
    for (size_t k = 0; k < b->outputs.len && st == GR_OK; k++)
        st = renumber(b, &b->outputs.data[k], to, err);
    for (size_t k = 0; k < b->sources.len; k++)
        if (to[k] != SIZE_MAX)
            b->sources.data[to[k]] = b->sources.data[k];
    b->sources.len = n;
    return st;
}

static gr_status add_program(GrBuild *b, const size_t *sources, size_t n, gr_error *err) {
    return gr_vec_push(&b->programs, ((GrHostProgram){sources, n})) ? GR_OK : no_memory(err);
}

gr_status gr_build_find_programs(GrBuild *b, gr_error *err) {
    gr_status st = GR_OK;
    bool *in = gr_arena_array(&b->arena, b->sources.len + 1, sizeof *in);
    size_t *rest = gr_arena_array(&b->arena, b->sources.len + 1, sizeof *rest), n = 0;
    GR_NEED_OR(in && rest, no_memory(err));
    for (size_t k = 0; k < b->outputs.len && st == GR_OK; k++) {
        const GrOutput *o = &b->outputs.data[k];
        if (!o->program || o->merged || !o->sources.len)
            continue;
        for (size_t i = 0; i < o->sources.len; i++)
            in[o->sources.data[i]] = true;
        st = add_program(b, o->sources.data, o->sources.len, err);
    }
    for (size_t k = 0; k < b->sources.len; k++)
        if (!in[k])
            rest[n++] = k;
    if (st == GR_OK && !b->programs.len &&
        !gr_vec_push(
            &b->remarks,
            "the build linked no program by a compiler that is known: its sources are taken for all that "
            "calls their functions"))
        st = no_memory(err);
    return st == GR_OK && b->programs.len && n ? add_program(b, rest, n, err) : st;
}

// SPDX-License-Identifier: Apache-2.0
// database — compile_commands.json, as Clang's documentation "JSON Compilation Database Format Specification" has it.
#include "engines/verifier/build/build.h"

#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct Entry {
    const char *path;
    size_t number; // from 1
    gr_error *err;
} Entry;

static gr_status mistake(const Entry *e, const char *what) {
    return gr_fail(e->err, GR_ERR_SYNTAX, "%s: entry %zu %s; let the build write the file again", e->path,
                   e->number, what);
}

static gr_status read_words(GrBuild *b, const Entry *e, const json_t *o, GrWords *out) {
    const json_t *list = json_object_get(o, "arguments"), *text = json_object_get(o, "command");
    if (!list && !json_is_string(text))
        return mistake(e, "has neither \"arguments\" nor a text \"command\"");
    if (!list)
        return gr_split(&b->arena, json_string_value(text), out, e->err);
    if (!json_is_array(list))
        return mistake(e, "has \"arguments\" that are no list");
    for (size_t k = 0; k < json_array_size(list); k++) {
        const char *word = json_string_value(json_array_get(list, k));
        if (!word)
            return mistake(e, "has an argument that is no text");
        if (!(word = gr_arena_strdup(&b->arena, word)) || !gr_vec_push(out, word))
            return gr_fail(e->err, GR_ERR_NOMEM, "reading %s", e->path);
    }
    return GR_OK;
}

static gr_status read_entry(GrBuild *b, const Entry *e, const char *beside, const json_t *o) {
    gr_status st;
    GrWords typed = {0}, words = {0};
    const char *folder = json_string_value(json_object_get(o, "directory"));
    if (!json_is_object(o))
        return mistake(e, "is no object");
    if (!folder)
        return mistake(e, "lacks the text \"directory\"");
    if (!json_is_string(json_object_get(o, "file")))
        return mistake(e, "lacks the text \"file\"");
    if (!(folder = gr_build_path(&b->arena, beside, folder)))
        return gr_fail(e->err, GR_ERR_NOMEM, "reading %s", e->path);
    GR_TRY(read_words(b, e, o, &typed));
    if (!typed.len)
        GR_TRY(mistake(e, "has an empty command"));
    GR_TRY(gr_split_responses(&b->arena, folder, typed.data, typed.len, &words, e->err));
    GR_TRY(gr_build_add_command(b, folder, words.data, words.len, e->err));
done:
    gr_vec_free(&typed);
    gr_vec_free(&words);
    return st;
}

// Names the sources from number `before` on that are not there.
static gr_status tell_missing(GrBuild *b, const Entry *e, size_t before) {
    gr_status st = GR_OK;
    for (size_t k = before; k < b->sources.len && st == GR_OK; k++) {
        const char *file = b->sources.data[k].file, *missing = gr_build_missing(file);
        if (missing)
            st = gr_build_unread(
                b,
                gr_arena_printf(&b->arena,
                                "%s: entry %zu: %s: %s: nothing of it was checked; build the project, so "
                                "that the file is there, or let the build write %s again",
                                e->path, e->number, file, missing, e->path),
                e->err);
    }
    return st;
}

// Reads each entry by itself: what one lacks is no reason to leave out another.
static gr_status read_entries(GrBuild *b, const char *path, const char *beside, const json_t *list,
                              gr_error *err) {
    gr_status st = GR_OK;
    for (size_t k = 0; k < json_array_size(list) && st == GR_OK; k++) {
        gr_error why = {0};
        Entry e = {path, k + 1, &why};
        size_t before = b->sources.len;
        st = read_entry(b, &e, beside, json_array_get(list, k));
        if (st != GR_OK && st != GR_ERR_NOMEM) {
            char text[sizeof why.file + sizeof why.msg + 32];
            st = gr_build_unread(b, gr_arena_strdup(&b->arena, gr_error_text(&why, text, sizeof text)), err);
        } else if (st == GR_OK) {
            e.err = err;
            st = tell_missing(b, &e, before);
        } else {
            *err = why;
        }
    }
    return st;
}

static gr_status read_database(GrBuild *b, const char *path, gr_error *err) {
    gr_status st;
    char *text = NULL, full[PATH_MAX];
    size_t len, before = b->sources.len, unread = b->unread.len;
    json_error_t why;
    json_t *list = NULL;
    GR_TRY(gr_file_read(path, &text, &len, err));
    if (!realpath(path, full))
        GR_TRY(gr_fail(err, GR_ERR_IO, "%s: it has no absolute name", path));
    *strrchr(full, '/') = 0;
    if (!(list = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why)))
        GR_TRY(gr_fail_at(err, GR_ERR_SYNTAX, path, why.line > 0 ? (unsigned)why.line : 0, 0,
                          "no compilation database: %s", why.text));
    if (!json_is_array(list))
        GR_TRY(gr_fail(
            err, GR_ERR_SYNTAX,
            "%s: no compilation database: it must be a list of objects with \"directory\", \"file\" and "
            "\"command\" (CMake writes it with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)",
            path));
    GR_TRY(read_entries(b, path, full, list, err));
    if (b->sources.len == before && b->unread.len == unread)
        GR_TRY(gr_fail(err, GR_ERR_ARGUMENT, "%s: no entry compiles a CUDA, C or C++ file", path));
    GR_TRY(gr_build_drop_gone(b, err));
done:
    json_decref(list);
    free(text);
    return st;
}

gr_status gr_build_read_database(GrBuild *b, const char *path, gr_error *err) {
    gr_error why = {0};
    char text[sizeof why.file + sizeof why.msg + 32];
    gr_status st = read_database(b, path, &why);
    if (st == GR_ERR_NOMEM)
        *err = why;
    if (st == GR_OK || st == GR_ERR_NOMEM)
        return st;
    return gr_build_unread(b,
                           gr_arena_printf(&b->arena,
                                           "%s: nothing of it was checked; let the build write it again",
                                           gr_error_text(&why, text, sizeof text)),
                           err);
}

// SPDX-License-Identifier: Apache-2.0
#include "cli/run/apply.h"

#include "base/own.h"
#include "cli/run/copy.h"

#include <stdlib.h>
#include <string.h>

static bool same_text(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

// Puts the edit among those of the file, by line. False: there is no room, or its line is being replaced already.
static bool add_edit(GrProposal *to, const GrEdit *e) {
    unsigned at = to->n;
    for (unsigned k = 0; k < to->n; k++) {
        const GrEdit *other = &to->edits[k];
        if (other->line == e->line && other->replaces == e->replaces && same_text(other->text, e->text))
            return true;
        if (other->line == e->line && other->replaces && e->replaces)
            return false;
    }
    if (to->n == GR_REPAIR_EDITS)
        return false;
    while (at && (to->edits[at - 1].line > e->line ||
                  (to->edits[at - 1].line == e->line && to->edits[at - 1].replaces)))
        at--;
    memmove(&to->edits[at + 1], &to->edits[at], (to->n - at) * sizeof *e);
    to->edits[at] = *e;
    to->n++;
    return true;
}

bool gr_applied_add(GrApplied *a, const GrProposal *p) {
    GrProposal *to = NULL;
    for (size_t k = 0; k < a->files.len; k++)
        if (!strcmp(a->files.data[k].file, p->file))
            to = &a->files.data[k];
    if (!to)
        return gr_vec_push(&a->files, *p);
    GrProposal merged = *to;
    for (unsigned k = 0; k < p->n; k++)
        if (!add_edit(&merged, &p->edits[k]))
            return false;
    *to = merged;
    return true;
}

void gr_applied_free(GrApplied *a) { gr_vec_free(&a->files); }

// ---- Writing -----------------------------------------------------------------------------------------------

static gr_status write_patch(const GrApplied *a, const GrTrial *t, const char *to, gr_error *err) {
    StrBuf out = {0};
    gr_str_add(
        &out,
        "# gpurace repair: edits that remove races; patch -p0 makes them, in the folder that was copied\n");
    for (size_t k = 0; k < a->files.len; k++) {
        const char *name = gr_below(a->files.data[k].file, t->copy) + 1;
        gr_str_addf(&out, "--- %s\n+++ %s\n", name, name);
        gr_repair_hunks(&a->files.data[k], &out);
    }
    gr_status st = out.oom ? gr_no_memory(err) : gr_own_write(to, GR_OWN_REPORT, out.data, out.len, err);
    gr_str_free(&out);
    return st;
}

// The user's file, if it is in the folder and as it was copied.
static gr_status find_own(const GrProposal *p, const GrTrial *t, char out[PATH_MAX], gr_error *err) {
    char path[2 * PATH_MAX], *text = NULL;
    size_t len = 0;
    snprintf(path, sizeof path, "%s%s", t->folder_path, gr_below(p->file, t->copy));
    const char *in = realpath(path, out) ? gr_below(out, t->folder_path) : NULL;
    if (!in || !*in)
        return gr_fail(err, GR_ERR_ARGUMENT, "%s leads out of the folder, so it is not edited", path);
    gr_status st = gr_file_read(out, &text, &len, err);
    if (st == GR_OK && (len != p->code->len || memcmp(text, p->code->text, len) != 0))
        st = gr_fail(err, GR_ERR_ARGUMENT, "%s has changed since it was copied, so it is not edited", path);
    free(text);
    return st;
}

static gr_status edit_own(const GrProposal *p, const GrTrial *t, gr_error *err) {
    char path[PATH_MAX];
    StrBuf text = {0};
    gr_status st = find_own(p, t, path, err);
    gr_repair_apply(p, &text);
    if (st == GR_OK)
        st = text.oom ? gr_no_memory(err) : gr_file_write(path, text.data, text.len, err);
    gr_str_free(&text);
    return st;
}

gr_status gr_applied_write(const GrApplied *a, const GrTrial *t, const char *to, gr_error *err) {
    char path[PATH_MAX];
    if (strcmp(to, GR_APPLY_IN_PLACE))
        return write_patch(a, t, to, err);
    for (size_t k = 0; k < a->files.len; k++)
        GR_MUST(find_own(&a->files.data[k], t, path, err));
    for (size_t k = 0; k < a->files.len; k++)
        GR_MUST(edit_own(&a->files.data[k], t, err));
    return GR_OK;
}

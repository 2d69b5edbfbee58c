// SPDX-License-Identifier: Apache-2.0
// The rule that hides one race and no other: sides:CLASS/SPACE SIDE SIDE. Its words are what group.c tells races apart
// by, so a race matches a rule when its own rule is the same text.
#include "findings/headline.h"
#include "report/report_internal.h"
#include "report/suppress.h"

#include <ctype.h>
#include <string.h>

// Appends a name as one word: what a word or a side cannot hold becomes %XX.
static void add_word(const char *name, StrBuf *out) {
    for (const unsigned char *p = (const unsigned char *)name; *p; p++)
        if (*p <= ' ' || *p == 0x7f || strchr("%<@", *p))
            gr_str_addf(out, "%%%02x", *p);
        else
            gr_str_addc(out, (char)*p);
}

// "scoped-atomic race (R1)" is "scoped-atomic-race-R1": a class or a kind of access.
static void add_slug(const char *name, StrBuf *out) {
    bool gap = false;
    for (const char *p = name; *p; p++) {
        if (!isalnum((unsigned char)*p)) {
            gap = true;
            continue;
        }
        if (gap && p > name)
            gr_str_addc(out, '-');
        gap = false;
        gr_str_addc(out, *p);
    }
}

// The end of the path, which tells the file on any machine: its folder's name and its own.
static const char *end_of(const char *path) {
    if (gr_is_toolkit_file(path))
        return gr_toolkit_name(path);
    const char *at = strrchr(path, '/');
    while (at && at > path && at[-1] != '/')
        at--;
    return at ? at : path;
}

static void add_place(const GrFrame *f, bool column, StrBuf *out) {
    add_word(f->file ? end_of(f->file) : "", out);
    gr_str_addf(out, ":%u", f->line);
    if (column)
        gr_str_addf(out, ":%u", f->col);
}

// One of two sides, as group.c's spots: the headline; what has no place in a kernel by its kind.
static void add_spot(const GrFinding *found, const GrAccess *a, StrBuf *out) {
    const GrFrame *f = gr_access_frame(a, a->headline);
    bool placeless = a->host || !a->ptx_line;
    if (placeless)
        add_slug(a->kind ? a->kind : "access", out);
    if (placeless && (f->file || f->line))
        gr_str_addc(out, '@');
    if (f->file || f->line) {
        add_place(f, false, out);
    } else if (!placeless) {
        add_word(found->module ? found->module : "", out);
        gr_str_addf(out, ":ptx%u", a->ptx_line);
    }
}

// The only side that is known, or the place of a misuse: all its places. Misuses are told apart by their kernels, too.
static void add_alone(const GrFinding *found, bool misuse, StrBuf *out) {
    const GrAccess *a = &found->accesses[0];
    if (misuse && found->kernel) {
        add_word(found->kernel, out);
        gr_str_addc(out, '@');
    }
    if (!a->at.line) {
        add_word(found->module && !misuse ? found->module : "", out);
        gr_str_addf(out, ":ptx%u", a->ptx_line);
    } else {
        add_place(&a->at, true, out);
    }
    uint32_t first = misuse ? 1 : a->headline, last = misuse ? a->n_inlined : a->headline;
    for (uint32_t k = first; k && k <= last; k++) {
        gr_str_addc(out, '<');
        add_place(gr_access_frame(a, k), misuse, out);
    }
}

void gr_race_rule(const GrReport *r, const GrRace *race, StrBuf *out) {
    const GrRace *pair = gr_race_pair(race), *shown = pair ? pair : race;
    const GrFinding *f = &shown->found;
    const GrClass *class = gr_report_class(r, f->class);
    StrBuf side[2] = {{0}, {0}};
    gr_str_add(out, "sides:");
    add_slug(class->name, out);
    if (f->space) {
        gr_str_addc(out, '/');
        add_slug(f->space, out);
    }
    for (unsigned k = 0; k < 2 && pair; k++)
        add_spot(f, &f->accesses[k], &side[k]);
    if (!pair) {
        add_alone(f, !f->space, &side[0]);
        gr_str_add(&side[1], "?");
    }
    bool swapped = pair && gr_compare_texts(side[0].data, side[1].data) > 0;
    gr_str_addf(out, " %s %s", side[swapped].data ? side[swapped].data : "",
                side[!swapped].data ? side[!swapped].data : "");
    out->oom |= side[0].oom || side[1].oom;
    gr_str_free(&side[0]);
    gr_str_free(&side[1]);
}

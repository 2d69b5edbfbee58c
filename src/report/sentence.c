// SPDX-License-Identifier: Apache-2.0
// sentence — a race in one: "thread (1,0,0) wrote at a.cu:12; thread (0,0,0) read at a.cu:15; no barrier between".
#include "base/escape.h"
#include "findings/headline.h"
#include "report/report_internal.h"

#include <string.h>

const char *gr_report_file(const GrReport *r, const char *file) {
    if (!file) // a module may refer to a file that it does not name
        return "unnamed file";
    size_t n = r->folder ? strlen(r->folder) : 0;
    bool below = n > 1 && !strncmp(file, r->folder, n) && file[n] == '/';
    return below ? file + n + 1 : gr_toolkit_name(file);
}

void gr_report_place(const GrReport *r, const GrFrame *f, StrBuf *out) {
    gr_escaped_addf(out, "%s:%u", gr_report_file(r, f->file), f->line);
}

bool gr_access_call(const GrReport *r, const GrAccess *a, StrBuf *out) {
    const GrStack *s = a->stack;
    if (a->ptx_line || a->host || !s || !s->call)
        return false;
    if (strstr(s->call, "GraphLaunch"))
        gr_escaped_addf(out, "%s %s in the graph of ", *a->kind == 'a' ? "an" : "a", a->kind);
    gr_add_escaped(s->call, out);
    if (gr_access_call_line(a)) {
        gr_str_add(out, " at ");
        gr_report_place(r, s->frames, out);
    }
    return true;
}

static bool same(const uint32_t a[3], const uint32_t b[3]) { return !memcmp(a, b, 3 * sizeof *a); }

void gr_race_who(const GrReport *r, const GrAccess *a, const GrAccess *other, StrBuf *out) {
    if (a->host) {
        gr_str_add(out, "the host");
        return;
    }
    if (!a->has_thread && gr_access_call(r, a, out))
        return;
    if (!a->has_thread && (!strcmp(a->kind, "free") || !strcmp(a->kind, "allocation"))) {
        gr_str_add(out, "the API");
        return;
    }
    if (!a->has_thread) {
        gr_escaped_addf(out, "%s %s", *a->kind == 'a' ? "an" : "a", a->kind);
        return;
    }
    gr_escaped_addf(out, "%sthread (%u,%u,%u)", a->async ? "an operation of " : "", a->thread[0],
                    a->thread[1], a->thread[2]);
    bool elsewhere = other->has_thread && (!same(a->block, other->block) || a->launch != other->launch);
    if (elsewhere || (same(a->thread, other->thread) && !a->async && !other->async) || !other->has_thread)
        gr_escaped_addf(out, " of block (%u,%u,%u)", a->block[0], a->block[1], a->block[2]);
    if (a->launch && a->launch != other->launch)
        gr_escaped_addf(out, " of launch %llu", (unsigned long long)a->launch);
}

static void add_side(const GrReport *r, const GrAccess *a, const GrAccess *other, StrBuf *out) {
    gr_race_who(r, a, other, out);
    gr_escaped_addf(out, " %s", a->did ? a->did : "accessed");
    if (a->strong)
        gr_escaped_addf(out, " with scope .%s", a->strong);
    uint32_t headline = a->headline;
    const GrFrame *f = gr_access_frame(a, headline);
    if (f->file && f->line) {
        gr_str_add(out, " at ");
        gr_report_place(r, f, out);
        if (headline && a->at.file && a->at.line) {
            gr_str_add(out, " (");
            gr_report_place(r, &a->at, out);
            gr_str_addc(out, ')');
        }
    } else if (a->near && a->near->file) {
        gr_str_add(out, " near ");
        gr_report_place(r, a->near, out);
    } else if (a->ptx_line) {
        gr_escaped_addf(out, " at line %u of the PTX", a->ptx_line);
    }
    gr_str_add(out, "; ");
}

void gr_access_memory(const GrReport *r, const GrAccess *a, Arena *arena, StrBuf *out) {
    const GrHeld *m = a->memory;
    const char *variable = a->variable ? a->variable : m ? m->name : NULL;
    if (variable)
        gr_escaped_addf(out, ", in %s", gr_variable_name(variable, arena));
    else if (a->argument)
        gr_escaped_addf(out, ", through argument %u", a->argument);
    if (!m)
        return;
    gr_escaped_addf(out, ", byte %llu of %llu", (unsigned long long)m->offset, (unsigned long long)m->size);
    if (m->place.file && m->place.line) {
        gr_str_add(out, " allocated at ");
        gr_report_place(r, &m->place, out);
    } else if (m->place.function) {
        gr_escaped_addf(out, " allocated in %s", gr_short_name(m->place.function, arena));
    }
}

void gr_race_sentence(const GrReport *r, const GrRace *race, StrBuf *out) {
    if (race->found.n_accesses < 2 || !race->found.order)
        return;
    add_side(r, &race->found.accesses[1], &race->found.accesses[0], out);
    add_side(r, &race->found.accesses[0], &race->found.accesses[1], out);
    gr_add_escaped(race->found.order, out);
}

// SPDX-License-Identifier: Apache-2.0
// identity — names of races that stay the same: over seeds, machines, and builds of unchanged code.
//
// A name is a hash of what group.c tells races apart by: class, space, and the headlines of both sides in either order;
// where only one side is known also the innermost place and the kind of access. Threads, addresses, values, counts and
// folders play no part.
//
// A side is hashed by the file's base name, the function without template arguments, and the line. `id` takes the
// line's text and how many earlier lines have that text, so edits elsewhere change nothing. `line_id` takes the line's
// number; so does `id` if the source cannot be read.
#include "base/map.h"
#include "findings/headline.h"
#include "report/report_internal.h"
#include "report/suppress.h"

#include <string.h>

typedef struct Namer {
    GrReport *report;
    bool by_text; // else by number
} Namer;

static const char *base_name(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "";
}

static const char *file_name(const char *path) {
    return path && gr_is_toolkit_file(path) ? gr_toolkit_name(path) : base_name(path);
}

// "void scan<int>(int*)" is "scan": instances of a template are one, and so are overloads.
static void add_function(Namer *n, const char *function, StrBuf *out) {
    StrBuf plain = {0};
    int depth = 0;
    for (const char *p = gr_demangle(function, &n->report->arena); p && *p; p++) {
        bool parameters = *p == '(' && strncmp(p, "(anonymous", 10);
        if (parameters && !depth)
            break;
        depth += *p == '<';
        if (!depth)
            gr_str_addc(&plain, *p == ' ' && !strncmp(p, " namespace", 10) ? '_' : *p);
        depth -= *p == '>' && depth;
    }
    const char *space = plain.data ? strrchr(plain.data, ' ') : NULL;
    gr_str_add(out, space ? space + 1 : plain.data ? plain.data : "");
    out->oom |= plain.oom;
    gr_str_free(&plain);
}

static uint32_t indent_of(GrSources *s, const GrFrame *f) {
    size_t len = 0;
    uint32_t n = 0;
    const char *text = gr_source_line(s, f->file, f->line, &len);
    while (text && n < len && (text[n] == ' ' || text[n] == '\t'))
        n++;
    return n;
}

static void add_line(Namer *n, const GrFrame *f, bool column, StrBuf *out) {
    GrSources *s = n->report->sources;
    uint64_t says;
    uint32_t before;
    bool known = n->by_text && s && gr_source_mark(s, f->file, f->line, &says, &before);
    gr_str_addf(out, "|%s|", file_name(f->file));
    if (known)
        gr_str_addf(out, "%llx.%u", (unsigned long long)says, before);
    else
        gr_str_addf(out, "%u", f->line);
    if (column)
        gr_str_addf(out, ":%u", known ? f->col - indent_of(s, f) : f->col);
}

static void add_side(Namer *n, const GrFinding *found, const GrAccess *a, StrBuf *out) {
    const GrFrame *f = gr_access_frame(a, a->headline);
    bool placeless = a->host || !a->ptx_line;
    if (placeless)
        gr_str_addf(out, "|%s", a->kind);
    if (f->line) {
        add_line(n, f, false, out);
    } else if (!placeless) {
        gr_str_addf(out, "|%s|PTX %u", base_name(found->module), a->ptx_line);
        return;
    }
    const char *function = f->function ? f->function
                           : placeless ? NULL
                           : a->kernel ? a->kernel
                                       : found->kernel;
    gr_str_addc(out, '|');
    add_function(n, function, out);
}

// The text that is hashed.
static void describe(Namer *n, const GrRace *race, StrBuf *out) {
    const GrRace *pair = gr_race_pair(race), *shown = pair ? pair : race;
    const GrAccess *a = shown->found.accesses;
    StrBuf sides[2] = {{0}, {0}};
    add_side(n, &shown->found, &a[0], &sides[0]);
    if (pair)
        add_side(n, &shown->found, &a[1], &sides[1]);
    bool swapped = pair && gr_compare_texts(sides[0].data, sides[1].data) > 0;
    gr_str_addf(out, "%s|%s", gr_report_class(n->report, shown->found.class)->name,
                shown->found.space ? shown->found.space : "");
    for (unsigned k = 0; k < 2; k++) {
        StrBuf *side = &sides[k ^ swapped];
        gr_str_add(out, side->data ? side->data : "|");
        out->oom |= side->oom;
    }
    if (!pair && shown->found.space) {
        gr_str_addf(out, "|%s", a->kind);
        if (a->at.line)
            add_line(n, &a->at, true, out);
    }
    gr_str_free(&sides[0]);
    gr_str_free(&sides[1]);
}

static const char *name_race(Namer *n, const GrRace *race, Map *taken) {
    StrBuf text = {0};
    describe(n, race, &text);
    uint64_t hash = text.oom ? 0 : gr_hash_bytes(text.data, text.len);
    size_t times = (size_t)gr_map_get_u64(taken, hash) + 1;
    bool ok = !text.oom && gr_map_put_u64(taken, hash, (void *)times);
    gr_str_free(&text);
    if (!ok)
        return NULL;
    return times == 1 ? gr_arena_printf(&n->report->arena, "%016llx", (unsigned long long)hash)
                      : gr_arena_printf(&n->report->arena, "%016llx-%zu", (unsigned long long)hash, times);
}

static bool name_all(Namer *n, GrRace *races, size_t count) {
    Map ids = {0}, line_ids = {0};
    bool ok = true;
    for (size_t k = 0; k < count && ok; k++) {
        GrRace *race = &races[k];
        n->by_text = true;
        race->id = name_race(n, race, &ids);
        n->by_text = false;
        race->line_id = name_race(n, race, &line_ids);
        StrBuf rule = {0};
        gr_race_rule(n->report, race, &rule);
        race->rule = rule.oom ? NULL : gr_arena_strdup(&n->report->arena, rule.data);
        gr_str_free(&rule);
        ok = race->id && race->line_id && race->rule;
    }
    gr_map_free(&ids);
    gr_map_free(&line_ids);
    return ok;
}

gr_status gr_report_identify(GrReport *r, gr_error *err) {
    Namer n = {.report = r};
    bool ok = name_all(&n, r->races.data, r->races.len) && name_all(&n, r->misuses.data, r->misuses.len) &&
              name_all(&n, r->hidden.data, r->hidden.len);
    return ok ? GR_OK : gr_no_memory(err);
}

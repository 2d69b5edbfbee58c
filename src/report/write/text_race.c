// SPDX-License-Identifier: Apache-2.0
// A race as text: figure 6 of the SuperCollider paper, with what its readers missed: the source, the values, and both
// sides where they are known.
#include "base/escape.h"
#include "findings/headline.h"
#include "report/write/text_internal.h"

#include <stdlib.h>
#include <string.h>

void gr_text_place(const GrReport *r, const GrFrame *f, StrBuf *out) {
    gr_report_place(r, f, out);
    if (f->col)
        gr_escaped_addf(out, ":%u", f->col);
}

void gr_text_excerpt(const GrReport *r, const GrFrame *f, StrBuf *out) {
    StrBuf plain = {0};
    if (r->sources)
        gr_source_excerpt(r->sources, f->file, f->line, f->col, r->look.color ? &plain : out);
    // The line itself, and the caret below it.
    bool hit = false;
    for (const char *p = plain.data, *end; p && *p; p = end) {
        end = p + strcspn(p, "\n");
        bool caret = hit && !strncmp(p, "          |", 11);
        hit = !strncmp(p, "  >", 3);
        if (hit || caret)
            gr_text_paint(r, hit ? GR_PAINT_STRONG : GR_PAINT_HIT, out);
        gr_str_addn(out, p, (size_t)(end - p));
        if (hit || caret)
            gr_text_paint(r, GR_PAINT_OFF, out);
        if (*end)
            gr_str_addc(out, *end++);
    }
    out->oom |= plain.oom;
    gr_str_free(&plain);
}

// The headline of an access.
static const GrFrame *headline_of(const GrAccess *a) { return gr_access_frame(a, a->headline); }

// What is known of an access without a line. CUDA's own functions, which debug builds do not inline, never have lines.
void gr_text_ptx_line(const GrAccess *a, const char *kernel, StrBuf *out) {
    const char *function = headline_of(a)->function;
    bool called = function && kernel && strcmp(function, kernel);
    gr_escaped_addf(out, "PTX line %u (%s)", a->ptx_line,
                    called ? "this function has no source lines; -lineinfo or -G gives them to your own"
                           : "compile with -lineinfo to see source lines");
}

void gr_text_where(const GrReport *r, const GrRace *race, const GrAccess *a, StrBuf *out) {
    const char *module = race->found.module;
    if (a->host && a->at.file)
        gr_text_place(r, &a->at, out);
    else if (a->host)
        gr_str_add(out, "the host's code (compile with -g to see source lines)");
    else if (!a->ptx_line && !gr_access_call(r, a, out))
        gr_escaped_addf(out, "%s %s %s", *a->kind == 'a' ? "an" : "a", a->kind,
                        strstr(a->kind, " node") ? "of a graph" : "that the program asked the API for");
    else if (!a->ptx_line)
        return;
    else if (headline_of(a)->file && headline_of(a)->line)
        gr_text_place(r, headline_of(a), out);
    else if (a->near)
        gr_escaped_addf(out, "%s: near line %u (PTX line %u, to which the compiler gave no line)",
                        a->near->file ? gr_report_file(r, a->near->file) : module, a->near->line,
                        a->ptx_line);
    else {
        gr_escaped_addf(out, "%s, ", module);
        gr_text_ptx_line(a, race->found.kernel, out);
    }
}

void gr_text_triple(const char *what, const uint32_t v[3], StrBuf *out) {
    gr_escaped_addf(out, "%s (%u,%u,%u)", what, v[0], v[1], v[2]);
}

static void add_lanes(uint32_t lanes, StrBuf *out) {
    for (unsigned i = 0; i < 32; i++)
        if (lanes >> i & 1)
            gr_escaped_addf(out, " %u", i);
}

// The kernel, and the device function that the headline is in.
static void add_function(const GrRace *race, const GrAccess *a, Arena *arena, StrBuf *out) {
    const char *function = headline_of(a)->function;
    if (race->n_kernels > 1)
        gr_escaped_addf(out, "in %u kernels", race->n_kernels);
    else if (race->found.kernel)
        gr_escaped_addf(out, "in kernel %s", gr_short_name(race->found.kernel, arena));
    if (function && (!race->found.kernel || strcmp(function, race->found.kernel)))
        gr_escaped_addf(out, "%sin %s", race->found.kernel ? ", " : "", gr_short_name(function, arena));
}

// Which kernels those are, a few of them.
static void add_kernels(const GrRace *race, Arena *arena, StrBuf *out) {
    enum { LISTED = 4 };
    if (race->n_kernels < 2)
        return;
    uint32_t n = race->n_kernels > LISTED + 1 ? LISTED : race->n_kernels;
    const char *const *names = gr_telling_names(race->kernels, n, arena);
    gr_escaped_addf(out, "    in %u kernels:\n", race->n_kernels);
    for (uint32_t k = 0; names && k < n; k++)
        gr_escaped_addf(out, "        %s\n", names[k]);
    if (n < race->n_kernels)
        gr_escaped_addf(out, "        and %u more\n", race->n_kernels - n);
}

static bool is_turned(const GrRace *race) {
    for (uint32_t k = 0; k < race->found.size; k++)
        if ((race->found.expected[k] ^ race->found.seen[k]) != (k == 0))
            return false;
    return race->found.size > 0;
}

// Lanes of one warp: which lane stored what. `size` is 0 when the values are not known.
static void add_lane_values(const GrRace *race, StrBuf *out) {
    const uint8_t *const values[] = {race->found.expected, race->found.seen};
    unsigned n = race->found.stored[0] == race->found.stored[1] ? 1 : 2; // one: all stored the same
    uint32_t rest = race->found.lanes;
    for (unsigned k = 0; k < n && race->found.size; k++) {
        gr_escaped_addf(out, "    lane%s", race->found.stored[k] & (race->found.stored[k] - 1) ? "s" : "");
        add_lanes(race->found.stored[k], out);
        gr_escaped_addf(out, "%s stored ", n == 1 ? " all" : "");
        gr_value_text(values[k], race->found.size, out);
        gr_str_addc(out, '\n');
        rest &= ~race->found.stored[k];
    }
    if (race->found.size && rest) {
        gr_escaped_addf(out, "    lane%s", rest & (rest - 1) ? "s" : "");
        add_lanes(rest, out);
        gr_str_add(out, " stored something else\n");
    }
}

static void add_who(const GrReport *r, const GrRace *race, const GrAccess *a, Arena *arena, StrBuf *out) {
    gr_escaped_addf(out, "%s%s", a->async ? "asynchronous " : "", a->kind);
    if (a->size) // else the instruction does not say
        gr_escaped_addf(out, " of %u byte%s", a->size, a->size == 1 ? "" : "s");
    if (a->strong)
        gr_escaped_addf(out, ", %sstrong, scope .%s", a->is_volatile ? "volatile: " : "", a->strong);
    if (a->discarded)
        gr_str_add(out, ", its value not used");
    if (a->has_thread) {
        gr_text_triple(", thread", a->thread, out);
        gr_text_triple(", block", a->block, out);
        gr_escaped_addf(
            out, strcmp(race->found.space, "shared") ? ", %s address 0x%llx" : ", %s address, offset 0x%llx",
            race->found.space, (unsigned long long)a->address);
        if (a->has_rank)
            gr_escaped_addf(out, " of block %u of the cluster", a->rank);
    } else if (a->host) {
        gr_escaped_addf(out, ", address 0x%llx", (unsigned long long)a->address);
    }
    if (a->has_thread || a->host)
        gr_access_memory(r, a, arena, out);
}

// The whole line of a side: what it did, which thread, and in which launch (0: not said).
static void add_side(const GrReport *r, const GrRace *race, const GrAccess *a, uint64_t launch, Arena *arena,
                     StrBuf *out) {
    add_who(r, race, a, arena, out);
    if (launch)
        gr_escaped_addf(out, ", launch %llu%s%s", (unsigned long long)launch, a->range ? " in " : "",
                        a->range ? a->range : "");
    gr_str_addc(out, '\n');
}

// The values: what should have been there by program order, and what was.
void gr_text_values(const GrReport *r, const GrRace *race, Arena *arena, StrBuf *out) {
    if (race->found.lanes)
        add_lane_values(race, out);
    if (!race->found.size || race->found.lanes)
        return;
    const GrAccess *noticed = gr_race_noticed_elsewhere(race);
    if (noticed) {
        gr_str_add(out, "    a value changed in another occurrence: ");
        add_side(r, race, noticed, race->found.launch, arena, out);
    }
    gr_escaped_addf(out, "    %s ", race->found.stored_first ? "stored    " : "first read");
    gr_value_text(race->found.expected, race->found.size, out);
    gr_str_add(out, "\n    then saw   ");
    gr_value_text(race->found.seen, race->found.size, out);
    if (r->poisoned && is_turned(race))
        gr_str_add(out,
                   "\n    which has the lowest bit turned: another thread was about to store the same value "
                   "(--poison)");
    gr_str_addc(out, '\n');
}

// The function of the other side, where it is another one; and the end of the line.
static void add_other_function(const GrAccess *a, const GrAccess *b, Arena *arena, StrBuf *out) {
    const char *mine = headline_of(a)->function, *other = headline_of(b)->function;
    if (other && (!mine || strcmp(mine, other)))
        gr_escaped_addf(out, " in %s", gr_short_name(other, arena));
    gr_str_addc(out, '\n');
}

static void add_beneath(const GrReport *r, const GrFrame *f, Arena *arena, StrBuf *out) {
    gr_str_add(out, "    which runs ");
    if (f->file)
        gr_text_place(r, f, out);
    else
        gr_str_add(out, "code without a line");
    if (f->function)
        gr_escaped_addf(out, " in %s", gr_short_name(f->function, arena));
    gr_str_addc(out, '\n');
}

void gr_text_source(const GrReport *r, const GrAccess *a, Arena *arena, StrBuf *out) {
    enum { OUTER = 2, INNER = 2 }; // how many are shown
    uint32_t k = a->headline;
    const GrFrame *call = gr_access_call_line(a), *f = call ? call : gr_access_frame(a, k);
    gr_text_excerpt(r, f, out);
    for (uint32_t shown = 0; k-- > 0; shown++) {
        if (shown == OUTER && k > INNER) {
            gr_escaped_addf(out, "    (%u more)\n", k + 1 - INNER);
            k = INNER - 1;
        }
        add_beneath(r, gr_access_frame(a, k), arena, out);
    }
}

// Where the headline was inlined.
static void add_inlined(const GrReport *r, const GrAccess *a, Arena *arena, StrBuf *out) {
    for (uint32_t f = a->headline; f < a->n_inlined; f++) {
        gr_str_add(out, "    inlined at ");
        gr_text_place(r, &a->inlined[f], out);
        if (a->inlined[f].function)
            gr_escaped_addf(out, " in %s", gr_short_name(a->inlined[f].function, arena));
        gr_str_addc(out, '\n');
    }
}

// Both sides, and the order that was missing.
static void add_pair(const GrReport *r, const GrRace *race, Arena *arena, StrBuf *out) {
    const GrAccess *a = &race->found.accesses[0], *b = &race->found.accesses[1];
    gr_str_add(out, "    other side: ");
    gr_text_where(r, race, b, out);
    add_other_function(a, b, arena, out);
    if (b->ptx_line || b->host || gr_access_call_line(b))
        gr_text_source(r, b, arena, out);
    if (b->ptx_line || b->host) {
        gr_str_add(out, "    ");
        add_side(r, race, b, b->launch, arena, out);
    }
    if (!b->launch || b->launch != a->launch)
        gr_text_stack(r, b->ptx_line ? "launched from" : "called from", b->stack, arena, out);
    gr_escaped_addf(out, "    both touched %u byte%s at %s0x%llx\n    ", race->found.overlap_bytes,
                    race->found.overlap_bytes == 1 ? "" : "s",
                    strcmp(race->found.space, "shared") ? "" : "offset ",
                    (unsigned long long)race->found.overlap);
    gr_text_paint(r, GR_PAINT_STRONG, out);
    gr_str_add(out, "missing: ");
    gr_text_paint(r, GR_PAINT_OFF, out);
    gr_race_sentence(r, race, out);
    gr_str_addc(out, '\n');
}

// The other side, from the replay in which the two met.
static void add_met(const GrReport *r, const GrRace *race, Arena *arena, StrBuf *out) {
    const GrMet *m = race->met;
    const GrAccess *a = &m->first, *b = &m->other;
    gr_str_add(out, "    other side, caught by a replay: ");
    gr_text_where(r, race, b, out);
    add_other_function(a, b, arena, out);
    gr_text_source(r, b, arena, out);
    add_inlined(r, b, arena, out);
    gr_str_add(out, "    ");
    add_side(r, race, b, b->launch, arena, out);
    gr_escaped_addf(
        out, "    the two met in replay %u (seed %llu), not in the first run; there the first side was: ",
        m->replay, (unsigned long long)m->seed);
    add_side(r, race, a, a->launch, arena, out);
}

// The race of another lane of that instruction to which a thread's store may have been lost. NULL: there is none.
static const GrRace *race_of_lanes(const GrReport *r, const GrRace *race) {
    const GrFrame *at = &race->found.accesses[0].at;
    for (size_t i = 0; i < r->races.len; i++) {
        const GrRace *o = &r->races.data[i];
        if (o->found.lanes && o->found.stored[0] != o->found.stored[1] && race->found.stored_first &&
            at->line && at->line == o->found.accesses[0].at.line && at->col == o->found.accesses[0].at.col &&
            at->file && o->found.accesses[0].at.file && !strcmp(at->file, o->found.accesses[0].at.file))
            return o;
    }
    return NULL;
}

static void add_other_side(const GrReport *r, const GrRace *race, StrBuf *out) {
    if (race->found.n_accesses < 2 && r->replays) {
        const GrRace *lanes = race_of_lanes(r, race);
        gr_escaped_addf(
            out,
            "    other side: not known: in %llu replay%s no store or atomic operation of a kernel touched "
            "the bytes\n    while a thread waited here (copies, asynchronous stores and the host cannot "
            "be caught)\n",
            (unsigned long long)r->replays, r->replays == 1 ? "" : "s");
        if (lanes)
            gr_escaped_addf(out, "    lanes of one warp store here together: see the %s at this line\n",
                            gr_report_class(r, lanes->found.class)->name);
        return;
    }
    if (race->found.n_accesses < 2) {
        gr_str_add(out, "    other side: a store by another thread, not known (this engine sees one side)\n");
        return;
    }
    gr_str_add(out, "    other side: the same instruction, in other lanes of the warp");
    if (race->found.accesses[1].lanes) {
        gr_str_add(out, "; at this address:");
        add_lanes(race->found.accesses[1].lanes, out);
    }
    gr_str_addc(out, '\n');
}

// What the other engine saw of the same race in the same execution.
static void add_witness(const GrReport *r, const GrRace *race, Arena *arena, StrBuf *out) {
    if (!race->witness) {
        gr_escaped_addf(out, "    NOT CONFIRMED: causality saw no race %s in the same execution\n",
                        race->found.order && race->found.seen_by == GR_SEEN_BY_ENGINE
                            ? "of these two accesses"
                            : "at this access");
        return;
    }
    const GrRace *w = race->witness;
    gr_escaped_addf(out, "    confirmed by causality in the same execution: %s of ",
                    gr_report_class(r, w->found.class)->name);
    gr_text_where(r, w, &w->found.accesses[0], out);
    gr_str_add(out, "\n    ");
    add_side(r, w, &w->found.accesses[0], 0, arena, out);
    add_pair(r, w, arena, out);
}

void gr_text_line(const GrReport *r, const GrRace *race, bool misuse, Arena *arena, StrBuf *out) {
    const GrFrame *f = gr_race_place(race);
    if (f->file && f->line) {
        gr_report_place(r, f, out);
        gr_str_add(out, ": ");
    }
    const GrClass *class = gr_report_class(r, race->found.class);
    gr_escaped_addf(out, "%s: %s", misuse ? gr_misuse_title(class) : "data race", class->name);
    if (race->found.kernel)
        gr_escaped_addf(out, " in kernel %s", gr_short_name(race->found.kernel, arena));
    gr_escaped_addf(out, ", %llu time%s, id %s\n", (unsigned long long)race->found.count,
                    race->found.count == 1 ? "" : "s", race->id ? race->id : "?");
}

void gr_text_runs(const GrReport *r, const GrSeenIn *seen, uint32_t n, const GrRace *shown, StrBuf *out) {
    if (n)
        gr_escaped_addf(out, "    seen in %u of %zu runs, the first with seed %llu\n    again: %s\n", n,
                        r->runs.len, (unsigned long long)seen[0].run->seed, gr_race_reproduce(r, shown));
}

// The edit that is proposed, as a diff. Each line begins as an excerpt does, so that it is never broken.
static void add_repair(const GrReport *r, const GrRepair *repair, StrBuf *out) {
    gr_escaped_addf(out, "    may be repaired so (gpurace repair tries it): %s in %s\n", repair->what,
                    gr_report_file(r, repair->file));
    for (const char *line = repair->hunks; *line;) {
        size_t n = strcspn(line, "\n");
        gr_str_add(out, "          | ");
        char as[GR_ESCAPED_ROOM];
        for (size_t k = 0, taken; k < n; k += taken) {
            taken = gr_escape_char(line + k, n - k, as);
            gr_str_add(out, line[k] == '\t' ? "\t" : as);
        }
        gr_str_addc(out, '\n');
        line += n + (line[n] != 0);
    }
}

void gr_text_race(const GrReport *r, const GrRace *race, Arena *arena, StrBuf *out) {
    const GrRace *shown = race->watched ? race->watched : race;
    const GrAccess *a = &shown->found.accesses[0];
    gr_str_add(out, GR_TEXT_RULE);
    gr_text_paint(r, GR_PAINT_HEAD, out);
    gr_text_where(r, race, a, out);
    gr_escaped_addf(out, ": data race: %s ", gr_report_class(r, race->found.class)->name);
    add_function(race, a, arena, out);
    gr_text_paint(r, GR_PAINT_OFF, out);
    gr_escaped_addf(out, "\n\n    %s\n\n", gr_report_class(r, race->found.class)->meaning);
    gr_text_source(r, a, arena, out);
    add_inlined(r, a, arena, out);
    gr_str_add(out, "    ");
    add_side(r, race, a, shown->found.launch, arena, out);
    gr_text_stack(r, a->ptx_line ? "launched from" : "called from", a->stack, arena, out);
    if (!race->watched)
        gr_text_values(r, race, arena, out);
    if (shown->found.order)
        add_pair(r, shown, arena, out);
    else if (race->met)
        add_met(r, race, arena, out);
    else if (!race->witness)
        add_other_side(r, race, out);
    if (race->watched)
        gr_text_values(r, race, arena, out);
    if (race->repair)
        add_repair(r, race->repair, out);
    add_kernels(race, arena, out);
    gr_text_runs(r, race->seen, race->n_seen, race, out);
    if (race->found.detail) {
        gr_escaped_addf(out, "    %s: %s\n    evidence: %s (engine %s)\n",
                        race->found.launch ? "outcome" : "with", race->found.detail,
                        race->found.evidence ? race->found.evidence : r->evidence,
                        race->found.engine ? race->found.engine : r->engine);
        return;
    }
    gr_escaped_addf(out, "    occurred %llu time%s%s", (unsigned long long)race->found.count,
                    race->found.count == 1 ? "" : "s",
                    race->found.count == 1
                        ? ""
                        : ", the first as above, others possibly by other threads at other addresses");
    if (race->n_sites > 1)
        gr_escaped_addf(
            out, race->found.order ? ", by %u pairs of instructions" : ", at %u instructions of this line",
            race->n_sites);
    gr_escaped_addf(out, "\n    evidence: %s (engine %s)\n",
                    race->found.evidence ? race->found.evidence : r->evidence,
                    race->found.engine ? race->found.engine : r->engine);
    if (race->judged)
        add_witness(r, race, arena, out);
}

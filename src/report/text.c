// SPDX-License-Identifier: Apache-2.0
// The report as text: figure 6 of the SuperCollider paper, with what its readers missed: the source, the values, both
// sides where they are known, what the verdict covers, and how to see it again.
#include "device/record.h"
#include "report/aims.h"
#include "report/report_internal.h"
#include "report/suppress.h"

#include <string.h>

static const char rule[] =
    "================================================================================\n";

static void add_place(const GrReport *r, const GrFrame *f, StrBuf *out) {
    gr_report_place(r, f, out);
    if (f->col)
        gr_str_addf(out, ":%u", f->col);
}

static void add_where(const GrReport *r, const GrAccess *a, const char *module, StrBuf *out) {
    if (a->host && a->at.file)
        add_place(r, &a->at, out);
    else if (a->host)
        gr_str_add(out, "the host's code (compile with -g to see source lines)");
    else if (!a->ptx_line)
        gr_str_addf(out, "a %s that the program asked the API for", a->kind);
    else if (a->at.file && a->at.line)
        add_place(r, &a->at, out);
    else
        gr_str_addf(out, "%s, PTX line %u (compile with -lineinfo to see source lines)", module, a->ptx_line);
}

static void add_triple(const char *what, const uint32_t v[3], StrBuf *out) {
    gr_str_addf(out, "%s (%u,%u,%u)", what, v[0], v[1], v[2]);
}

static void add_lanes(uint32_t lanes, StrBuf *out) {
    for (unsigned i = 0; i < 32; i++)
        if (lanes >> i & 1)
            gr_str_addf(out, " %u", i);
}

static void add_function(const GrRace *race, const GrAccess *a, Arena *arena, StrBuf *out) {
    if (race->kernel)
        gr_str_addf(out, "in kernel %s", gr_short_name(race->kernel, arena));
    if (a->at.function && (!race->kernel || strcmp(a->at.function, race->kernel)))
        gr_str_addf(out, "%sin %s", race->kernel ? ", " : "", gr_short_name(a->at.function, arena));
}

static bool is_inverse(const GrRace *race) {
    for (uint32_t k = 0; k < race->size; k++)
        if ((race->expected[k] ^ race->seen[k]) != 0xff)
            return false;
    return true;
}

// Lanes of one warp: who stored what. `size` is 0 when the values are not known.
static void add_lane_values(const GrRace *race, StrBuf *out) {
    const uint8_t *const values[] = {race->expected, race->seen};
    unsigned n = race->class == GR_CLASS_INTRA_WARP_SAME ? 1 : 2;
    uint32_t rest = race->lanes;
    for (unsigned k = 0; k < n && race->size; k++) {
        gr_str_addf(out, "    lane%s", race->stored[k] & (race->stored[k] - 1) ? "s" : "");
        add_lanes(race->stored[k], out);
        gr_str_addf(out, "%s stored ", n == 1 ? " all" : "");
        gr_value_text(values[k], race->size, out);
        gr_str_addc(out, '\n');
        rest &= ~race->stored[k];
    }
    if (race->size && rest) {
        gr_str_addf(out, "    lane%s", rest & (rest - 1) ? "s" : "");
        add_lanes(rest, out);
        gr_str_add(out, " stored something else\n");
    }
}

static void add_who(const GrRace *race, const GrAccess *a, StrBuf *out);

// The values: what should have been there by program order, and what was.
static void add_values(const GrReport *r, const GrRace *race, StrBuf *out) {
    if (race->lanes)
        add_lane_values(race, out);
    if (!race->size || race->lanes)
        return;
    const GrAccess *noticed = gr_race_noticed_elsewhere(race);
    if (noticed) {
        gr_str_add(out, "    a value changed in another occurrence: ");
        add_who(race, noticed, out);
        if (race->launch)
            gr_str_addf(out, ", launch %llu", (unsigned long long)race->launch);
        gr_str_addc(out, '\n');
    }
    gr_str_addf(out, "    %s ", race->class == GR_CLASS_CLOBBERED_READ ? "first read" : "stored    ");
    gr_value_text(race->expected, race->size, out);
    gr_str_add(out, "\n    then saw   ");
    gr_value_text(race->seen, race->size, out);
    if (r->poisoned && is_inverse(race))
        gr_str_add(out, "\n    which is the complement: another thread was about to store the same value "
                        "(--poison-writes)");
    gr_str_addc(out, '\n');
}

static void add_who(const GrRace *race, const GrAccess *a, StrBuf *out) {
    gr_str_addf(out, "%s%s", a->async ? "asynchronous " : "", a->kind);
    if (a->size) // else the instruction does not say
        gr_str_addf(out, " of %u byte%s", a->size, a->size == 1 ? "" : "s");
    if (a->strong)
        gr_str_addf(out, ", %sstrong, scope .%s", a->is_volatile ? "volatile: " : "", a->strong);
    if (a->discarded)
        gr_str_add(out, ", its value not used");
    if (a->has_thread) {
        add_triple(", thread", a->thread, out);
        add_triple(", block", a->block, out);
        gr_str_addf(out,
                    strcmp(race->space, "shared") ? ", %s address 0x%llx" : ", %s address, offset 0x%llx",
                    race->space, (unsigned long long)a->address);
        if (a->has_rank)
            gr_str_addf(out, " of block %u of the cluster", a->rank);
    } else if (a->host) {
        gr_str_addf(out, ", address 0x%llx", (unsigned long long)a->address);
    }
}

// Both sides, and the order that was missing.
static void add_pair(const GrReport *r, const GrRace *race, Arena *arena, StrBuf *out) {
    const GrAccess *a = &race->accesses[0], *b = &race->accesses[1];
    gr_str_add(out, "    other side: ");
    add_where(r, b, race->module, out);
    if (b->at.function && (!a->at.function || strcmp(a->at.function, b->at.function)))
        gr_str_addf(out, " in %s", gr_short_name(b->at.function, arena));
    gr_str_addc(out, '\n');
    if (b->ptx_line || b->host) {
        gr_source_excerpt(b->at.file, b->at.line, b->at.col, out);
        gr_str_add(out, "    ");
        add_who(race, b, out);
        if (b->launch)
            gr_str_addf(out, ", launch %llu", (unsigned long long)b->launch);
        gr_str_addc(out, '\n');
    }
    gr_str_addf(out, "    both touched %u byte%s at %s0x%llx\n    missing: ", race->overlap_bytes,
                race->overlap_bytes == 1 ? "" : "s", strcmp(race->space, "shared") ? "" : "offset ",
                (unsigned long long)race->overlap);
    gr_race_sentence(r, race, out);
    gr_str_addc(out, '\n');
}

static void add_inlined(const GrReport *r, const GrAccess *a, Arena *arena, StrBuf *out) {
    for (uint32_t f = 0; f < a->n_inlined; f++) {
        gr_str_add(out, "    inlined at ");
        add_place(r, &a->inlined[f], out);
        if (a->inlined[f].function)
            gr_str_addf(out, " in %s", gr_short_name(a->inlined[f].function, arena));
        gr_str_addc(out, '\n');
    }
}

// The other side, from the replay in which the two met.
static void add_met(const GrReport *r, const GrRace *race, Arena *arena, StrBuf *out) {
    const GrMet *m = race->met;
    const GrAccess *a = &m->first, *b = &m->other;
    gr_str_add(out, "    other side, caught by a replay: ");
    add_where(r, b, race->module, out);
    if (b->at.function && (!a->at.function || strcmp(a->at.function, b->at.function)))
        gr_str_addf(out, " in %s", gr_short_name(b->at.function, arena));
    gr_str_addc(out, '\n');
    gr_source_excerpt(b->at.file, b->at.line, b->at.col, out);
    add_inlined(r, b, arena, out);
    gr_str_add(out, "    ");
    add_who(race, b, out);
    if (b->launch)
        gr_str_addf(out, ", launch %llu", (unsigned long long)b->launch);
    gr_str_addf(
        out, "\n    the two met in replay %u (seed %llu), not in the first run; there the first side was: ",
        m->replay, (unsigned long long)m->seed);
    add_who(race, a, out);
    if (a->launch)
        gr_str_addf(out, ", launch %llu", (unsigned long long)a->launch);
    gr_str_addc(out, '\n');
}

// A lost update may have been lost to another lane of the same instruction, which is a race of its own in the report.
static bool has_lanes_too(const GrReport *r, const GrRace *race) {
    const GrFrame *at = &race->accesses[0].at;
    for (size_t i = 0; i < r->races.len; i++) {
        const GrRace *o = &r->races.data[i];
        if (o->class == GR_CLASS_INTRA_WARP && race->class == GR_CLASS_LOST_UPDATE && at->line &&
            at->line == o->accesses[0].at.line && at->col == o->accesses[0].at.col && at->file &&
            o->accesses[0].at.file && !strcmp(at->file, o->accesses[0].at.file))
            return true;
    }
    return false;
}

static void add_other_side(const GrReport *r, const GrRace *race, StrBuf *out) {
    if (race->n_accesses < 2 && r->replays) {
        gr_str_addf(
            out,
            "    other side: not known: in %llu replay%s no store or atomic operation of a kernel touched "
            "the bytes\n    while a thread waited here (copies, asynchronous stores and the host cannot "
            "be caught)\n%s",
            (unsigned long long)r->replays, r->replays == 1 ? "" : "s",
            has_lanes_too(r, race)
                ? "    lanes of one warp store here together: see the intra-warp lost update at this line\n"
                : "");
        return;
    }
    if (race->n_accesses < 2) {
        gr_str_add(out, "    other side: a store by another thread, not known (this engine sees one side)\n");
        return;
    }
    gr_str_add(out, "    other side: the same instruction, in other lanes of the warp");
    if (race->accesses[1].lanes) {
        gr_str_add(out, "; at this address:");
        add_lanes(race->accesses[1].lanes, out);
    }
    gr_str_addc(out, '\n');
}

// What the other engine saw of the same race in the same execution.
static void add_witness(const GrReport *r, const GrRace *race, Arena *arena, StrBuf *out) {
    if (!race->witness) {
        gr_str_add(out, "    NOT CONFIRMED: causality saw no race at this access in the same execution\n");
        return;
    }
    const GrRace *w = race->witness;
    gr_str_addf(out, "    confirmed by causality in the same execution: %s of ",
                gr_race_class_name(w->class));
    add_where(r, &w->accesses[0], w->module, out);
    gr_str_add(out, "\n    ");
    add_who(w, &w->accesses[0], out);
    gr_str_addc(out, '\n');
    add_pair(r, w, arena, out);
}

static void add_race(const GrReport *r, size_t i, Arena *arena, StrBuf *out) {
    const GrRace *race = &r->races.data[i], *shown = race->watched ? race->watched : race;
    const GrAccess *a = &shown->accesses[0];
    gr_str_add(out, rule);
    add_where(r, a, race->module, out);
    gr_str_addf(out, ": data race: %s ", gr_race_class_name(race->class));
    add_function(race, a, arena, out);
    gr_str_addf(out, "\n\n    %s\n\n", gr_race_class_meaning(race->class));
    gr_source_excerpt(a->at.file, a->at.line, a->at.col, out);
    add_inlined(r, a, arena, out);
    gr_str_add(out, "    ");
    add_who(race, a, out);
    if (shown->launch)
        gr_str_addf(out, ", launch %llu", (unsigned long long)shown->launch);
    gr_str_addc(out, '\n');
    if (!race->watched)
        add_values(r, race, out);
    if (shown->order)
        add_pair(r, shown, arena, out);
    else if (race->met)
        add_met(r, race, arena, out);
    else if (!race->witness)
        add_other_side(r, race, out);
    if (race->watched)
        add_values(r, race, out);
    gr_str_addf(
        out, "    occurred %llu time%s%s", (unsigned long long)race->count, race->count == 1 ? "" : "s",
        race->count == 1 ? "" : ", the first as above, others possibly by other threads at other addresses");
    if (race->n_sites > 1)
        gr_str_addf(out, race->order ? ", by %u pairs of instructions" : ", at %u instructions of this line",
                    race->n_sites);
    gr_str_addf(out, "\n    evidence: %s (engine %s)\n", race->evidence ? race->evidence : r->evidence,
                race->engine ? race->engine : r->engine);
    if (race->judged)
        add_witness(r, race, arena, out);
}

static void add_list(const char *head, const GrCountedVec *v, StrBuf *out) {
    for (size_t i = 0; i < v->len; i++) {
        gr_str_addf(out, "%s%s", head, v->data[i].text);
        if (v->data[i].count > 1)
            gr_str_addf(out, " (%llu times)", (unsigned long long)v->data[i].count);
        gr_str_addc(out, '\n');
    }
}

static void add_kernels(const GrReport *r, Arena *arena, StrBuf *out) {
    size_t checked = 0, launched = 0, idle = 0;
    for (size_t i = 0; i < r->kernels.len; i++) {
        const GrKernelCoverage *k = &r->kernels.data[i];
        launched += k->launches != 0;
        checked += k->launches && !k->unchecked;
        idle += !k->launches;
    }
    gr_str_addf(out, "  kernels   %zu launched, %zu of them checked; %zu never launched\n", launched, checked,
                idle);
    gr_str_addf(out, "  launches  %llu checked, %llu not\n", (unsigned long long)r->launches_checked,
                (unsigned long long)r->launches_unchecked);
    for (size_t i = 0; i < r->kernels.len; i++) {
        const GrKernelCoverage *k = &r->kernels.data[i];
        if (!k->launches)
            continue;
        gr_str_addf(out, "            %s: %llu", gr_short_name(k->name, arena),
                    (unsigned long long)k->launches);
        add_triple(k->launches == 1 ? ", grid" : ", the first of them with grid", k->grid, out);
        add_triple(" block", k->block, out);
        if (k->failed)
            gr_str_addf(out, ", %llu failed", (unsigned long long)k->failed);
        if (k->unchecked)
            gr_str_addf(out, ", not checked: %s", k->unchecked);
        gr_str_addc(out, '\n');
    }
}

static void add_suppressions(const GrSuppressions *s, StrBuf *out) {
    for (size_t i = 0; s && i < s->rules.len; i++) {
        const GrRule *hides = &s->rules.data[i];
        if (hides->races)
            gr_str_addf(out, "  hidden    %llu race%s that occurred %llu time%s, by '%s' (%s:%u)\n",
                        (unsigned long long)hides->races, hides->races == 1 ? "" : "s",
                        (unsigned long long)hides->count, hides->count == 1 ? "" : "s", hides->text, s->path,
                        hides->line);
        else
            gr_str_addf(out, "  remark    '%s' (%s:%u) hid nothing\n", hides->text, s->path, hides->line);
    }
}

static void add_conflicts(const GrReport *r, StrBuf *out) {
    uint64_t n = r->aim ? gr_aims_waiting(r->aim) : 0;
    if (!n && !r->so_far.conflicts)
        return;
    gr_str_add(out, "  conflicts ");
    if (r->so_far.conflicts)
        gr_str_addf(out, "%llu pair%s of accesses touched the same bytes so far; %llu %s seen to overlap",
                    (unsigned long long)r->so_far.conflicts, r->so_far.conflicts == 1 ? "" : "s",
                    (unsigned long long)r->so_far.met, r->so_far.met == 1 ? "was" : "were");
    if (n)
        gr_str_addf(out, "%sthis run aimed at %llu access%s", r->so_far.conflicts ? "; " : "",
                    (unsigned long long)n, n == 1 ? "" : "es");
    gr_str_addc(out, '\n');
}

static void add_coverage(const GrReport *r, Arena *arena, StrBuf *out) {
    static const char *const texts[] = {
#define SITE_STATUS(id, text) text,
#include "ptx/site_status.def"
#undef SITE_STATUS
    };
    gr_str_addf(out, "  engine    %s (%s), device %s, seed %llu\n", r->engine, r->evidence, r->device,
                (unsigned long long)r->seed);
    gr_str_addf(out, "  modules   %llu checked, %llu not\n", (unsigned long long)r->modules_checked,
                (unsigned long long)r->modules_unchecked);
    add_kernels(r, arena, out);
    gr_str_addf(out, "  accesses  %llu checked", (unsigned long long)r->sites[GR_SITE_CHECKED]);
    for (unsigned i = 0; i < GR_SITE_STATUS_COUNT; i++)
        if (i != GR_SITE_CHECKED && r->sites[i])
            gr_str_addf(out, "; %llu %s", (unsigned long long)r->sites[i], texts[i]);
    gr_str_addc(out, '\n');
    if (r->sample[0])
        gr_str_addf(
            out,
            "  sampled   %llu of %llu accesses, by --sample; %llu of them in kernels that were launched\n",
            (unsigned long long)r->sites[GR_SITE_CHECKED], (unsigned long long)gr_report_qualifying(r),
            (unsigned long long)r->watched);
    if (r->so_far.runs)
        gr_str_addf(out, "  coverage  %llu of %llu accesses watched so far, in %llu run%s (%s)\n",
                    (unsigned long long)r->so_far.watched, (unsigned long long)r->so_far.accesses,
                    (unsigned long long)r->so_far.runs, r->so_far.runs == 1 ? "" : "s", r->so_far.name);
    add_conflicts(r, out);
    add_list("  remark    ", &r->remarks, out);
    add_suppressions(r->suppressions, out);
}

static void add_misuse(const GrReport *r, const GrMisuse *m, Arena *arena, StrBuf *out) {
    gr_str_add(out, rule);
    if (m->at.file && m->at.line)
        add_place(r, &m->at, out);
    else
        gr_str_addf(out, "PTX line %u (compile with -lineinfo to see source lines)", m->ptx_line);
    gr_str_addf(out, ": synchronization misuse: %s ", m->class);
    if (m->kernel)
        gr_str_addf(out, "in kernel %s", gr_short_name(m->kernel, arena));
    if (m->at.function && (!m->kernel || strcmp(m->at.function, m->kernel)))
        gr_str_addf(out, "%sin %s", m->kernel ? ", " : "", gr_short_name(m->at.function, arena));
    gr_str_addf(out, "\n\n    %s\n\n", m->meaning);
    gr_source_excerpt(m->at.file, m->at.line, m->at.col, out);
    if (m->outer.file) {
        gr_str_add(out, "    inlined at ");
        add_place(r, &m->outer, out);
        gr_str_addc(out, '\n');
        gr_source_excerpt(m->outer.file, m->outer.line, 0, out);
    }
    gr_str_addf(out, "    %s", m->detail);
    if (m->launch)
        gr_str_addf(out, ", launch %llu", (unsigned long long)m->launch);
    gr_str_addf(
        out, "\n    occurred %llu time%s%s\n    evidence: undefined behaviour, or no progress (engine %s)\n",
        (unsigned long long)m->count, m->count == 1 ? "" : "s",
        m->count == 1 ? "" : ", the first as above, others possibly by other threads", r->engine);
}

void gr_report_text(const GrReport *r, StrBuf *out) {
    Arena arena; // of demangled names
    gr_arena_init(&arena);
    for (size_t i = 0; i < r->races.len; i++)
        add_race(r, i, &arena, out);
    for (size_t i = 0; i < r->misuses.len; i++)
        add_misuse(r, &r->misuses.data[i], &arena, out);
    gr_str_add(out, rule);
    gr_str_addf(out, "gpurace: verdict: %s", gr_verdict_name(r->verdict));
    if (r->verdict == GR_VERDICT_CLEAN && r->sample[0])
        gr_str_addf(out, " (%llu of %llu accesses were watched)", (unsigned long long)r->watched,
                    (unsigned long long)gr_report_qualifying(r));
    if (r->races.len)
        gr_str_addf(out, " (%zu)", r->races.len);
    if (r->misuses.len)
        gr_str_addf(out, "%s synchronization misused in %zu place%s", r->races.len ? ", and" : ":",
                    r->misuses.len, r->misuses.len == 1 ? "" : "s");
    gr_str_addc(out, '\n');
    add_list(r->verdict == GR_VERDICT_RACES ? "  besides   " : "  because   ", &r->reasons, out);
    add_coverage(r, &arena, out);
    gr_str_addf(out, "  again     %s\n", r->reproduce);
    gr_arena_free(&arena);
}

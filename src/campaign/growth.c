// SPDX-License-Identifier: Apache-2.0
#include "campaign/growth.h"

#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 760,
    HEIGHT = 360,
    LEFT = 56,
    RIGHT = 24,
    TOP = 32,
    BOTTOM = 48,
    ROW = 20,
    MOST_LINES = 6,
    TICKS = 5
};

// The steps of a line: how many races were known after a run, where the number grew.
typedef struct Step {
    uint64_t runs, races;
} Step;
typedef struct Line {
    const char *engine, *schedule; // NULL: all
    VEC(Step) steps;
    uint64_t runs, races;
} Line;

static bool is_of(const Line *l, const GrCampaignRun *r) {
    return !l->engine || (!strcmp(l->engine, r->engine) && !strcmp(l->schedule, r->schedule));
}

static bool follow(const GrKnown *k, Line *l) {
    bool *seen = calloc(k->races.len + 1, sizeof *seen), ok = seen != NULL;
    for (uint64_t n = 1; ok && n <= k->plan->n; n++) {
        const GrKnownRun *r = &k->runs[n];
        GrCampaignRun run = gr_plan_run(k->plan, n);
        if (r->state != GR_RUN_DONE || !is_of(l, &run))
            continue;
        uint64_t before = l->races;
        l->runs++;
        for (size_t i = 0; i < r->seen.len; i++) {
            l->races += !seen[r->seen.data[i].race];
            seen[r->seen.data[i].race] = true;
        }
        if (l->races != before)
            ok = gr_vec_push(&l->steps, ((Step){l->runs, l->races}));
    }
    free(seen);
    return ok;
}

// ---- Drawing -------------------------------------------------------------------------------------------------------

typedef struct Scale {
    uint64_t runs, races;
} Scale;

static double x_of(Scale s, uint64_t runs) {
    return LEFT + (double)runs * (WIDTH - LEFT - RIGHT) / (double)(s.runs ? s.runs : 1);
}

static double y_of(Scale s, uint64_t races) {
    return HEIGHT - BOTTOM - (double)races * (HEIGHT - TOP - BOTTOM) / (double)(s.races ? s.races : 1);
}

// 1, 2 or 5 times a power of ten, so that `most` has at most TICKS steps.
static uint64_t tick_of(uint64_t most) {
    static const unsigned times[] = {1, 2, 5};
    for (uint64_t ten = 1;; ten *= 10)
        for (unsigned k = 0; k < 3; k++)
            if (ten * times[k] * TICKS >= most)
                return ten * times[k];
}

static void add_axes(Scale s, StrBuf *out) {
    uint64_t step = tick_of(s.races);
    for (uint64_t v = 0; v <= s.races; v += step)
        gr_str_addf(out,
                    "<path class=\"grid\" d=\"M%d %.1fH%d\"/>"
                    "<text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%llu</text>\n",
                    LEFT, y_of(s, v), WIDTH - RIGHT, LEFT - 8, y_of(s, v) + 4, (unsigned long long)v);
    step = tick_of(s.runs);
    for (uint64_t v = 0; v <= s.runs; v += step)
        gr_str_addf(out, "<text class=\"tick\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%llu</text>\n",
                    x_of(s, v), HEIGHT - BOTTOM + 18, (unsigned long long)v);
    gr_str_addf(out,
                "<text class=\"name\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">runs</text>"
                "<text class=\"name\" x=\"%d\" y=\"%d\">different races found</text>\n",
                (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, LEFT, TOP - 12);
}

static void add_line(Scale s, const Line *l, unsigned nth, StrBuf *out) {
    gr_str_addf(out, "<path class=\"line l%u\" d=\"M%.1f %.1f", nth, x_of(s, 0), y_of(s, 0));
    for (size_t k = 0; k < l->steps.len; k++)
        gr_str_addf(out, "H%.1fV%.1f", x_of(s, l->steps.data[k].runs), y_of(s, l->steps.data[k].races));
    gr_str_addf(out, "H%.1f\"><title>%s%s%s: %llu in %llu runs</title></path>\n", x_of(s, l->runs),
                l->engine ? l->engine : "all runs", l->engine ? ", schedule " : "",
                l->engine ? l->schedule : "", (unsigned long long)l->races, (unsigned long long)l->runs);
}

// Names the lines below the plot; returns how many rows that takes. Names of engines and schedules lack <, > and &.
static int add_legend(const Line *lines, unsigned n, StrBuf *out) {
    int x = LEFT, y = HEIGHT + ROW / 2;
    for (unsigned k = 0; k < n && n > 1; k++) {
        const Line *l = &lines[k];
        bool plain = !l->engine || !strcmp(l->schedule, "auto");
        StrBuf name = {0};
        gr_str_addf(&name, "%s%s%s (%llu)", l->engine ? l->engine : "all", plain ? "" : " ",
                    plain ? "" : l->schedule, (unsigned long long)l->races);
        int width = 24 + 7 * (int)name.len + 20;
        if (x + width > WIDTH && x > LEFT) {
            x = LEFT;
            y += ROW;
        }
        gr_str_addf(
            out,
            "<path class=\"line l%u\" d=\"M%d %dh18\"/><text class=\"tick\" x=\"%d\" y=\"%d\">%s</text>\n", k,
            x, y, x + 24, y + 4, name.data ? name.data : "");
        x += width;
        gr_str_free(&name);
    }
    return n > 1 ? (y - HEIGHT) / ROW + 1 : 0;
}

static const char head[] =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"growth\" viewBox=\"0 0 %d %d\" width=\"%d\" "
    "height=\"%d\" role=\"img\" "
    "aria-label=\"%llu different races were found in %llu runs\">\n"
    "<style>\n"
    ".growth{color:var(--fg,#222);background:var(--bg,#fff);font:12px sans-serif}\n"
    ".growth text{fill:currentColor}\n"
    ".growth .grid{stroke:currentColor;stroke-opacity:.15;fill:none}\n"
    ".growth .line{fill:none;stroke-width:1.5;stroke:currentColor}\n"
    ".growth .l0{stroke-width:2.5;stroke:#c33}.growth .l1{stroke:#27c}.growth .l2{stroke:#284}"
    ".growth .l3{stroke:#a60}.growth .l4{stroke:#84a}.growth .l5{stroke:#077}.growth .l6{stroke:#777}\n"
    "@media (prefers-color-scheme:dark){.growth{color:var(--fg,#ddd);background:var(--bg,#181818)}.growth "
    ".l0{stroke:#f77}.growth "
    ".l1{stroke:#7af}.growth .l2{stroke:#7c8}.growth .l3{stroke:#db6}.growth .l4{stroke:#c9e}.growth "
    ".l5{stroke:#6cc}.growth .l6{stroke:#aaa}}\n"
    "</style>\n";

gr_status gr_growth_svg(const GrKnown *k, StrBuf *out, gr_error *err) {
    const GrCampaignPlan *p = k->plan;
    Line lines[MOST_LINES + 1] = {{.engine = NULL}};
    unsigned n = 1;
    if (p->engines.len * p->schedules.len > 1)
        for (size_t e = 0; e < p->engines.len; e++)
            for (size_t s = 0; s < p->schedules.len && n <= MOST_LINES; s++)
                lines[n++] = (Line){.engine = p->engines.data[e], .schedule = p->schedules.data[s]};
    bool ok = true;
    for (unsigned i = 0; ok && i < n; i++)
        ok = follow(k, &lines[i]);
    Scale s = {lines[0].runs, lines[0].races};
    StrBuf legend = {0};
    int height = HEIGHT + ROW * add_legend(lines, n, &legend);
    gr_str_addf(out, head, WIDTH, height, WIDTH, height, (unsigned long long)s.races,
                (unsigned long long)s.runs);
    add_axes(s, out);
    gr_str_add(out, legend.data ? legend.data : "");
    out->oom |= legend.oom;
    gr_str_free(&legend);
    for (unsigned i = n; i-- > 0;)
        add_line(s, &lines[i], i, out);
    gr_str_add(out, "</svg>\n");
    for (unsigned i = 0; i < n; i++)
        gr_vec_free(&lines[i].steps);
    return ok && !out->oom ? GR_OK : gr_no_memory(err);
}

// SPDX-License-Identifier: Apache-2.0
// Rules that name both sides of a race: pair:FILE:LINE[,LINE...][<FILE:LINE...] FILE:LINE...
#include "report/report_internal.h"
#include "report/suppress.h"

#include <stdlib.h>
#include <string.h>

// ---- Reading -------------------------------------------------------------------------------------------------------

// FILE:LINE[,LINE...], all of `text`, which is cut up.
static const char *read_frame(char *text, GrRuleFrame *out, Arena *arena) {
    char *colon = strrchr(text, ':');
    if (!colon || colon == text)
        return "a place is FILE:LINE";
    *colon = 0;
    size_t most = 1;
    for (const char *p = colon + 1; *p; p++)
        most += *p == ',';
    uint32_t *lines = GR_NEW_ARRAY(arena, uint32_t, most);
    if (!lines)
        return "out of memory";
    *out = (GrRuleFrame){.file = text, .lines = lines};
    for (char *p = colon + 1, *end;; p = end + 1) {
        unsigned long n = *p >= '0' && *p <= '9' ? strtoul(p, &end, 10) : 0;
        if (!n || n > UINT32_MAX || (*end && *end != ','))
            return "a line is a number from 1; commas separate several lines";
        lines[out->n_lines++] = (uint32_t)n;
        if (!*end)
            return NULL;
    }
}

static const char *read_place(char *text, GrRulePlace *out, Arena *arena) {
    size_t most = 1;
    for (const char *p = text; *p; p++)
        most += *p == '<';
    GrRuleFrame *frames = GR_NEW_ARRAY(arena, GrRuleFrame, most);
    if (!frames)
        return "out of memory";
    *out = (GrRulePlace){.frames = frames};
    for (char *rest = text, *frame; (frame = strsep(&rest, "<"));) {
        const char *wrong = read_frame(frame, &frames[out->n++], arena);
        if (wrong)
            return wrong;
    }
    return NULL;
}

const char *gr_pair_read(GrRule *rule, Arena *arena) {
    char *text = gr_arena_strdup(arena, rule->pattern);
    if (!text)
        return "out of memory";
    char *second = text + strcspn(text, " \t");
    if (!*second)
        return "a pair has two places, with a blank between them";
    *second++ = 0;
    second += strspn(second, " \t");
    if (second[strcspn(second, " \t")])
        return "a pair has two places and no more";
    const char *wrong = read_place(text, &rule->places[0], arena);
    return wrong ? wrong : read_place(second, &rule->places[1], arena);
}

// ---- Matching ------------------------------------------------------------------------------------------------------

static bool ends_with(const char *path, const char *name) {
    size_t n = path ? strlen(path) : 0, m = strlen(name);
    return n >= m && !strcmp(path + n - m, name) && (n == m || path[n - m - 1] == '/');
}

static bool frame_matches(const GrRuleFrame *want, const GrFrame *f) {
    for (uint32_t k = 0; k < want->n_lines; k++)
        if (want->lines[k] == f->line)
            return ends_with(f->file, want->file);
    return false;
}

static bool place_matches(const GrRulePlace *want, const GrAccess *a) {
    if (!frame_matches(&want->frames[0], &a->at))
        return false;
    uint32_t met = 1;
    for (uint32_t k = 0; k < a->n_inlined && met < want->n; k++)
        met += frame_matches(&want->frames[met], &a->inlined[k]);
    return met == want->n;
}

bool gr_pair_matches(const GrRule *rule, const GrRace *race) {
    const GrRace *pair = race->watched ? race->watched : race->found.n_accesses > 1 ? race : race->witness;
    for (unsigned k = 0; pair && k < 2; k++)
        if (place_matches(&rule->places[k], &pair->found.accesses[0]) &&
            place_matches(&rule->places[!k], &pair->found.accesses[1]))
            return true;
    return false;
}

// SPDX-License-Identifier: Apache-2.0
#include "campaign/plan.h"

#include "campaign/words.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void gr_plan_init(GrCampaignPlan *p) {
    *p = (GrCampaignPlan){0};
    gr_arena_init(&p->arena);
}

void gr_plan_free(GrCampaignPlan *p) {
    gr_vec_free(&p->seeds);
    gr_vec_free(&p->engines);
    gr_vec_free(&p->schedules);
    gr_vec_free(&p->inputs);
    gr_map_free(&p->by_text);
    gr_arena_free(&p->arena);
}

// ---- Lists of words ------------------------------------------------------------------------------------------------

static gr_status read_words(Arena *arena, const char *what, const char *text, GrCampaignWords *out,
                            gr_error *err) {
    for (const char *at = text;; at++) {
        size_t n = strcspn(at, ",");
        const char *word = gr_arena_strndup(arena, at, n);
        GR_NEED(word, err);
        if (!n)
            return gr_fail(err, GR_ERR_ARGUMENT, "%s takes words with commas between, not '%s'", what, text);
        for (size_t k = 0; k < out->len; k++)
            if (!strcmp(out->data[k], word))
                return gr_fail(err, GR_ERR_ARGUMENT, "%s: %s is there twice", what, word);
        GR_NEED(gr_vec_push(out, word), err);
        at += n;
        if (!*at)
            return GR_OK;
    }
}

gr_status gr_plan_engines(GrCampaignPlan *p, const char *text, gr_error *err) {
    return read_words(&p->arena, "--engines", text, &p->engines, err);
}

gr_status gr_plan_schedules(GrCampaignPlan *p, const char *text, gr_error *err) {
    return read_words(&p->arena, "--schedules", text, &p->schedules, err);
}

// ---- Seeds ---------------------------------------------------------------------------------------------------------

static int compare_ranges(const void *a, const void *b) {
    const GrSeedRange *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static bool read_number(const char **at, uint64_t *out) {
    char *end;
    errno = 0;
    *out = strtoull(*at, &end, 10);
    if (!isdigit((unsigned char)**at) || errno || *out > INT64_MAX)
        return false;
    *at = end;
    return true;
}

gr_status gr_plan_seeds(GrCampaignPlan *p, const char *text, gr_error *err) {
    for (const char *at = text;; at++) {
        GrSeedRange r;
        bool ok = read_number(&at, &r.first);
        r.last = r.first;
        if (ok && !strncmp(at, "..", 2)) {
            at += 2;
            ok = read_number(&at, &r.last);
        }
        if (!ok || (*at && *at != ','))
            return gr_fail(err, GR_ERR_ARGUMENT,
                           "--seeds takes numbers and ranges, such as 1..100 or 3,7,20..29, not '%s'", text);
        if (r.last < r.first)
            return gr_fail(err, GR_ERR_ARGUMENT,
                           "--seeds: %llu..%llu is empty: the smaller number comes first",
                           (unsigned long long)r.first, (unsigned long long)r.last);
        GR_NEED(gr_vec_push(&p->seeds, r), err);
        if (!*at)
            break;
    }
    qsort(p->seeds.data, p->seeds.len, sizeof *p->seeds.data, compare_ranges);
    for (size_t k = 1; k < p->seeds.len; k++)
        if (p->seeds.data[k].first <= p->seeds.data[k - 1].last)
            return gr_fail(err, GR_ERR_ARGUMENT, "--seeds: %llu is there twice",
                           (unsigned long long)p->seeds.data[k].first);
    return GR_OK;
}

// ---- Inputs --------------------------------------------------------------------------------------------------------

static bool add_input(GrCampaignPlan *p, GrCampaignInput in) {
    return gr_vec_push(&p->inputs, in) && gr_map_put(&p->by_text, in.text, (void *)(uintptr_t)p->inputs.len);
}

static gr_status read_line(GrCampaignPlan *p, const char *path, unsigned line, const char *at,
                           const char *last, gr_error *err) {
    GrCampaignInput in = {.text = gr_arena_strndup(&p->arena, at, (size_t)(last - at))};
    size_t place = 0;
    GR_NEED(in.text, err);
    if (gr_map_get(&p->by_text, in.text))
        return gr_fail_at(err, GR_ERR_SYNTAX, path, line, 1, "this line is there twice");
    const char *wrong = gr_words_split(at, (size_t)(last - at), &p->arena, &in.words, &in.n, &place);
    if (wrong && *wrong)
        return gr_fail_at(err, GR_ERR_SYNTAX, path, line, (unsigned)place + 1, "%s", wrong);
    GR_NEED(!wrong, err);
    return add_input(p, in) ? GR_OK : gr_no_memory(err);
}

gr_status gr_plan_inputs(GrCampaignPlan *p, const char *path, const char *text, size_t len, gr_error *err) {
    if (memchr(text, 0, len))
        return gr_fail_at(err, GR_ERR_SYNTAX, path, 0, 0, "not a file of text: there is a byte 0 in it");
    unsigned number = 1;
    for (const char *at = text, *end; at < text + len; at = end + 1, number++) {
        end = memchr(at, '\n', (size_t)(text + len - at));
        end = end ? end : text + len;
        const char *last = end;
        while (at < last && isspace((unsigned char)*at))
            at++;
        while (last > at && isspace((unsigned char)last[-1]))
            last--;
        if (at == last || *at == '#')
            continue;
        GR_MUST(read_line(p, path, number, at, last, err));
    }
    return p->inputs.len ? GR_OK
                         : gr_fail_at(err, GR_ERR_SYNTAX, path, 0, 0, "no line of arguments is in it");
}

// ---- Numbers -------------------------------------------------------------------------------------------------------

gr_status gr_plan_close(GrCampaignPlan *p, gr_error *err) {
    if (!p->inputs.len) {
        GrCampaignInput none = {.text = "", .words = GR_NEW(&p->arena, char *)};
        GR_NEED(none.words && add_input(p, none), err);
    }
    uint64_t each = p->engines.len * p->schedules.len * p->inputs.len;
    p->n_seeds = 0;
    for (size_t k = 0; k < p->seeds.len && p->n_seeds <= GR_CAMPAIGN_MOST_RUNS; k++)
        p->n_seeds += p->seeds.data[k].last - p->seeds.data[k].first + 1;
    if (each > GR_CAMPAIGN_MOST_RUNS || p->n_seeds > GR_CAMPAIGN_MOST_RUNS ||
        p->n_seeds * each > GR_CAMPAIGN_MOST_RUNS)
        return gr_fail(err, GR_ERR_LIMIT,
                       "a campaign has at most %u runs; these are more: take fewer seeds or inputs",
                       GR_CAMPAIGN_MOST_RUNS);
    p->n = p->n_seeds * each;
    return GR_OK;
}

GrCampaignRun gr_plan_run(const GrCampaignPlan *p, uint64_t number) {
    uint64_t left = number - 1;
    GrCampaignRun r = {.number = number};
    r.schedule = p->schedules.data[left % p->schedules.len];
    left /= p->schedules.len;
    r.engine = p->engines.data[left % p->engines.len];
    left /= p->engines.len;
    r.input = &p->inputs.data[left % p->inputs.len];
    left /= p->inputs.len;
    for (size_t k = 0; k < p->seeds.len; k++) {
        uint64_t n = p->seeds.data[k].last - p->seeds.data[k].first + 1;
        if (left < n) {
            r.seed = p->seeds.data[k].first + left;
            break;
        }
        left -= n;
    }
    return r;
}

static size_t index_of(const char *const *words, size_t n, const char *word) {
    size_t k = 0;
    while (k < n && strcmp(words[k], word) != 0)
        k++;
    return k;
}

uint64_t gr_plan_number(const GrCampaignPlan *p, uint64_t seed, const char *engine, const char *schedule,
                        const char *input) {
    size_t s = index_of(p->schedules.data, p->schedules.len, schedule),
           e = index_of(p->engines.data, p->engines.len, engine),
           i = (size_t)(uintptr_t)gr_map_get(&p->by_text, input);
    uint64_t nth = 0;
    size_t k = 0;
    for (; k < p->seeds.len && seed > p->seeds.data[k].last; k++)
        nth += p->seeds.data[k].last - p->seeds.data[k].first + 1;
    if (s == p->schedules.len || e == p->engines.len || !i || k == p->seeds.len ||
        seed < p->seeds.data[k].first)
        return 0;
    nth += seed - p->seeds.data[k].first;
    return ((nth * p->inputs.len + i - 1) * p->engines.len + e) * p->schedules.len + s + 1;
}

// SPDX-License-Identifier: Apache-2.0
// recorded — reads the JSON lines of recorded launches. The file may be written by hand, so nothing in it is trusted: a
// key that the format does not have is a mistake, too, as a misspelt one would change what is decided.
#include "engines/verifier/host/recorded.h"

#include "base/str.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum {
    VERSION = 1,
    MOST_LINE = 1 << 20, // bytes
    MOST_LAUNCHES = 1 << 16,
    MOST_PARAM_BYTES = 32764, // of all parameters (PTX ISA, .param space of kernels)
};

typedef struct Reader {
    GrTerms *t;
    GrHost *out;
    const char *path;
    unsigned line;
    gr_error *err;
} Reader;

static gr_status mistake(const Reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static gr_status mistake(const Reader *r, const char *fmt, ...) {
    GR_FORMATTED(text, 400, fmt);
    return gr_fail_at(r->err, GR_ERR_SYNTAX, r->path, r->line, 0, "%s", text);
}

// ---- Numbers and keys -----------------------------------------------------------------------------------------------

static gr_status only_keys(const Reader *r, const json_t *o, const char *const *known) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)o, key, value) {
        const char *const *k = known;
        while (*k && strcmp(*k, key))
            k++;
        if (!*k)
            return mistake(r, "a key that the format does not have: \"%.60s\"", key);
    }
    return GR_OK;
}

static gr_status take_number(const Reader *r, const json_t *o, const char *what, uint64_t low, uint64_t high,
                             uint64_t *out) {
    if (!json_is_integer(o))
        return mistake(r, "%s is no whole number", what);
    json_int_t n = json_integer_value(o);
    if (n < 0 || (uint64_t)n < low || (uint64_t)n > high)
        return mistake(r, "%s is %lld: it must be from %llu to %llu", what, (long long)n,
                       (unsigned long long)low, (unsigned long long)high);
    *out = (uint64_t)n;
    return GR_OK;
}

static gr_status take_key(const Reader *r, const json_t *o, const char *key, uint64_t low, uint64_t high,
                          uint64_t *out) {
    const json_t *value = json_object_get(o, key);
    return value ? take_number(r, value, key, low, high, out) : mistake(r, "\"%s\" is missing", key);
}

static gr_status take_three(const Reader *r, const json_t *o, const char *key, const uint64_t most[3],
                            const GrTerm *out[3]) {
    const json_t *list = json_object_get(o, key);
    if (!json_is_array(list) || json_array_size(list) != 3)
        return mistake(r, "\"%s\" must be a list of three numbers", key);
    for (size_t d = 0; d < 3; d++) {
        uint64_t n = 0;
        GR_MUST(take_number(r, json_array_get(list, d), key, 1, most[d], &n));
        GR_NEED((out[d] = gr_term_const(r->t, 32, n)), r->err);
    }
    return GR_OK;
}

// "0x0000002a": two digits for each byte.
static gr_status take_hex(const Reader *r, const json_t *o, uint64_t bytes, uint64_t *out) {
    const char *s = json_string_value(o);
    char *end;
    if (!s || s[0] != '0' || s[1] != 'x' || strlen(s) != 2 + 2 * bytes)
        return mistake(r, "\"value\" of %llu bytes must be 0x and %llu hexadecimal digits",
                       (unsigned long long)bytes, (unsigned long long)(2 * bytes));
    *out = strtoull(s + 2, &end, 16);
    return *end || strspn(s + 2, "0123456789abcdefABCDEF") != 2 * bytes
               ? mistake(r, "\"value\" has a character that is no hexadecimal digit: %s", s)
               : GR_OK;
}

// ---- Arguments ------------------------------------------------------------------------------------------------------

// The allocations of one launch, by their numbers there.
typedef VEC(struct Numbered {
    uint64_t number;
    GrAllocation *allocation;
}) Numbers;

static gr_status add_allocation(Reader *r, Numbers *numbers, const GrAllocation *like, uint64_t number,
                                const GrAllocation **out) {
    for (size_t k = 0; k < numbers->len; k++) {
        const GrAllocation *a = numbers->data[k].allocation;
        if (numbers->data[k].number != number)
            continue;
        *out = a;
        bool same = a->size == like->size && a->distinct == like->distinct && !a->variable == !like->variable;
        return same && (!a->variable || !strcmp(a->variable, like->variable))
                   ? GR_OK
                   : mistake(r, "allocation %llu is described in two ways", (unsigned long long)number);
    }
    GrAllocation *a = GR_NEW(&r->out->arena, GrAllocation);
    GR_NEED(a, r->err);
    *a = *like;
    a->id = (uint32_t)r->out->allocations.len;
    a->name = gr_arena_printf(&r->out->arena, "allocation %llu", (unsigned long long)number);
    a->variable = like->variable ? gr_arena_strdup(&r->out->arena, like->variable) : NULL;
    *out = a;
    return a->name && (a->variable || !like->variable) && gr_vec_push(&r->out->allocations, a) &&
                   gr_vec_push(numbers, ((struct Numbered){number, a}))
               ? GR_OK
               : gr_no_memory(r->err);
}

static gr_status take_pointer(Reader *r, const json_t *o, Numbers *numbers, GrArgument *a) {
    static const char *const keys[] = {"bytes", "allocation", "offset", "extent", "variable", "apart", NULL};
    const json_t *variable = json_object_get(o, "variable"), *apart = json_object_get(o, "apart");
    uint64_t number = 0, offset = 0, extent = 0;
    GR_MUST(only_keys(r, o, keys));
    if (a->bits != 64)
        return mistake(r, "a pointer has 8 bytes");
    if (variable && !json_is_string(variable))
        return mistake(r, "\"variable\" must be a name");
    if (apart && !json_is_boolean(apart))
        return mistake(r, "\"apart\" must be true or false");
    GR_MUST(take_key(r, o, "allocation", 0, UINT32_MAX, &number));
    GR_MUST(take_key(r, o, "extent", 0, INT64_MAX, &extent));
    GR_MUST(take_key(r, o, "offset", 0, extent, &offset));
    GrAllocation like = {.call = "memory of the run",
                         .variable = json_string_value(variable),
                         .file = r->path,
                         .line = r->line,
                         .size = gr_term_const(r->t, 64, extent),
                         .distinct = !apart || json_is_true(apart)};
    a->at = gr_term_const(r->t, 64, offset);
    GR_NEED(like.size && a->at, r->err);
    return add_allocation(r, numbers, &like, number, &a->allocation);
}

// What an 8-byte number would point to as a pointer: no memory, or memory that the run did not know, by address.
static gr_status point(Reader *r, Numbers *numbers, uint64_t value, GrArgument *a) {
    const GrAllocation null = {.call = "no memory", .file = r->path, .line = r->line, .distinct = true},
                       unknown = {
                           .call = "memory that the run did not know", .file = r->path, .line = r->line};
    a->at = gr_term_const(r->t, 64, value);
    GR_NEED(a->at, r->err);
    return value ? add_allocation(r, numbers, &unknown, (uint64_t)UINT32_MAX + 1, &a->allocation)
                 : add_allocation(r, numbers, &null, (uint64_t)UINT32_MAX + 2, &a->allocation);
}

// One number or pointer, at `offset` of a parameter.
static gr_status take_field(Reader *r, const json_t *o, GrHostLaunch *l, uint32_t offset, Numbers *numbers,
                            uint32_t *bytes) {
    static const char *const keys[] = {"bytes", "value", NULL};
    GrArgument a = {.param = (uint32_t)l->param_bytes.len, .offset = offset};
    uint64_t n = 0, value = 0;
    if (!json_is_object(o))
        return mistake(r, "an argument must be an object");
    GR_MUST(take_key(r, o, "bytes", 1, 8, &n));
    *bytes = (uint32_t)n;
    a.bits = 8 * *bytes;
    if (json_object_get(o, "allocation"))
        GR_MUST(take_pointer(r, o, numbers, &a));
    else {
        GR_MUST(only_keys(r, o, keys));
        GR_MUST(take_hex(r, json_object_get(o, "value"), n, &value));
        GR_NEED((a.value = gr_term_const(r->t, a.bits, value)), r->err);
        if (n == 8)
            GR_MUST(point(r, numbers, value, &a));
    }
    GR_NEED(gr_vec_push(&l->arguments, a), r->err);
    return GR_OK;
}

static gr_status take_fields(Reader *r, const json_t *o, GrHostLaunch *l, Numbers *numbers, uint32_t *size) {
    static const char *const keys[] = {"bytes", "fields", NULL};
    const json_t *fields = json_object_get(o, "fields");
    uint64_t all = 0;
    uint32_t at = 0, bytes;
    GR_MUST(only_keys(r, o, keys));
    GR_MUST(take_key(r, o, "bytes", 1, MOST_PARAM_BYTES, &all));
    if (!json_is_array(fields))
        return mistake(r, "\"fields\" must be a list");
    for (size_t k = 0; k < json_array_size(fields); k++, at += bytes) {
        GR_MUST(take_field(r, json_array_get(fields, k), l, at, numbers, &bytes));
        if (at + bytes > all)
            break;
    }
    *size = (uint32_t)all;
    if (at != all)
        return mistake(r, "the fields of an argument of %llu bytes have another size together",
                       (unsigned long long)all);
    return GR_OK;
}

static gr_status take_arguments(Reader *r, const json_t *o, GrHostLaunch *l) {
    const json_t *args = json_object_get(o, "args");
    Numbers numbers = {0};
    uint32_t all = 0, size = 0;
    gr_status st = GR_OK;
    if (json_is_null(args)) {
        if (!gr_vec_push(&l->gaps, "its arguments are not recorded"))
            st = gr_no_memory(r->err);
        goto done;
    }
    if (!json_is_array(args))
        return mistake(r, "\"args\" must be a list");
    l->arguments_known = true;
    for (size_t k = 0; k < json_array_size(args); k++, all += size) {
        const json_t *a = json_array_get(args, k);
        GR_TRY(json_object_get(a, "fields") ? take_fields(r, a, l, &numbers, &size)
                                            : take_field(r, a, l, 0, &numbers, &size));
        if (all + size > MOST_PARAM_BYTES)
            GR_TRY(mistake(r, "the arguments have more than %d bytes", MOST_PARAM_BYTES));
        GR_TRY(gr_vec_push(&l->param_bytes, size) ? GR_OK : gr_no_memory(r->err));
    }
done:
    gr_vec_free(&numbers);
    return st;
}

// ---- Lines ----------------------------------------------------------------------------------------------------------

static gr_status take_launch(Reader *r, const json_t *o) {
    static const char *const keys[] = {"kernel",         "grid", "block", "cluster", "cooperative",
                                       "dynamic_shared", "args", "count", NULL};
    static const uint64_t most_grid[3] = {INT32_MAX, 65535, 65535}, most_block[3] = {1024, 1024, 64},
                          most_cluster[3] = {1024, 1024, 1024};
    const char *kernel = json_string_value(json_object_get(o, "kernel"));
    const json_t *cooperative = json_object_get(o, "cooperative");
    const GrTerm *cluster[3];
    uint64_t shared = 0, count = 0;
    GR_MUST(only_keys(r, o, keys));
    if (!kernel || !*kernel)
        return mistake(r, "\"kernel\" must be the name of a kernel");
    if (cooperative && !json_is_boolean(cooperative))
        return mistake(r, "\"cooperative\" must be true or false");
    if (r->out->launches.len == MOST_LAUNCHES)
        return gr_fail_at(r->err, GR_ERR_LIMIT, r->path, r->line, 0, "there are more than %d launches",
                          MOST_LAUNCHES);
    GrHostLaunch *l = GR_NEW(&r->out->arena, GrHostLaunch);
    GR_NEED(l && gr_vec_push(&r->out->launches, l), r->err);
    *l = (GrHostLaunch){.kernel = gr_arena_strdup(&r->out->arena, kernel),
                        .file = r->path,
                        .line = r->line,
                        .recorded = true,
                        .cooperative = json_is_true(cooperative)};
    GR_MUST(take_three(r, o, "grid", most_grid, l->grid));
    GR_MUST(take_three(r, o, "block", most_block, l->block));
    if (json_object_get(o, "cluster"))
        GR_MUST(take_three(r, o, "cluster", most_cluster, cluster));
    GR_MUST(take_key(r, o, "dynamic_shared", 0, INT32_MAX, &shared));
    GR_MUST(take_key(r, o, "count", 1, INT64_MAX, &count));
    l->shared_bytes = gr_term_const(r->t, 32, shared);
    GR_NEED(l->kernel && l->shared_bytes, r->err);
    return take_arguments(r, o, l);
}

static gr_status take_left_out(Reader *r, const json_t *o) {
    static const char *const keys[] = {"left_out", NULL};
    uint64_t n = 0;
    GR_MUST(only_keys(r, o, keys));
    GR_MUST(take_key(r, o, "left_out", 1, INT64_MAX, &n));
    const char *text =
        gr_arena_printf(&r->out->arena, "%s lacks %llu launches of its run: they are not decided", r->path,
                        (unsigned long long)n);
    GR_NEED(text && gr_vec_push(&r->out->reasons, text), r->err);
    return GR_OK;
}

static gr_status take_head(Reader *r, const json_t *o) {
    static const char *const keys[] = {"format", "version", NULL};
    const char *format = json_string_value(json_object_get(o, "format"));
    uint64_t version = 0;
    if (!format || strcmp(format, "gpurace launches"))
        return mistake(r, "this is no file of `gpurace run --record-launches`: its first line must be "
                          "{\"format\": \"gpurace launches\", \"version\": 1}");
    GR_MUST(take_key(r, o, "version", 0, INT64_MAX, &version));
    if (version != VERSION)
        return gr_fail_at(r->err, GR_ERR_UNSUPPORTED, r->path, r->line, 0,
                          "version %llu of the format: this gpurace reads version %d",
                          (unsigned long long)version, VERSION);
    return only_keys(r, o, keys);
}

static gr_status take_line(Reader *r, const char *text, size_t len) {
    json_error_t why;
    json_t *o = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
    gr_status st = !o                               ? mistake(r, "this is no JSON: %s", why.text)
                   : !json_is_object(o)             ? mistake(r, "a line must be one JSON object")
                   : r->line == 1                   ? take_head(r, o)
                   : json_object_get(o, "left_out") ? take_left_out(r, o)
                                                    : take_launch(r, o);
    json_decref(o);
    return st;
}

gr_status gr_recorded_read(GrTerms *t, const char *path, GrHost *out, gr_error *err) {
    gr_host_init(out);
    gr_status st = GR_OK;
    Reader r = {t, out, gr_arena_strdup(&out->arena, path), 0, err};
    char *text = malloc(MOST_LINE + 2);
    FILE *f = fopen(path, "re");
    if (!text || !r.path)
        st = gr_no_memory(r.err);
    else if (!f)
        st = gr_fail(err, GR_ERR_IO, "%s: %s", path, strerror(errno));
    while (st == GR_OK && fgets(text, MOST_LINE + 2, f)) {
        r.line++;
        size_t len = strlen(text);
        if (len && text[len - 1] == '\n')
            st = take_line(&r, text, len - 1);
        else if (len > MOST_LINE)
            st = gr_fail_at(err, GR_ERR_LIMIT, r.path, r.line, 0, "the line has more than %d bytes",
                            MOST_LINE);
        else
            st = mistake(&r, "the line does not end: the file was cut, or is no text");
    }
    if (st == GR_OK && ferror(f))
        st = gr_fail(err, GR_ERR_IO, "%s: %s", path, strerror(errno));
    if (st == GR_OK && !r.line) {
        r.line = 1;
        st = mistake(&r, "the file is empty: its first line must be {\"format\": \"gpurace launches\", "
                         "\"version\": 1}");
    }
    if (f)
        fclose(f);
    free(text);
    return st;
}

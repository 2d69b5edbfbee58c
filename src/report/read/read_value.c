// SPDX-License-Identifier: Apache-2.0
// Single values of a report that was written as JSON.
#include "base/path_map.h"
#include "report/read/read_internal.h"

void gr_read_wrong(GrReader *x, const char *fmt, ...) {
    if (x->st != GR_OK)
        return; // the first mistake is told
    GR_FORMATTED(what, 300, fmt);
    x->st = gr_fail_at(x->err, GR_ERR_FORMAT, x->path, 0, 0, "%s%s: this is no report of gpurace's", x->where,
                       what);
}

void gr_read_nomem(GrReader *x) {
    if (x->st == GR_OK)
        x->st = gr_no_memory(x->err);
}

const char *gr_read_text(GrReader *x, const json_t *o, const char *key) {
    const json_t *v = json_object_get(o, key);
    if (!v || json_is_null(v))
        return NULL;
    if (!json_is_string(v)) {
        gr_read_wrong(x, "'%s' is no text", key);
        return NULL;
    }
    const char *text = gr_intern(&x->texts, json_string_value(v), json_string_length(v));
    if (!text)
        gr_read_nomem(x);
    return text;
}

const char *gr_read_needed(GrReader *x, const json_t *o, const char *key) {
    const char *text = gr_read_text(x, o, key);
    if (!text)
        gr_read_wrong(x, "'%s' is missing", key);
    return text ? text : "";
}

uint64_t gr_read_number(GrReader *x, const json_t *o, const char *key, uint64_t highest) {
    const json_t *v = json_object_get(o, key);
    if (!v || json_is_null(v))
        return 0;
    if (!json_is_integer(v) || json_integer_value(v) < 0 || (uint64_t)json_integer_value(v) > highest) {
        gr_read_wrong(x, "'%s' is no number from 0 to %llu", key, (unsigned long long)highest);
        return 0;
    }
    return (uint64_t)json_integer_value(v);
}

bool gr_read_flag(const json_t *o, const char *key) { return json_is_true(json_object_get(o, key)); }

const json_t *gr_read_object(GrReader *x, const json_t *o, const char *key) {
    const json_t *v = json_object_get(o, key);
    if (v && !json_is_null(v) && !json_is_object(v))
        gr_read_wrong(x, "'%s' is no object", key);
    return json_is_object(v) ? v : NULL;
}

const json_t *gr_read_list(GrReader *x, const json_t *o, const char *key) {
    const json_t *v = json_object_get(o, key);
    if (v && !json_is_null(v) && !json_is_array(v))
        gr_read_wrong(x, "'%s' is no list", key);
    return json_is_array(v) ? v : NULL;
}

bool gr_read_triple(GrReader *x, const json_t *o, const char *key, uint32_t out[3]) {
    const json_t *v = gr_read_list(x, o, key);
    for (size_t k = 0; v && k < 3; k++) {
        json_int_t n = json_integer_value(json_array_get(v, k));
        if (json_array_size(v) != 3 || !json_is_integer(json_array_get(v, k)) || n < 0 || n > UINT32_MAX) {
            gr_read_wrong(x, "'%s' are not three numbers", key);
            return false;
        }
        out[k] = (uint32_t)n;
    }
    return v != NULL;
}

GrFrame gr_read_frame(GrReader *x, const json_t *o) {
    return (GrFrame){.function = gr_read_text(x, o, "function"),
                     .file = gr_path_mapped(x->report->paths, gr_read_text(x, o, "file"), &x->report->arena),
                     .line = (uint32_t)gr_read_number(x, o, "line", UINT32_MAX),
                     .col = (uint32_t)gr_read_number(x, o, "column", UINT32_MAX)};
}

// SPDX-License-Identifier: Apache-2.0
// recording — from a launch to its line, and the lines that were seen.
#include "inject/recording.h"

#include "inject/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_LINES = 4096,          // different launches of one process
    MOST_TEXT = 16 << 20,       // bytes of all their lines
    MOST_LINE = (1 << 20) - 64, // `gpurace check --launches` takes a MiB, with the count
    MOST_POINTERS = 4096,       // of one launch
};

bool gr_recording_is_on(void) { return gr_session.options.record_launches[0]; }

// ---- One launch -----------------------------------------------------------------------------------------------------

// The allocations of one launch, numbered as they come, so that equal launches have equal lines.
typedef struct Numbers {
    CUdeviceptr at[MOST_POINTERS];
    uint32_t n;
} Numbers;

static uint32_t number_of(Numbers *numbers, CUdeviceptr at) {
    uint32_t k = 0;
    while (k < numbers->n && numbers->at[k] != at)
        k++;
    if (k == numbers->n && k < MOST_POINTERS)
        numbers->at[numbers->n++] = at;
    return k;
}

// Memory that may also be reached at another address.
static bool may_be_elsewhere(const GrRange *r) {
    return r->kind == GR_RANGE_MAPPING || r->kind == GR_RANGE_IMPORTED;
}

static void add_field(const uint8_t *bytes, size_t n, Numbers *numbers, StrBuf *out) {
    uint64_t value = 0;
    memcpy(&value, bytes, n); // little endian, as the device has it
    const GrRange *r = n == 8 && value ? gr_range_at(value) : NULL;
    if (!r) {
        gr_str_addf(out, "{\"bytes\":%zu,\"value\":\"0x%0*llx\"}", n, (int)(2 * n),
                    (unsigned long long)value);
        return;
    }
    gr_str_addf(out, "{\"bytes\":8,\"allocation\":%u,\"offset\":%llu,\"extent\":%zu",
                number_of(numbers, r->at), (unsigned long long)(value - r->at), r->size);
    if (r->kind == GR_RANGE_GLOBAL && r->name)
        gr_str_addf(out, ",\"variable\":\"%s\"", r->name);
    gr_str_add(out, may_be_elsewhere(r) ? ",\"apart\":false}" : "}");
}

static void add_argument(const uint8_t *bytes, size_t size, Numbers *numbers, StrBuf *out) {
    if (size <= 8) {
        add_field(bytes, size, numbers, out);
        return;
    }
    gr_str_addf(out, "{\"bytes\":%zu,\"fields\":[", size);
    for (size_t at = 0; at < size; at += 8) {
        gr_str_add(out, at ? "," : "");
        add_field(bytes + at, size - at < 8 ? size - at : 8, numbers, out);
    }
    gr_str_add(out, "]}");
}

static void add_three(const char *key, const uint32_t v[3], StrBuf *out) {
    gr_str_addf(out, ",\"%s\":[%u,%u,%u]", key, v[0], v[1], v[2]);
}

static void add_arguments(const GrLaunch *l, StrBuf *out) {
    Numbers *numbers = calloc(1, sizeof *numbers);
    out->oom |= !numbers;
    gr_str_add(out, ",\"args\":[");
    for (uint32_t k = 0; numbers && k < l->n_params; k++) {
        gr_str_add(out, k ? "," : "");
        add_argument((const uint8_t *)l->params + l->layout[k].offset, l->layout[k].size, numbers, out);
    }
    gr_str_add(out, "]");
    free(numbers);
}

char *gr_recording_line(const GrLaunch *l) {
    StrBuf out = {0};
    if (!l->kernel || strpbrk(l->kernel, "\"\\"))
        return NULL;
    gr_str_addf(&out, "{\"kernel\":\"%s\"", l->kernel);
    add_three("grid", l->grid, &out);
    add_three("block", l->block, &out);
    if (l->cluster[0])
        add_three("cluster", l->cluster, &out);
    gr_str_addf(&out, "%s,\"dynamic_shared\":%u", l->cooperative ? ",\"cooperative\":true" : "",
                l->shared_bytes);
    if (l->params_known)
        add_arguments(l, &out);
    else
        gr_str_add(&out, ",\"args\":null");
    if (out.oom || out.len > MOST_LINE) {
        gr_str_free(&out);
        return NULL;
    }
    return gr_str_take(&out);
}

// ---- All of them ----------------------------------------------------------------------------------------------------

static struct {
    uint64_t *counts, offset; // in the results file; the first counts what is left out
    Map lines;                // line -> its counter
    size_t bytes;
    bool failed;
} seen;

static void write_record(const char *line, size_t k) {
    StrBuf b = {0};
    gr_put_str(&b, line);
    gr_put_u64(&b, seen.offset + k * sizeof *seen.counts);
    gr_results_append(&gr_session.results, GR_RECORD_LAUNCH, &b);
    gr_str_free(&b);
}

static bool begin(void) {
    if (seen.counts || seen.failed)
        return seen.counts;
    seen.counts = gr_results_area(&gr_session.results, (MOST_LINES + 1) * sizeof *seen.counts, &seen.offset);
    seen.failed = !seen.counts; // that is counted as dropped, and the verdict says it
    if (seen.counts)
        write_record("", 0);
    return seen.counts;
}

static void add(uint64_t *count, uint64_t n) { // a forked process has the same counters
    __atomic_add_fetch(count, n, __ATOMIC_RELAXED);
}

void gr_recording_left_out(uint64_t n) {
    if (begin())
        add(&seen.counts[0], n);
}

void gr_recording_count(const char *line) {
    if (!begin())
        return;
    uint64_t *count = line ? gr_map_get(&seen.lines, line) : NULL;
    if (!count && line && seen.lines.len < MOST_LINES && seen.bytes + strlen(line) < MOST_TEXT) {
        char *kept = strdup(line);
        size_t k = seen.lines.len + 1;
        if (kept && gr_map_put(&seen.lines, kept, &seen.counts[k])) {
            count = &seen.counts[k];
            seen.bytes += strlen(kept);
            write_record(kept, k);
        } else
            free(kept);
    }
    add(count ? count : &seen.counts[0], 1);
}

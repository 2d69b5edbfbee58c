// SPDX-License-Identifier: Apache-2.0
// image — from what a program hands to the driver to parsed PTX.
//
// An image is PTX text, a fatbin (its PTX for the latest architecture that fits), or a wrapper of fatbins. The fatbins
// of a version 2 wrapper (nvcc -rdc=true) are the translation units of one module. Machine code cannot run here, but it
// may keep the PTX that it was made of (gpurace-ptxas). Without any PTX there is no binary for this GPU.
#include "driver/cuda/driver.h"
#include "driver/cuda/module.h"

#include "base/arena.h"
#include "base/str.h"
#include "device_api/hooks.h"
#include "fatbin/cubin.h"
#include "fatbin/fatbin.h"

#include <stdio.h>

static uint32_t device_cc(void) { return (uint32_t)gr_cu.config.arch; }

// ---- Logs of the JIT compiler ------------------------------------------------------------------------------

void gr_jit_log_init(JitLog *log, unsigned n, const CUjit_option *options, void **values) {
    *log = (JitLog){0};
    for (unsigned i = 0; options && values && i < n; i++) {
        switch (options[i]) {
        case CU_JIT_ERROR_LOG_BUFFER: log->error = values[i]; break;
        case CU_JIT_INFO_LOG_BUFFER: log->info = values[i]; break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            log->error_size = (uintptr_t)values[i];
            log->error_size_out = &values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            log->info_size = (uintptr_t)values[i];
            log->info_size_out = &values[i];
            break;
        default: break; // how to optimize, what for, with how many threads: nothing to do
        }
    }
    if (log->info && log->info_size)
        log->info[0] = 0;
    if (log->error && log->error_size)
        log->error[0] = 0;
    if (log->info_size_out)
        *log->info_size_out = NULL;
    if (log->error_size_out)
        *log->error_size_out = NULL;
}

void gr_jit_log_error(JitLog *log, const gr_error *err) {
    char text[1024];
    if (!log || !log->error || log->error_size == 0)
        return;
    gr_error_text(err, text, sizeof text);
    snprintf(log->error, log->error_size, "error: %s", text);
    if (log->error_size_out)
        *log->error_size_out = (void *)(uintptr_t)(strlen(log->error) + 1);
}

// ---- Texts -------------------------------------------------------------------------------------------------

void gr_ptx_texts_free(PtxTexts *t) {
    for (size_t i = 0; i < t->len; i++)
        free(t->data[i]);
    gr_vec_free(t);
}

static gr_status add_text(PtxTexts *out, char *text) {
    if (gr_vec_push(out, text))
        return GR_OK;
    free(text);
    return GR_ERR_NOMEM;
}

static gr_status add_entry(const FatbinEntry *e, PtxTexts *out, gr_error *err) {
    char *text;
    size_t len;
    gr_status st = gr_fatbin_ptx(e, &text, &len, err);
    return st == GR_OK ? add_text(out, text) : st;
}

// Adds a unit for each container of PTX that machine code keeps; nothing where there is none, or no PTX fits.
static gr_status add_kept(const void *code, size_t len, Arena *arena, PtxTexts *out, gr_error *err) {
    size_t left;
    const void *at = gr_cubin_kept(code, gr_cubin_size(code, len), &left);
    gr_status st = GR_OK;
    for (Fatbin *fb; at && st == GR_OK && (fb = gr_cubin_next_kept(&at, &left, arena));) {
        const FatbinEntry *e = gr_fatbin_best_ptx(fb, device_cc(), FATBIN_PREFER_SPECIFIC);
        st = e ? add_entry(e, out, err) : GR_OK;
    }
    return st;
}

static gr_status add_kept_of(const Fatbin *fb, Arena *arena, PtxTexts *out, gr_error *err) {
    gr_status st = GR_OK;
    size_t before = out->len;
    for (size_t i = 0; i < fb->count && st == GR_OK && out->len == before; i++) {
        const FatbinEntry *e = &fb->entries[i];
        char *code;
        size_t len;
        if (e->kind != FATBIN_CUBIN || e->sm > device_cc() || e->sm / 10 != device_cc() / 10 ||
            gr_fatbin_unpack(e, &code, &len, NULL) != GR_OK)
            continue;
        st = add_kept(code, len, arena, out, err);
        free(code);
    }
    return st;
}

// Adds nothing where the container has no PTX that fits.
static gr_status add_container(const void *data, size_t size, Arena *arena, PtxTexts *out, gr_error *err) {
    Fatbin *fb;
    GR_MUST(gr_fatbin_parse(data, size, arena, &fb, err));
    bool linked = false;
    for (size_t i = 0; i < fb->count; i++) {
        const FatbinEntry *e = &fb->entries[i];
        if (e->kind == FATBIN_PTX && e->options && strcmp(e->options, GR_LINKED_OPTION) == 0) {
            linked = true;
            GR_MUST(add_entry(e, out, err));
        }
    }
    const FatbinEntry *best = linked ? NULL : gr_fatbin_best_ptx(fb, device_cc(), FATBIN_PREFER_PLAIN);
    if (best)
        return add_entry(best, out, err);
    return linked ? GR_OK : add_kept_of(fb, arena, out, err);
}

static gr_status add_wrapper(const FatbinWrapper *w, Arena *arena, PtxTexts *out, gr_error *err) {
    const void **containers;
    size_t n;
    gr_status st = gr_fatbin_wrapper(w, arena, &containers, &n, err);
    // The device linker made the last container from the others.
    size_t before = out->len;
    for (size_t i = 0; i < n && st == GR_OK; i++)
        if (n == 1 || i < n - 1 || out->len == before)
            st = add_container(containers[i], GR_FATBIN_UNBOUNDED, arena, out, err);
    return st;
}

static CUresult failed(JitLog *log, gr_status st, const gr_error *err) {
    gr_jit_log_error(log, err);
    return gr_cu_status(st);
}

CUresult gr_image_texts(const void *data, size_t size, JitLog *log, PtxTexts *out) {
    Arena arena;
    gr_error err = {0};
    gr_status st = GR_OK;
    size_t before = out->len;
    gr_arena_init(&arena);
    switch (gr_image_kind(data, size)) {
    case IMAGE_PTX: {
        size_t len = size == GR_FATBIN_UNBOUNDED ? strlen(data) : strnlen(data, size);
        char *text = strndup(data, len);
        st = text ? add_text(out, text) : GR_ERR_NOMEM;
        break;
    }
    case IMAGE_WRAPPER: st = add_wrapper(data, &arena, out, &err); break;
    case IMAGE_FATBIN: st = add_container(data, size, &arena, out, &err); break;
    case IMAGE_CUBIN: st = add_kept(data, size, &arena, out, &err); break;
    case IMAGE_ELF:
    case IMAGE_UNKNOWN: st = gr_fail(&err, GR_ERR_FORMAT, "neither PTX nor a fatbin"); break;
    }
    gr_arena_free(&arena);
    if (st != GR_OK)
        return failed(log, st, &err);
    if (out->len == before) {
        gr_fail(&err, GR_ERR_NOT_FOUND,
                "no PTX for a device of compute capability 9.0: compile with -gencode "
                "arch=compute_90,code=compute_90");
        gr_jit_log_error(log, &err);
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    return CUDA_SUCCESS;
}

// ---- Images ------------------------------------------------------------------------------------------------

void gr_image_unref(Image *image) {
    if (!image || --image->refs)
        return;
    for (size_t i = 0; i < image->count; i++)
        gr_ptx_free(image->modules[i]);
    free(image->modules);
    free(image->runtimes);
    free(image);
}

// `alone`: it is the only one of its image, and nothing is linked with it.
static gr_status parse_ptx(const char *text, bool alone, PtxModule **out, GrApiRuntimes *runtimes,
                           gr_error *err) {
    size_t len = strlen(text);
    bool ours = gr_runtimes_of(text, len, runtimes);
    if (alone)
        return gr_ptx_parse_shelved(text, len, "ptx", ours, out, err);
    return ours ? gr_ptx_parse_ours(text, len, "ptx", out, err) : gr_ptx_parse(text, len, "ptx", out, err);
}

static gr_status add_text_of(Image *image, const char *text, bool alone, gr_error *err) {
    PtxModule *m;
    GrApiRuntimes *r = &image->runtimes[image->count];
    GR_MUST(parse_ptx(text, alone, &m, r, err));
    image->modules[image->count++] = m;
    if (gr_fatbin_ptx_fits(m->sm, m->sm_suffix, device_cc()))
        return GR_OK;
    return gr_fail(err, GR_ERR_SYNTAX, "PTX for sm_%u%.1s does not run on compute capability %u.%u", m->sm,
                   (const char[]){m->sm_suffix, 0}, device_cc() / 10, device_cc() % 10);
}

// Gives the modules what they call and do not hold.
static gr_status add_runtimes(Image *image, gr_error *err) {
    gr_status st = GR_OK;
    const GrApiRuntimes *r = image->runtimes;
    if (image->count == 1 && r->n) {
        image->suffix = r->suffix;
        return gr_runtimes_shared(r, &image->runtime, err);
    }
    for (size_t i = 0; i < image->count && st == GR_OK; i++)
        st = gr_runtimes_enter(image->modules[i], &r[i], err);
    return st;
}

CUresult gr_image_parse(const PtxTexts *texts, JitLog *log, Image **out) {
    gr_error err = {0};
    gr_status st = GR_OK;
    Image *image = calloc(1, sizeof *image);
    if (!image)
        return CUDA_ERROR_OUT_OF_MEMORY;
    image->refs = 1;
    image->modules = calloc(texts->len, sizeof(PtxModule *));
    image->runtimes = calloc(texts->len, sizeof *image->runtimes);
    if (!image->modules || !image->runtimes) {
        gr_image_unref(image);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (size_t i = 0; i < texts->len && st == GR_OK; i++)
        st = add_text_of(image, texts->data[i], texts->len == 1, &err);
    if (st == GR_OK)
        st = add_runtimes(image, &err);
    if (st == GR_OK)
        *out = image;
    else
        gr_image_unref(image);
    return st == GR_OK ? CUDA_SUCCESS : failed(log, st, &err);
}

CUresult gr_image_load(const void *data, size_t size, JitLog *log, Image **out) {
    PtxTexts texts = {0};
    CUresult r = data ? gr_image_texts(data, size, log, &texts) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = gr_image_parse(&texts, log, out);
    gr_ptx_texts_free(&texts);
    return r;
}

CUresult gr_image_load_file(const char *path, JitLog *log, Image **out) {
    char *data = NULL;
    size_t len;
    gr_error err = {0};
    if (!path)
        return CUDA_ERROR_INVALID_VALUE;
    gr_status st = gr_file_read(path, &data, &len, &err);
    if (st != GR_OK)
        return failed(log, st, &err);
    CUresult r = gr_image_load(data, len, log, out);
    free(data);
    return r;
}

// SPDX-License-Identifier: Apache-2.0
// The program hands code to the driver: finds PTX in it, rewrites it, and hands that on instead.
#include "inject/declared.h"
#include "inject/describe.h"
#include "inject/guard.h"
#include "inject/inside_run.h"
#include "inject/machine.h"
#include "inject/memory.h"
#include "inject/pieces.h"
#include "inject/sources.h"
#include "inject/strays.h"
#include "inject/twins.h"
#include "inject/uses.h"
#include "inject/wrote.h"

#include "fatbin/fatbin.h"
#include "passes/runtime.h"
#include "passes/shuffle.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// ---- one module ------------------------------------------------------------------------------------------

static LoadedModule *new_module(const char *name) {
    Session *s = &gr_session;
    LoadedModule *m = calloc(1, sizeof *m);
    if (!m || !gr_vec_push(&s->modules, m)) {
        free(m);
        return NULL;
    }
    gr_arena_init(&m->arena);
    m->pub.number = ++s->n_modules;
    const char *n = name && *name
                        ? gr_arena_strdup(&m->arena, name)
                        : gr_arena_printf(&m->arena, "module %llu", (unsigned long long)m->pub.number);
    m->pub.name = m->info.name = n ? n : "";
    m->info.number = m->pub.number;
    return m;
}

static void set_unchecked(LoadedModule *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void set_unchecked(LoadedModule *m, const char *fmt, ...) {
    va_list words;
    va_start(words, fmt);
    const char *copy = gr_arena_vprintf(&m->arena, fmt, words);
    va_end(words);
    m->unchecked = copy ? copy : "out of memory";
    m->pub.rewritten = false;
    gr_session_verbose("module %s is not checked: %s", m->pub.name, m->unchecked);
}

static bool on_gpu(void) { return !strcmp(gr_session.options.device, "gpu"); }

static const char *copy_text(LoadedModule *m, const char *s) {
    return s ? gr_arena_strdup(&m->arena, s) : NULL;
}

// Lets the engine rewrite. On success m->text is what the driver gets.
static gr_status rewrite(LoadedModule *m, const char *text, size_t len, PtxModule **parsed, gr_error *err) {
    Session *s = &gr_session;
    gr_status st;
    StrBuf out = {0};
    m->info.hash = m->pub.hash = gr_hash_bytes(text, len);
    m->original_len = len;
    bool changes = s->engine->caps & CAP_REWRITES || on_gpu() ||
                   gr_twins_wanted(); // else bodies are looked at one by one
    GR_TRY(changes ? gr_ptx_parse(text, len, m->pub.name, parsed, err)
                   : gr_ptx_parse_shelved(text, len, m->pub.name, false, parsed, err));
    if (s->engine->caps & CAP_CHECKS)
        GR_TRY(gr_runtime_may_enter(*parsed, text, len, s->engine->caps & CAP_REWRITES, err));
    GR_TRY(gr_module_describe(m, *parsed, err));
    GR_TRY(gr_declared_take(m, *parsed, err));
    gr_uses_take(m, *parsed);
    gr_strays_listen();
    m->pub.original = *parsed;
    m->has_lines = (*parsed)->n_files > 0;
    const char *why = NULL;
    Pieces *pieces = gr_twins_wanted() ? gr_pieces_find(*parsed, &m->arena, &why) : NULL;
    (*parsed)->apart.wanted = !on_gpu(); // the CPU device has each runtime once for all modules
    if (s->engine->rewrite)
        GR_TRY(s->engine->rewrite(s->engine_self, *parsed, &m->pub, err));
    if (s->options.shuffle_blocks &&
        gr_run_variable(GR_DEVICE_CC_ENV)) // a GPU: the CPU device does it itself
        GR_TRY(gr_shuffle_blocks(*parsed, s->options.seed, err));
    if (!(s->engine->caps & CAP_REWRITES)) // its lines are named as they are
        gr_str_addn(&out, text, len);
    else
        GR_TRY(gr_ptx_print_later(*parsed, 0, &out, NULL, NULL, err));
    if (pieces && m->pub.divides && gr_pieces_printed(pieces, *parsed, out.len, &m->arena))
        m->pieces = pieces;
    else if (gr_twins_wanted())
        gr_session_verbose("module %s is compiled as a whole: %s", m->pub.name,
                           why ? why : "the engine does not divide it");
    if (m->pub.record_bytes) {
        if (!gr_records_take(m))
            GR_TRY(gr_fail(err, GR_ERR_IO, "there is no room for its results"));
    }
    m->text_len = out.len;
    m->text = gr_str_take(&out);
    if (s->engine->caps & CAP_REWRITES)
        m->apart = gr_wrote_apart(&(*parsed)->apart);
    if (!m->text ||
        (s->engine->caps & CAP_REWRITES && (!m->apart || !gr_wrote(m->text, m->text_len, m->apart))))
        st = gr_no_memory(err);
done:
    m->pub.original = NULL;
    gr_str_free(&out);
    return st;
}

typedef struct Rewriting {
    LoadedModule *m;
    const char *text;
    size_t len;
    PtxModule **parsed;
} Rewriting;

static gr_status rewrite_it(void *user, gr_error *err) {
    const Rewriting *r = user;
    return rewrite(r->m, r->text, r->len, r->parsed, err);
}

// Tells the driver's compiler what the program wants, and to use several threads, which changes only its time. Drivers
// from CUDA 13.0 on are known to take that. Linked units are compiled as before.
static void set_options(LoadedModule *m, FatbinPtx *built, const char *programs) {
    enum { KNOWS = 13000, LARGE = 1 << 18 };
    const char *version = gr_run_variable(GR_DRIVER_VERSION_ENV);
    bool relocatable = programs && strstr(programs, "compile-only");
    built->options = copy_text(m, programs);
    if (on_gpu() && version && atoi(version) >= KNOWS && m->text_len >= LARGE && !relocatable) {
        const char *both =
            gr_arena_printf(&m->arena, "%s%s--split-compile 0 ", programs ? programs : "",
                            programs && *programs && programs[strlen(programs) - 1] != ' ' ? " " : "");
        built->options = both ? both : built->options;
        m->split = both != NULL;
    }
    m->built = *built;
}

static void add_ptx(LoadedModule *m, const char *text, size_t len, FatbinPtx *built) {
    PtxModule *ptx = NULL;
    gr_error err = {0};
    char where[800];
    gr_status st = gr_guarded(rewrite_it, &(Rewriting){m, text, len, &ptx}, &err);
    if (st != GR_OK) {
        set_unchecked(m, "%s", gr_error_text(&err, where, sizeof where));
        if (st != GR_ERR_INTERNAL)
            free(m->text);
        m->text = NULL;
    } else {
        m->pub.rewritten = true;
        for (uint32_t i = 1; i <= m->info.n_sites; i++)
            m->info.sites[i].status = (uint8_t)m->pub.checked_sites[i];
        if (!(gr_session.engine->caps & CAP_CHECKS)) // loaded through the whole road, but not looked at
            m->unchecked = "the engine checks nothing";
        *built = (FatbinPtx){.text = m->text,
                             .len = m->text_len,
                             .sm = ptx->sm,
                             .suffix = ptx->sm_suffix,
                             .major = (uint16_t)ptx->version_major,
                             .minor = (uint16_t)ptx->version_minor,
                             .flags = FATBIN_F_64BIT | FATBIN_F_LINUX | (ptx->debug ? FATBIN_F_DEBUG : 0)};
        set_options(m, built, NULL);
        gr_session_verbose("module %s: %u memory accesses, %zu bytes of PTX rewritten to %zu", m->pub.name,
                           m->info.n_sites, len, m->text_len);
    }
    if (st != GR_ERR_INTERNAL) // after a crash its state is not known
        gr_ptx_free(ptx);
}

// ---- modules that come again ----------------------------------------------------------------------------------

// A program that loads and unloads the same code again and again has one module: what is counted for it goes on.
static LoadedModule *take_again(const char *text, size_t len, const char *name) {
    Session *s = &gr_session;
    uint64_t hash = gr_hash_bytes(text, len);
    for (unsigned k = 0; k < KEPT_UNLOADED; k++) {
        LoadedModule *m = s->unloaded[k];
        if (!m || m->pub.hash != hash || m->original_len != len ||
            (name && *name && strcmp(m->pub.name, name)))
            continue;
        s->unloaded[k] = NULL;
        return m;
    }
    return NULL;
}

// Frees the module, whose results are in the results file.
static void free_module(LoadedModule *m) {
    Session *s = &gr_session;
    size_t n = 0;
    for (size_t i = 0; i < s->modules.len; i++)
        if (s->modules.data[i] != m)
            s->modules.data[n++] = s->modules.data[i];
    s->modules.len = n;
    gr_modules_forget_handles(m);
    if (s->engine->dropped && m->pub.rewritten)
        s->engine->dropped(s->engine_self, &m->pub);
    gr_kernels_free(m);
    gr_vec_free(&m->handles);
    gr_vec_free(&m->ready);
    gr_vec_free(&m->complete);
    gr_arena_free(&m->arena);
    free(m->text);
    free(m->linked);
    free(m->boxed);
    free(m);
}

// An unloaded module may come again. Drops the one that has been away for longest.
static void keep_unloaded(LoadedModule *m) {
    Session *s = &gr_session;
    if (m->next || m->wrapped || m->aliased || !m->recorded || !m->pub.rewritten)
        return;
    LoadedModule **place = &s->unloaded[s->next_unloaded++ % KEPT_UNLOADED];
    if (*place)
        free_module(*place);
    *place = m;
}

// ---- containers ------------------------------------------------------------------------------------------

// The compute capability that PTX has to fit: the current device's, or the first one's.
static uint32_t device_cc(void) {
    CUresult (*current)(CUdevice *) = (CUresult(*)(CUdevice *))gr_driver_function("cuCtxGetDevice");
    CUresult (*attribute)(int *, CUdevice_attribute, CUdevice) =
        (CUresult(*)(int *, CUdevice_attribute, CUdevice))gr_driver_function("cuDeviceGetAttribute");
    CUdevice device = 0;
    int major = 0, minor = 0;
    if (!current || current(&device) != CUDA_SUCCESS)
        device = 0;
    if (!attribute ||
        attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) != CUDA_SUCCESS ||
        attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device) != CUDA_SUCCESS)
        return gr_run_variable(GR_DEVICE_CC_ENV)
                   ? (uint32_t)atoi(gr_run_variable(GR_DEVICE_CC_ENV)) // before cuInit
                   : (uint32_t)gr_session.options.cpu_arch;
    return (uint32_t)(major * 10 + minor);
}

static const char *base_name(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

// The targets of the cubins in a container, to say what it holds instead of PTX.
static void list_targets(const Fatbin *fb, char *buf, size_t size) {
    size_t n = 0;
    buf[0] = 0;
    for (size_t i = 0; i < fb->count && n + 32 < size; i++) {
        char target[GR_FATBIN_TARGET_LEN];
        n += (size_t)snprintf(buf + n, size - n, "%s%s for %s", n ? ", " : "",
                              fb->entries[i].kind == FATBIN_PTX ? "PTX" : "machine code",
                              gr_fatbin_target(&fb->entries[i], target));
    }
}

// How the CPU device takes PTX for that architecture; empty on a GPU, or if it is 0.
static const char *how_to_take(uint32_t arch, char buf[64]) {
    *buf = 0;
    if (arch && !on_gpu())
        snprintf(buf, 64, "; --cpu-arch %u makes the device take it", arch);
    return buf;
}

// The first architecture that the container has PTX for; 0: none.
static uint32_t first_arch(const Fatbin *fb) {
    uint32_t arch = 0;
    for (size_t i = 0; i < fb->count; i++)
        if (fb->entries[i].kind == FATBIN_PTX && (!arch || fb->entries[i].sm < arch))
            arch = fb->entries[i].sm;
    return arch;
}

// The program or library that holds a container, which else has no name; NULL: it is in other memory.
static const char *holder_of(const void *data) {
    Dl_info in;
    return dladdr(data, &in) && in.dli_fname ? base_name(in.dli_fname) : NULL;
}

// The module of a container, rewritten if it has PTX for this device. NULL: it has none at all, or memory is out.
// `built` NULL: the module may be one that was there before.
static LoadedModule *add_container(const void *data, size_t len, const char *name, Arena *arena,
                                   FatbinPtx *built) {
    LoadedModule *ours = gr_map_get_u64(&gr_session.images, (uintptr_t)data);
    if (ours) // built here, put into the program's wrapper, and met again in a list of such
        return ours;
    Fatbin *fb = NULL;
    gr_error err = {0};
    gr_status st = gr_fatbin_parse(data, len, arena, &fb, &err);
    const FatbinEntry *e = NULL;
    if (st == GR_OK)
        e = gr_fatbin_best_ptx(fb, device_cc(), on_gpu() ? FATBIN_PREFER_SPECIFIC : FATBIN_PREFER_PLAIN);
    const FatbinEntry *plain = e;
    if (st == GR_OK && !e)
        e = gr_machine_ptx(fb, device_cc(), arena);
    char *text = NULL, held[256];
    size_t n = 0;
    const char *called = e && e->source ? base_name(e->source) : name || e ? name : holder_of(data);
    gr_status extracted = e ? gr_fatbin_ptx(e, &text, &n, &err) : GR_OK;
    LoadedModule *m = !built && text ? take_again(text, n, called) : NULL;
    FatbinPtx unused;
    if (m || !(m = new_module(called))) {
        free(text);
        return m;
    }
    built = built ? built : &unused;
    if (st != GR_OK) {
        set_unchecked(m, "%s", err.msg);
    } else if (!e) {
        char how[64];
        list_targets(fb, held, sizeof held);
        set_unchecked(m, held[0] ? "it holds no PTX for this device, only %s%s" : "it holds no code%s%s",
                      held, how_to_take(first_arch(fb), how));
    } else if (extracted != GR_OK) {
        set_unchecked(m, "%s", err.msg);
    } else {
        add_ptx(m, text, n, built);
        built->flags = e->flags;
        built->source = copy_text(m, e->source);
        set_options(m, built, e->options);
        if (e != plain) // the program's own code is rewritten, too
            m->pieces = NULL;
    }
    free(text);
    return m;
}

// A wrapper of version 2 (-rdc=true): makes every translation unit's container anew, behind a wrapper of our own.
// Leaves out the machine code that nvcc linked of the originals: a driver that finds it runs it, and never looks at the
// PTX.
static const void *rebuild_wrapper(const FatbinWrapper *w, const FatbinPtx *built, size_t n,
                                   const void *const *originals) {
    const void **extra = calloc(n + 1, sizeof *extra);
    FatbinWrapper *mine = calloc(1, sizeof *mine);
    void *nothing_linked = NULL;
    size_t len;
    if (!extra || !mine || gr_fatbin_build(NULL, 0, &nothing_linked, &len, NULL) != GR_OK)
        goto failed;
    for (size_t i = 0; i < n; i++) {
        void *container = (void *)(uintptr_t)originals[i];
        if (built[i].text && gr_fatbin_build(&built[i], 1, &container, &len, NULL) != GR_OK)
            goto failed;
        extra[i] = container;
    }
    *mine = (FatbinWrapper){w->magic, w->version, nothing_linked, extra};
    return mine; // kept as long as the process: the driver may come back to it
failed:
    free(nothing_linked);
    free(extra);
    free(mine);
    return NULL;
}

// What the driver gets for PTX or a container: the text, or a container with it, if the compiler gets options.
static const void *image_of(LoadedModule *m) {
    size_t len;
    if (m->split && !m->boxed && gr_fatbin_build(&m->built, 1, &m->boxed, &len, NULL) != GR_OK)
        m->boxed = NULL;
    return m->boxed ? m->boxed : m->text;
}

static LoadedModule *prepare_wrapper(const FatbinWrapper *w, const char *name, const void **instead) {
    Arena arena;
    gr_arena_init(&arena);
    const void **containers;
    size_t n = 0, used = 0;
    gr_error err = {0};
    LoadedModule *first = NULL, **units = NULL;
    FatbinPtx *built = NULL;
    gr_status st = gr_fatbin_wrapper(w, &arena, &containers, &n, &err);
    if (st != GR_OK || !n) {
        first = new_module(name);
        if (first)
            set_unchecked(first, "%s", st != GR_OK ? err.msg : "it holds no code");
        goto done;
    }
    // The device linker made the last container of a version 2 wrapper: machine code of all the others.
    size_t count = n > 1 && w->version >= 2 ? n - 1 : n;
    units = GR_NEW_ARRAY(&arena, LoadedModule *, count);
    built = GR_NEW_ARRAY(&arena, FatbinPtx, count);
    if (!units || !built)
        goto done;
    for (size_t i = 0; i < count; i++) {
        LoadedModule *m = add_container(containers[i], GR_FATBIN_UNBOUNDED, name, &arena, &built[i]);
        if (!m)
            goto done;
        Fatbin *fb;
        if (!m->pub.rewritten &&
            gr_fatbin_parse(containers[i], GR_FATBIN_UNBOUNDED, &arena, &fb, NULL) == GR_OK) {
            m->container = fb->data;
            m->container_len = fb->size;
        }
        units[i] = m;
        used += m->pub.rewritten;
        if (i)
            units[i - 1]->next = m;
        else
            first = m;
    }
    if (!used)
        goto done;
    *instead = count == 1 ? image_of(units[0]) : rebuild_wrapper(w, built, count, containers);
done:
    gr_arena_free(&arena);
    return first;
}

void gr_modules_alias(const void *image, LoadedModule *list) {
    for (LoadedModule *m = list; m; m = m->next)
        m->aliased = true;
    gr_map_put_u64(&gr_session.images, (uintptr_t)image, list);
}

void gr_modules_unalias(const void *image) { gr_map_remove_u64(&gr_session.images, (uintptr_t)image); }

// Modules that were prepared under another pointer, such as a wrapper that points at a container of ours.
static LoadedModule *known_image(const void *image, size_t len, ImageKind kind) {
    const FatbinWrapper *w = image;
    const Map *images = &gr_session.images;
    LoadedModule *m = gr_map_get_u64(images, (uintptr_t)image);
    if (!m && kind == IMAGE_WRAPPER && w->version < 2)
        m = gr_map_get_u64(images, (uintptr_t)w->data);
    if (!m && kind == IMAGE_WRAPPER && w->version >= 2 && w->extra)
        m = gr_map_get_u64(images, (uintptr_t)w->extra);
    return m ? m : gr_machine_modules(image, len);
}

// Machine code by itself: checked if the PTX that it was made of is known.
static LoadedModule *prepare_machine_code(const void *image, size_t len, const char *name,
                                          const void **instead) {
    const FatbinWrapper *w = gr_machine_wrapper(image, len);
    void *const *units = w ? w->extra : NULL;
    LoadedModule *m;
    if (units && units[1]) {
        m = prepare_wrapper(w, name, instead);
        if (m)
            m->in_parts = m->next != NULL;
        return m;
    }
    if (units) {
        Arena arena;
        gr_arena_init(&arena);
        m = add_container(units[0], GR_FATBIN_UNBOUNDED, name, &arena, NULL);
        gr_arena_free(&arena);
        return m;
    }
    m = new_module(name);
    if (m)
        set_unchecked(m, "it holds no PTX, only machine code (a cubin): see docs/just-in-time.md");
    return m;
}

static LoadedModule *prepare_library(const FatbinWrapper *w, const char *name, const void **instead) {
    const char *library = gr_library_left_alone(w);
    LoadedModule *m = library ? new_module(library) : prepare_wrapper(w, name, instead);
    if (library && m)
        set_unchecked(m, "it is a library of NVIDIA's, and --libraries yes was not given");
    return m;
}

LoadedModule *gr_modules_prepare(const void *image, size_t len, const char *name, const void **instead) {
    *instead = NULL;
    ImageKind kind = gr_image_kind(image, len);
    LoadedModule *m = known_image(image, len, kind);
    if (m)
        return m;
    FatbinPtx built = {0};
    Arena arena;
    len = kind == IMAGE_PTX && len == GR_FATBIN_UNBOUNDED ? strlen(image) : len;
    switch (kind) {
    case IMAGE_WRAPPER: return prepare_library(image, name, instead);
    case IMAGE_FATBIN:
        gr_arena_init(&arena);
        m = add_container(image, len, name, &arena, NULL);
        gr_arena_free(&arena);
        break;
    case IMAGE_PTX:
        len = strnlen(image, len);
        m = take_again(image, len, name);
        if (!m && (m = new_module(name)))
            add_ptx(m, image, len, &built);
        break;
    case IMAGE_CUBIN: m = prepare_machine_code(image, len, name, instead); break;
    default:
        m = new_module(name);
        if (m)
            set_unchecked(m, "it is neither PTX nor a fatbinary");
    }
    if (m && m->pub.rewritten && !*instead)
        *instead = image_of(m);
    return m;
}

LoadedModule *gr_modules_prepare_file(const char *path, const void **instead) {
    char *data;
    size_t len;
    gr_error err = {0};
    *instead = NULL;
    if (gr_file_read(path, &data, &len, &err) != GR_OK) {
        LoadedModule *m = new_module(base_name(path));
        if (m)
            set_unchecked(m, "%s", err.msg);
        return m;
    }
    LoadedModule *m = gr_modules_prepare(data, len, base_name(path), instead);
    free(data);
    return m;
}

bool gr_modules_have_ptx(const void *wrapper) {
    const FatbinWrapper *w = wrapper;
    Arena arena;
    Fatbin *fb;
    gr_arena_init(&arena);
    bool found = w->version < 2 &&
                 gr_fatbin_parse(w->data, GR_FATBIN_UNBOUNDED, &arena, &fb, NULL) == GR_OK &&
                 gr_fatbin_best_ptx(fb, device_cc(), FATBIN_PREFER_SPECIFIC);
    gr_arena_free(&arena);
    return found;
}

void gr_modules_rewrite_wrapper(void *wrapper) {
    FatbinWrapper *w = wrapper;
    // Version 2 (-rdc=true) lists containers whose own wrappers are rewritten; the list is read when it is loaded.
    if (w->version >= 2 || known_image(w, GR_FATBIN_UNBOUNDED, IMAGE_WRAPPER))
        return;
    Arena arena;
    gr_arena_init(&arena);
    FatbinPtx built = {0};
    Fatbin *fb;
    void *container;
    size_t len;
    // A container without PTX may be the empty one that nvcc always adds: kernels of others are named when launched.
    if (gr_fatbin_parse(w->data, GR_FATBIN_UNBOUNDED, &arena, &fb, NULL) == GR_OK &&
        (gr_fatbin_best_ptx(fb, device_cc(), FATBIN_PREFER_SPECIFIC) ||
         gr_machine_ptx(fb, device_cc(), &arena))) {
        LoadedModule *m = add_container(w->data, GR_FATBIN_UNBOUNDED, NULL, &arena, &built);
        if (m && gr_twins_begin(m)) {
            m->wrapped = true;
            gr_modules_alias(w->data, m);
        } else if (m && m->pub.rewritten && gr_fatbin_build(&built, 1, &container, &len, NULL) == GR_OK) {
            m->wrapped = true;
            gr_modules_alias(container, m);
            w->data = container;
        }
        gr_modules_record(m);
    }
    gr_arena_free(&arena);
}

// ---- in the driver ---------------------------------------------------------------------------------------

void gr_modules_refused(LoadedModule *list, CUresult error) {
    for (LoadedModule *m = list; m; m = m->next) {
        if (!m->pub.rewritten)
            continue;
        char how[64];
        if (gr_fatbin_ptx_fits(m->built.sm, m->built.suffix, device_cc()))
            set_unchecked(m, "the driver refused its rewritten PTX (CUDA error %d)", (int)error);
        else
            set_unchecked(m, "it is PTX for sm_%u%.1s, which this device does not take%s", m->built.sm,
                          (const char[]){m->built.suffix, 0}, how_to_take(m->built.sm, how));
        m->info.n_sites = m->info.n_functions = 0;
    }
}

void gr_modules_record(LoadedModule *list) {
    gr_sources_record();
    for (LoadedModule *m = list; m; m = m->next) {
        if (m->recorded)
            continue;
        m->recorded = true;
        StrBuf b = {0};
        m->info.unchecked = m->unchecked;
        m->info.area = m->records_offset;
        m->info.area_bytes = m->pub.rewritten ? m->pub.record_bytes : 0;
        m->info.area_tag = m->pub.record_tag;
        gr_module_write(&m->info, &b);
        gr_results_append(&gr_session.results, GR_RECORD_MODULE, &b);
        gr_str_free(&b);
    }
}

void gr_modules_loaded(LoadedModule *list, CUmodule module, CUlibrary library) {
    const void *handle = module ? (void *)module : (void *)library;
    if (!list || !gr_modules_known_as(list, handle))
        return;
    gr_modules_record(list);
    for (LoadedModule *m = list; m; m = m->next) {
        m->module = module;
        m->library = library;
        gr_module_attach(m);
    }
}

void gr_modules_unloaded(void *handle) {
    Session *s = &gr_session;
    LoadedModule *list = gr_modules_of(handle);
    if (!list)
        return;
    gr_modules_forget_handles(list);
    for (LoadedModule *m = list; m; m = m->next)
        gr_twins_unload(m);
    gr_kernels_forget(list);
    gr_ranges_remove_of_module(handle);
    for (LoadedModule *m = list; m; m = m->next) {
        if (s->engine->unloaded)
            s->engine->unloaded(s->engine_self, &m->pub);
        m->module = NULL;
        m->library = NULL;
        m->ready.len = m->complete.len = 0;
    }
    keep_unloaded(list);
}

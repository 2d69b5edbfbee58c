// SPDX-License-Identifier: Apache-2.0
// Modules and kernels by handle, their counters in the results file, and which launches no thread has waited for.
#include "inject/nvtx.h"
#include "inject/session.h"
#include "inject/stacks.h"
#include "inject/uses.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    COUNTS_PER_AREA = 512,
    LOG_ENTRIES = 16384,
    MAX_LOGGED = 1 << 20, // launches beyond are counted, but no longer listed one by one
};

// ---- handles ---------------------------------------------------------------------------------------------

LoadedModule *gr_modules_of(const void *handle) {
    return gr_map_get_u64(&gr_session.modules_of, (uintptr_t)handle);
}

bool gr_modules_known_as(LoadedModule *list, const void *handle) {
    Map *of = &gr_session.modules_of;
    if (gr_modules_of(handle) == list)
        return true;
    if (!gr_map_put_u64(of, (uintptr_t)handle, list))
        return false;
    if (gr_vec_push(&list->handles, handle))
        return true;
    gr_map_remove_u64(of, (uintptr_t)handle);
    return false;
}

void gr_modules_forget_handles(LoadedModule *list) {
    for (size_t i = 0; i < list->handles.len; i++)
        if (gr_modules_of(list->handles.data[i]) == list) // what a destroyed context leaves may come again
            gr_map_remove_u64(&gr_session.modules_of, (uintptr_t)list->handles.data[i]);
    list->handles.len = 0;
}

static LoadedModule *defining(LoadedModule *list, const char *name) {
    for (LoadedModule *m = list; m; m = m->next)
        for (uint32_t i = 0; i < m->info.n_kernels; i++)
            if (!strcmp(m->info.kernels[i], name))
                return m;
    return list && !list->next ? list : NULL;
}

static Map *kernels_of(LoadedModule *modules) {
    return modules ? &modules->kernels : &gr_session.loose_kernels;
}

static Kernel *new_kernel(const char *name, LoadedModule *modules) {
    Kernel *k = calloc(1, sizeof *k);
    if (!k || !(k->name = strdup(name)) || !gr_map_put(kernels_of(modules), k->name, k)) {
        if (k)
            free(k->name);
        free(k);
        return NULL;
    }
    k->index = gr_session.n_kernels++;
    k->modules = modules;
    k->module = defining(modules, name);
    return k;
}

void gr_kernel_found(const void *handle, const char *name, LoadedModule *modules) {
    Kernel *k = gr_map_get(kernels_of(modules), name);
    if (!k)
        k = new_kernel(name, modules);
    if (!k || !gr_map_put_u64(&gr_session.kernels_of, (uintptr_t)handle, k))
        gr_session_notef("out of memory: a kernel is not counted");
}

// The modules of a library whose module in this context came from no interposed call.
static LoadedModule *in_library(CUmodule module) {
    CUresult (*get)(CUmodule *, CUlibrary) =
        (CUresult(*)(CUmodule *, CUlibrary))gr_driver_function("cuLibraryGetModule");
    Session *s = &gr_session;
    for (size_t i = 0; get && i < s->modules.len; i++) {
        LoadedModule *m = s->modules.data[i], *list = m->library ? gr_modules_of(m->library) : NULL;
        CUmodule own = NULL;
        if (list == m && get(&own, m->library) == CUDA_SUCCESS && own == module) {
            gr_modules_known_as(m, module);
            return m;
        }
    }
    return NULL;
}

// A handle that no interposed call gave out: the driver knows its name, and its module.
static Kernel *ask_driver(const void *handle) {
    CUresult (*name_of)(const char **, CUfunction) =
        (CUresult(*)(const char **, CUfunction))gr_driver_function("cuFuncGetName");
    CUresult (*module_of)(CUmodule *, CUfunction) =
        (CUresult(*)(CUmodule *, CUfunction))gr_driver_function("cuFuncGetModule");
    const char *name = NULL;
    CUmodule module = NULL;
    if (!name_of || name_of(&name, (CUfunction)(uintptr_t)handle) != CUDA_SUCCESS || !name)
        return NULL;
    if (module_of && module_of(&module, (CUfunction)(uintptr_t)handle) != CUDA_SUCCESS)
        module = NULL;
    LoadedModule *list = module ? gr_modules_of(module) : NULL;
    if (!list && module)
        list = in_library(module);
    if (!list && module)
        list = gr_wrapped_module(name, module);
    gr_kernel_found(handle, name, list);
    return gr_map_get_u64(&gr_session.kernels_of, (uintptr_t)handle);
}

Kernel *gr_kernel_of(const void *handle) {
    Kernel *k = gr_map_get_u64(&gr_session.kernels_of, (uintptr_t)handle);
    return k ? k : ask_driver(handle);
}

void gr_kernels_forget(const LoadedModule *modules) {
    Map *map = &gr_session.kernels_of;
    for (size_t i = 0; i < map->len; i++)
        if (map->entries[i].live && ((Kernel *)map->entries[i].value)->modules == modules)
            gr_map_remove_u64(map, map->entries[i].key);
}

void gr_kernels_free(LoadedModule *modules) {
    for (size_t i = 0; i < modules->kernels.len; i++) {
        Kernel *k = modules->kernels.entries[i].value;
        free(k->name);
        free(k);
    }
    gr_map_free(&modules->kernels);
}

// ---- counters --------------------------------------------------------------------------------------------

static GrKernelCounts *new_counts(uint64_t *offset) {
    Session *s = &gr_session;
    if (!s->counts_area || s->counts_used == COUNTS_PER_AREA) {
        s->counts_area =
            gr_results_area(&s->results, COUNTS_PER_AREA * sizeof *s->counts_area, &s->counts_offset);
        s->counts_used = 0;
        if (!s->counts_area)
            return NULL;
    }
    *offset = s->counts_offset + s->counts_used * sizeof *s->counts_area;
    return &s->counts_area[s->counts_used++];
}

static void write_record(Kernel *k) {
    uint64_t offset;
    k->counts = new_counts(&offset);
    if (!k->counts)
        return;
    StrBuf b = {0};
    gr_put_u64(&b, k->index);
    gr_put_u64(&b, k->module ? k->module->pub.number : 0);
    gr_put_str(&b, k->name);
    gr_put_u64(&b, offset);
    gr_results_append(&gr_session.results, GR_RECORD_KERNEL, &b);
    gr_str_free(&b);
}

// Notes in which ranges launches stand, where that changes.
static void note_ranges(uint64_t launch) {
    static uint64_t last, process; // a hash, 0: of none; whose
    StrBuf names = {0}, b = {0};
    gr_nvtx_ranges(&names);
    uint64_t now = names.len ? gr_hash_bytes(names.data, names.len) : 0;
    last = process == gr_session.results.process ? last : 0;
    if (now != last && !names.oom) {
        last = now;
        process = gr_session.results.process;
        gr_put_u64(&b, launch);
        gr_put_str(&b, names.len ? names.data : "");
        gr_results_append(&gr_session.results, GR_RECORD_RANGES, &b);
    }
    gr_str_free(&names);
    gr_str_free(&b);
}

uint64_t gr_launch_reserve(void) {
    Session *s = &gr_session;
    bool stopped = s->results.header && __atomic_load_n(&s->results.header->stopped, __ATOMIC_SEQ_CST);
    s->n_launches++;
    note_ranges(s->n_launches);
    if (s->options.caps & (CAP_PICKS | CAP_PARTS))
        gr_chosen_reserved(s->n_launches, stopped);
    else if (stopped)
        gr_session_remarkf("checking was stopped, but the engine %s checks all launches of a kernel",
                           s->options.engine);
    return s->n_launches;
}

static void log_launch(const Kernel *k, uint64_t number) {
    Session *s = &gr_session;
    if (number > MAX_LOGGED ||
        (s->log && number < s->log_first)) // the second: another thread has opened the next area
        return;
    if (!s->log || number >= s->log_first + LOG_ENTRIES) {
        if (s->log) // the file has it
            munmap(s->log, LOG_ENTRIES * sizeof *s->log);
        s->log = gr_results_area(&s->results, LOG_ENTRIES * sizeof *s->log, &s->log_offset);
        s->log_first = number;
        if (!s->log)
            return;
        StrBuf b = {0};
        gr_put_u64(&b, number);
        gr_put_u64(&b, LOG_ENTRIES);
        gr_put_u64(&b, s->log_offset);
        gr_results_append(&s->results, GR_RECORD_LAUNCH_LOG, &b);
        gr_str_free(&b);
    }
    s->log[number - s->log_first] = (GrLogged){(uint32_t)k->index + 1, gr_stack_here()};
}

// Engines with CAP_PARTS know nothing of it: a kernel that is compiled alone is launched as the program has it.
GrChoice gr_launch_choice(const Kernel *k, uint64_t number, bool in_graph) {
    unsigned caps = gr_session.options.caps;
    GrChoice choice = caps & (CAP_PICKS | CAP_PARTS) ? gr_chosen(number) : GR_CHOSEN;
    if (choice == GR_CHOSEN || caps & CAP_PICKS || (k && k->module && k->module->by_kernel && !in_graph))
        return choice;
    gr_session_remarkf("launches that were to be left out are checked all the same if their kernels are not "
                       "compiled alone: in graphs, in modules whose kernels share variables, and without "
                       "--compile launched");
    return GR_CHOSEN;
}

void gr_kernel_launched(Kernel *k, const GrLaunch *l, GrChoice choice, CUresult result) {
    Session *s = &gr_session;
    if (result != CUDA_SUCCESS && l->number == s->n_launches)
        s->n_launches--; // devices number what they run, and the numbers should agree
    if (!k)
        return;
    gr_results_count_launch(&s->results);
    if (!k->counts)
        write_record(k);
    GrKernelCounts *c = k->counts;
    if (!c)
        return;
    if (!c->launches) {
        c->first_launch = l->number;
        memcpy(c->grid, l->grid, sizeof c->grid);
        memcpy(c->block, l->block, sizeof c->block);
        gr_uses_launched(k);
    }
    c->launches++;
    c->left_out += choice == GR_NOT_CHOSEN;
    c->stopped += choice == GR_STOPPED;
    if (result != CUDA_SUCCESS) {
        c->failed++;
        c->last_error = (int32_t)result;
        return;
    }
    log_launch(k, l->number);
    uintptr_t n = (uintptr_t)gr_map_get_u64(&s->pending, (uintptr_t)l->stream) + 1;
    gr_map_put_u64(&s->pending, (uintptr_t)l->stream, (void *)n);
}

// ---- launches that were waited for -----------------------------------------------------------------------

void gr_stream_waited(CUstream stream) { gr_map_remove_u64(&gr_session.pending, (uintptr_t)stream); }

void gr_everything_waited(void) { gr_map_free(&gr_session.pending); }

uint64_t gr_launches_unfinished(void) {
    uint64_t n = 0;
    const Map *map = &gr_session.pending;
    for (size_t i = 0; i < map->len; i++)
        if (map->entries[i].live)
            n += (uintptr_t)map->entries[i].value;
    return n;
}

// An event covers what was launched in its stream before it was recorded.
typedef struct EventMark {
    CUstream stream;
    uintptr_t pending;
} EventMark;

void gr_event_recorded(CUevent event, CUstream stream) {
    Session *s = &gr_session;
    EventMark *mark = gr_map_get_u64(&s->events, (uintptr_t)event);
    if (!mark &&
        ((mark = calloc(1, sizeof *mark)) == NULL || !gr_map_put_u64(&s->events, (uintptr_t)event, mark))) {
        free(mark);
        return;
    }
    *mark = (EventMark){stream, (uintptr_t)gr_map_get_u64(&s->pending, (uintptr_t)stream)};
}

void gr_event_waited(CUevent event) {
    Session *s = &gr_session;
    EventMark *mark = gr_map_get_u64(&s->events, (uintptr_t)event);
    if (!mark)
        return;
    uintptr_t now = (uintptr_t)gr_map_get_u64(&s->pending, (uintptr_t)mark->stream);
    if (now <= mark->pending)
        gr_stream_waited(mark->stream);
    else if (mark->pending)
        gr_map_put_u64(&s->pending, (uintptr_t)mark->stream, (void *)(now - mark->pending));
    mark->pending = 0;
}

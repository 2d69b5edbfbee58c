// SPDX-License-Identifier: Apache-2.0
#include "inject/session.h"

#include "base/log.h"
#include "device_api/hooks.h"
#include "inject/chosen.h"
#include "inject/inside_run.h"
#include "inject/launches.h"
#include "inject/memory.h"
#include "inject/stacks.h"
#include "inject/strays.h"
#include "inject/thread_clocks.h"
#include "inject/unwind.h"
#include "inject/uses.h"
#include "inject/watch.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

Session gr_session = {.lock = PTHREAD_MUTEX_INITIALIZER};

// Begun, or known not to: UNBORN becomes one of the others with the first driver call, and OVER at the end.
enum { UNBORN, ACTIVE, PASSIVE, OVER };
static int phase = UNBORN; // atomic
static pid_t owner;        // the process that the records are written for
static bool began_in_parent;
static bool forked; // since then, and no driver call yet
static __thread int inside;
static __thread int cancel_before; // whether this thread could be cancelled before that

// ---- beginning -------------------------------------------------------------------------------------------

static void *session_driver(GrSession *s, const char *name) {
    (void)s;
    return (void *)gr_driver_function(name);
}

static CUresult session_write(GrSession *s, CUdeviceptr to, const void *from, size_t size) {
    (void)s;
    return gr_aside_write(to, from, size);
}

static CUdeviceptr session_take(GrSession *s, size_t size) {
    (void)s;
    return gr_aside_take(size);
}

static void session_note(GrSession *s, const char *what, const char *text) {
    (void)s;
    gr_session_notef("%s: %s", what, text);
}

static void session_remark(GrSession *s, const char *text) {
    (void)s;
    gr_session_remarkf("%s", text);
}

static void *session_symbol(GrSession *s, const char *name) {
    (void)s;
    return gr_real_dlsym(gr_driver_library(), name);
}

static void session_record(GrSession *s, GrRecordKind kind, const StrBuf *payload) {
    (void)s;
    gr_results_append(&gr_session.results, kind, payload);
}

static void *session_area(GrSession *s, uint64_t size, uint64_t *offset) {
    (void)s;
    return gr_results_area(&gr_session.results, size, offset);
}

static bool session_watch(GrSession *s, const GrHostWatcher *w) {
    (void)s;
    return gr_watch_start(w);
}

static void session_watching(GrSession *s, bool on) {
    (void)s;
    gr_watch_set(on);
}

static void session_raced(GrSession *s) {
    (void)s;
    gr_results_count_race(&gr_session.results);
}

static bool session_arena(GrSession *s, GrArena *out) {
    (void)s;
    return gr_arena_of_device(out);
}

static bool session_points(GrSession *s, const GrLaunch *l, unsigned kinds, GrRange *out) {
    (void)s;
    return gr_launch_points(l, kinds, out);
}

static bool session_wants_launch(GrSession *s, uint64_t number) {
    (void)s;
    return gr_chosen(number) == GR_CHOSEN;
}

static void session_load_kernels(GrSession *s) {
    (void)s;
    gr_modules_load_kernels();
}

static void append_number(GrRecordKind kind, uint64_t number) {
    StrBuf b = {0};
    gr_put_u64(&b, number);
    gr_results_append(&gr_session.results, kind, &b);
    gr_str_free(&b);
}

static gr_status begin(gr_error *err) {
    Session *s = &gr_session;
    const char *options = gr_run_variable(GR_OPTIONS_ENV);
    if (!gr_run_results()->header)
        return gr_fail(err, GR_ERR_NOT_FOUND, "%s", gr_run_failure());
    s->results = *gr_run_results();
    gr_results_join(&s->results);
    append_number(GR_RECORD_PROCESS_BEGIN, 0);
    GR_MUST(gr_options_init(&s->options, err));
    GR_MUST(gr_options_parse_text(&s->options, options ? options : "", err));
    s->engine = gr_engine_choose(&s->options, strcmp(s->options.device, "cpu"));
    if (!s->engine)
        return gr_fail(err, GR_ERR_ARGUMENT, "there is no engine '%s' in this build", s->options.engine);
    s->pub = (GrSession){session_driver, session_write,        session_take,         session_note,
                         session_remark, session_symbol,       session_record,       session_area,
                         session_watch,  session_watching,     session_raced,        session_arena,
                         session_points, session_wants_launch, session_load_kernels, &gr_thread_clocks};
    GR_MUST(gr_chosen_begin(&s->options, err));
    gr_uses_begin();
    gr_strays_listen();
    if (s->engine->begin)
        GR_MUST(s->engine->begin(&s->pub, &s->options, &s->engine_self, err));
    return GR_OK;
}

static uint64_t unfinished_launches(void) {
    uint64_t (*of_device)(uint64_t *) =
        (uint64_t(*)(uint64_t *))gr_real_dlsym(gr_driver_library(), "gr_cpu_device_launches");
    uint64_t unfinished = 0;
    if (!of_device || began_in_parent) // the device's count is the parent's then
        return gr_launches_unfinished();
    of_device(&unfinished);
    return unfinished;
}

static uint64_t left_at_exit;

// At exit the runtime unloads its modules, which waits for their kernels: only before that can one see what the program
// itself left unfinished. Registered after the runtime's own handlers, so it runs before them.
static void exit_begins(void) { left_at_exit = unfinished_launches(); }

// No destructors follow.
static void quick_exit_begins(void) {
    exit_begins();
    gr_session_finish();
}

static void begin_once(void) {
    gr_error err = {0};
    atexit(exit_begins);
    at_quick_exit(quick_exit_begins);
    owner = getpid();
    gr_status st = begin(&err);
    if (st != GR_OK && gr_session.results.header)
        gr_session_notef("the injection could not begin: %s", err.msg);
    else if (st != GR_OK &&
             gr_run_variable(GR_RESULTS_ENV)) // what started it has named it, if that could (exec_carry.h)
        gr_log(LOG_ERROR, "process %ld is not watched: %s", (long)owner, err.msg);
    __atomic_store_n(&phase, st == GR_OK ? ACTIVE : PASSIVE, __ATOMIC_RELEASE);
}

static void begin_after_fork(void) {
    forked = false;
    began_in_parent = true;
    owner = getpid();
    gr_results_join(&gr_session.results); // the parent's mapping stays, as everything of the parent's does
    gr_session.counts_area = NULL;
    gr_session.log = NULL;
    gr_session.pool = NULL;
    gr_map_free(&gr_session.pending);
    append_number(GR_RECORD_PROCESS_BEGIN, 0);
}

bool gr_session_enter(void) {
    if (inside)
        return false;
    inside = 1;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_before); // it would leave with our locks
    if (forked)
        begin_after_fork();
    if (__atomic_load_n(&phase, __ATOMIC_ACQUIRE) == UNBORN) {
        pthread_mutex_lock(&gr_session.lock);
        if (phase == UNBORN)
            begin_once();
        pthread_mutex_unlock(&gr_session.lock);
    }
    if (__atomic_load_n(&phase, __ATOMIC_ACQUIRE) == ACTIVE)
        return true;
    gr_session_leave();
    return false;
}

void gr_session_leave(void) {
    inside = 0;
    pthread_setcancelstate(cancel_before, NULL);
}

void gr_session_lock(void) { pthread_mutex_lock(&gr_session.lock); }
void gr_session_unlock(void) { pthread_mutex_unlock(&gr_session.lock); }

// A child of fork is a process of its own. CUDA does not work in it if the parent had begun, but it may try: it counts
// as a process of the run from its first driver call on. The lock may have been held by a thread that is not here.
static void after_fork_in_child(void) {
    pthread_mutex_init(&gr_session.lock, NULL);
    inside = 0;
    forked = phase == ACTIVE;
    owner = 0;
}

__attribute__((constructor)) static void watch_forks(void) {
    pthread_atfork(NULL, NULL, after_fork_in_child);
}

// ---- ending ----------------------------------------------------------------------------------------------

// The promise of the device's schedule, at the end: it shrinks as more runs.
static void remark_bound(void) {
    int (*bound)(int, char *, unsigned) =
        (int (*)(int, char *, unsigned))gr_real_dlsym(gr_driver_library(), "gr_cpu_device_bound");
    char text[512];
    for (int device = 0; bound && device < 32 && !began_in_parent; device++)
        if (bound(device, text, sizeof text) == 0)
            gr_session_remarkf("%s", text);
}

void gr_session_finish(void) {
    int active = ACTIVE;
    // A child of vfork shares our memory and must leave it alone.
    if (phase != ACTIVE || owner != getpid() ||
        !__atomic_compare_exchange_n(&phase, &active, OVER, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return;
    inside = 1;
    gr_watch_stop();
    gr_records_sync();
    gr_session_verbose("%u call stacks of the program's, %llu times unwound by tables", gr_stacks(),
                       (unsigned long long)gr_unwindings());
    uint64_t left = unfinished_launches();
    append_number(GR_RECORD_PROCESS_END, left > left_at_exit ? left : left_at_exit);
    remark_bound();
    if (gr_session.engine->finish)
        gr_session.engine->finish(gr_session.engine_self);
    inside = 0;
}

__attribute__((destructor)) static void finish_at_exit(void) { gr_session_finish(); }

// _exit runs no destructors.
#define EXPORT __attribute__((visibility("default"), noreturn))
EXPORT void _exit(int status) {
    gr_session_finish();
    void (*real)(int) = (void (*)(int))gr_real_dlsym(RTLD_NEXT, "_exit");
    if (real)
        real(status);
    for (;;)
        syscall(SYS_exit_group, status);
}
EXPORT void _Exit(int status) { _exit(status); }

// ---- notes -----------------------------------------------------------------------------------------------

// The text is new: a driver may say one thing a million times. A leaf: nothing is called with this lock held.
static bool is_new(const char *text) {
    enum { KEPT = 256 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t seen[KEPT];
    static unsigned n;
    uint64_t hash = gr_hash_bytes(text, strlen(text));
    bool fresh = true;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < n && fresh; i++)
        fresh = seen[i] != hash;
    if (fresh && n < KEPT)
        seen[n++] = hash;
    pthread_mutex_unlock(&lock);
    return fresh;
}

static void append_once(GrRecordKind kind, const char *text) {
    if (!gr_session.results.header || !is_new(text))
        return;
    StrBuf b = {0};
    gr_put_str(&b, text);
    gr_results_append(&gr_session.results, kind, &b);
    gr_str_free(&b);
}

// Texts of any length: names of templates are long.
static void append_format(GrRecordKind kind, const char *fmt, va_list words) {
    StrBuf text = {0};
    gr_str_vaddf(&text, fmt, words);
    append_once(kind, text.data && !text.oom ? text.data : "memory is out, and what was to be noted is lost");
    gr_str_free(&text);
}

void gr_session_notef(const char *fmt, ...) {
    va_list words;
    va_start(words, fmt);
    append_format(GR_RECORD_NOTE, fmt, words);
    va_end(words);
}

void gr_session_remarkf(const char *fmt, ...) {
    va_list words;
    va_start(words, fmt);
    append_format(GR_RECORD_REMARK, fmt, words);
    va_end(words);
}

void gr_session_blindf(const char *fmt, ...) {
    va_list words;
    va_start(words, fmt);
    append_format(GR_RECORD_BLIND, fmt, words);
    va_end(words);
}

void gr_session_verbose(const char *fmt, ...) {
    if (!gr_session.options.verbose)
        return;
    GR_FORMATTED(text, 1024, fmt);
    gr_log(LOG_ERROR, "%s", text);
}

// ---- what a test tells ---------------------------------------------------------------------------------------

__attribute__((visibility("default"))) void gr_next_run(unsigned run);
// A test calls the main of several programs in one process (tests/engines/collider/repeat.c); number `run`, from 0, is
// next. Engines then count launches anew, with the seed that many higher. The device must be idle.
void gr_next_run(unsigned run) {
    Session *s = &gr_session;
    if (!gr_session_enter())
        return;
    gr_session_lock();
    if (s->engine->next_run)
        s->engine->next_run(s->engine_self, run);
    gr_session_unlock();
    gr_session_leave();
}

// ---- what the CPU device tells ---------------------------------------------------------------------------

#define HOOK_EXPORT __attribute__((visibility("default")))

// This may be the first call that the tool hears of.
HOOK_EXPORT void gr_api_absent(const char *name) {
    bool entered = gr_session_enter();
    append_once(GR_RECORD_ABSENT, name);
    if (entered)
        gr_session_leave();
}

HOOK_EXPORT void gr_api_unusable(const char *what) {
    bool entered = gr_session_enter();
    append_once(GR_RECORD_NOTE, what);
    if (entered)
        gr_session_leave();
}

HOOK_EXPORT uint32_t gr_api_call(void) { return gr_stack_here(); }

HOOK_EXPORT void gr_api_note(const char *what) { append_once(GR_RECORD_REMARK, what); }

static bool fault_is_told; // atomic

// `kernel` empty: it is not known which.
static void append_fault(const char *kernel, const char *text, uint64_t launch) {
    StrBuf b = {0};
    __atomic_store_n(&fault_is_told, true, __ATOMIC_RELAXED);
    gr_put_str(&b, kernel);
    gr_put_str(&b, text);
    gr_put_u64(&b, launch);
    gr_results_append(&gr_session.results, GR_RECORD_FAULT, &b);
    gr_str_free(&b);
}

// The CPU device tells of a fault before the program hears of it; a GPU's driver has the error alone.
void gr_session_call_failed(CUresult result) {
    static const struct {
        CUresult code;
        const char *what;
    } stops[] = {
#define STOP(code, what) {code, what},
#include "inject/stops.def"
#undef STOP
    };
    char text[200];
    for (size_t k = 0; k < sizeof stops / sizeof *stops; k++) {
        if (stops[k].code != result || !gr_session.results.header ||
            __atomic_exchange_n(&fault_is_told, true, __ATOMIC_RELAXED))
            continue;
        snprintf(
            text, sizeof text,
            "was stopped by the device: %s (CUDA error %d, by which the driver does not say which kernel)",
            stops[k].what, (int)result);
        append_fault("", text, 0);
    }
}

HOOK_EXPORT void gr_api_fault(const GrApiFault *f) {
    char where[512] = "", text[1024];
    if (f->file)
        snprintf(where, sizeof where, " at %s:%u", f->file, f->line);
    else if (f->ptx_line)
        snprintf(where, sizeof where, " at PTX line %u", f->ptx_line);
    snprintf(text, sizeof text, "was stopped by the device%s: %s: %s", where, f->kind, f->text);
    append_fault(f->kernel, text, f->launch);
}

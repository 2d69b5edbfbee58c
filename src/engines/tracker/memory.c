// SPDX-License-Identifier: Apache-2.0
#include "engines/tracker/memory.h"

#include "base/map.h"
#include "base/vec.h"
#include "engines/tracker/extents.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { GRANULE = 1 << GR_PART_SHIFT, SHARED_BYTES = 256 << 20 };
#define CELLS_OF_GRANULE ((size_t)GRANULE / 4 / GR_GROUP * sizeof(GrCell))

// Cells of some granules side by side. Several ranges may share a granule.
typedef struct Run {
    CUdeviceptr cells;
    uint64_t first; // granule
    uint32_t n;     // granules
    uint32_t users; // ranges that need one of them
} Run;

// 4 GiB of addresses.
typedef struct Part {
    CUdeviceptr table; // uint64_t[GR_PART_COUNT] on the device
    Run **runs;        // [GR_PART_COUNT], of each granule; NULL: it has no cells
} Part;

typedef struct Tables {
    CUcontext context;
    unsigned long long number;
    CUdeviceptr dir, threads, blocks, shared;
    CUdeviceptr talks;  // 0 on a GPU
    Extents *extents;   // NULL: there was no room
    Map parts;          // by address >> GR_DIR_SHIFT -> Part
    VEC(Run *) idle;    // whose memory has gone
    VEC(Run *) leaving; // whose memory is about to go
    VEC(Run *) pooled;  // whose stream-ordered memory is about to go, when its turn has come
} Tables;

struct TrackerMemory {
    GrSession *session;
    VEC(Tables *) contexts;
    const TrackerLaunches *launches; // NULL: only accesses of one launch are compared
};

static CUcontext current(GrSession *s) {
    CUresult (*get)(CUcontext *) = (CUresult(*)(CUcontext *))s->driver(s, "cuCtxGetCurrent");
    CUcontext c = NULL;
    return get && get(&c) == CUDA_SUCCESS ? c : NULL;
}

// The number of the current context. A context that was made after another one's end may have its address, never its
// number. 0: the driver has none.
static unsigned long long number_of(GrSession *s, CUcontext c) {
    CUresult (*get)(CUcontext, unsigned long long *) =
        (CUresult(*)(CUcontext, unsigned long long *))s->driver(s, "cuCtxGetId");
    unsigned long long number = 0;
    return get && get(c, &number) == CUDA_SUCCESS ? number : 0;
}

// The tables of the current context, if that is `context` or `context` is NULL. NULL: there are none, or out of memory,
// on the host or on the device.
static Tables *tables_of(TrackerMemory *m, CUcontext context, bool make) {
    CUcontext now = m->launches ? NULL : current(m->session);
    if (context && !m->launches && context != now)
        return NULL;
    unsigned long long number = m->launches ? 0 : number_of(m->session, now);
    for (size_t i = 0; i < m->contexts.len; i++)
        if (m->contexts.data[i]->context == now && m->contexts.data[i]->number == number)
            return m->contexts.data[i];
    Tables *t = make ? calloc(1, sizeof *t) : NULL;
    if (!t || !gr_vec_push(&m->contexts, t)) {
        free(t);
        return NULL;
    }
    t->context = now;
    t->number = number;
    t->dir = m->session->take(m->session, sizeof(uint64_t) * GR_DIR_COUNT);
    t->threads = m->session->take(m->session, sizeof(GrThreadState) / GR_GROUP * GR_THREADS);
    t->blocks = m->session->take(m->session, sizeof(GrBlockState) * GR_BLOCKS + sizeof(uint64_t));
    t->talks = m->launches ? m->session->take(m->session, sizeof(GrTalk) * GR_TALKS) : 0;
    t->shared = m->session->take(m->session, SHARED_BYTES + sizeof(GrCell) / GR_GROUP * (GR_SHARED_MOST / 4));
    t->extents = gr_extents_new(m->session);
    return t;
}

static bool complete(const Tables *t) { return t && t->dir && t->threads && t->blocks; }

bool gr_tracker_memory_control(TrackerMemory *m, GrTrackerControl *c) {
    const Tables *t = tables_of(m, NULL, true);
    if (!complete(t))
        return false;
    c->dir = t->dir;
    c->threads = t->threads;
    c->blocks = t->blocks;
    c->numbers = t->blocks + sizeof(GrBlockState) * GR_BLOCKS;
    c->talks = t->talks;
    c->shared = t->shared;
    c->extents = gr_extents_table(t->extents);
    c->shared_bytes = t->shared ? SHARED_BYTES : 0;
    return true;
}

static Part *part_of(TrackerMemory *m, Tables *t, uint64_t top) {
    Part *p = gr_map_get_u64(&t->parts, top);
    if (p || top >= GR_DIR_COUNT)
        return p;
    p = calloc(1, sizeof *p);
    Run **runs = calloc(GR_PART_COUNT, sizeof *runs);
    CUdeviceptr table = m->session->take(m->session, sizeof(uint64_t) * GR_PART_COUNT);
    if (!p || !runs || !table || !gr_map_put_u64(&t->parts, top, p)) {
        free(p);
        free(runs);
        return NULL;
    }
    *p = (Part){table, runs};
    (void)m->session->write(m->session, t->dir + top * sizeof table, &table, sizeof table);
    return p;
}

// Tells the device where the cells of these granules are; `cells` 0: nowhere.
static void point(TrackerMemory *m, const Part *p, uint32_t first, uint32_t n, CUdeviceptr cells) {
    enum { AT_ONCE = 512 };
    uint64_t words[AT_ONCE];
    for (uint32_t done = 0; done < n;) {
        uint32_t k = 0;
        for (; k < AT_ONCE && done + k < n; k++)
            words[k] = cells ? cells + (done + k) * CELLS_OF_GRANULE : 0;
        (void)m->session->write(m->session, p->table + (first + done) * sizeof *words, words,
                                k * sizeof *words);
        done += k;
    }
}

static void clear(TrackerMemory *m, const Run *r) {
    static const char zeros[1 << 16];
    for (size_t done = 0, all = r->n * CELLS_OF_GRANULE, n; done < all; done += n) {
        n = all - done < sizeof zeros ? all - done : sizeof zeros;
        (void)m->session->write(m->session, r->cells + done, zeros, n);
    }
}

// Takes cells that nothing needs any more, or new ones. NULL: no room.
static Run *run_for(TrackerMemory *m, Tables *t, uint32_t n) {
    for (size_t i = 0; i < t->idle.len; i++) {
        Run *r = t->idle.data[i];
        if (r->n != n)
            continue;
        t->idle.data[i] = t->idle.data[--t->idle.len];
        // A launch that may run beside later ones may have left its accesses to other memory here.
        if (m->launches && !gr_tracker_launches_quiet(m->launches))
            clear(m, r);
        return r;
    }
    Run *r = calloc(1, sizeof *r);
    if (r)
        r->cells = m->session->take(m->session, n * CELLS_OF_GRANULE);
    if (r && r->cells) {
        r->n = n;
        return r;
    }
    free(r);
    return NULL;
}

// Gives cells to granules `first` to `end` of one part that have none. False: not to all.
static bool cover(TrackerMemory *m, Tables *t, Part *p, uint64_t top, uint32_t first, uint32_t end) {
    bool all = true;
    Run *last = NULL;
    for (uint32_t g = first; g < end; g++) {
        if (!p->runs[g]) {
            uint32_t n = 1;
            while (g + n < end && !p->runs[g + n])
                n++;
            Run *r = run_for(m, t, n);
            if (!r) {
                all = false;
                g += n - 1;
                continue;
            }
            r->first = top << (GR_DIR_SHIFT - GR_PART_SHIFT) | g;
            for (uint32_t k = 0; k < n; k++)
                p->runs[g + k] = r;
            point(m, p, g, n, r->cells);
        }
        if (p->runs[g] != last)
            p->runs[g]->users++;
        last = p->runs[g];
    }
    return all;
}

// Calls `f` for the pieces of the range that lie in one part each.
#define EACH_PIECE(r, top, first, end)                                                                       \
    for (uint64_t g_ = (r)->at >> GR_PART_SHIFT, end_ = ((r)->at + (r)->size - 1) >> GR_PART_SHIFT, top,     \
                  first, end;                                                                                \
         g_ <= end_ &&                                                                                       \
         (top = g_ >> (GR_DIR_SHIFT - GR_PART_SHIFT), first = g_ & (GR_PART_COUNT - 1),                      \
         end = end_ >> (GR_DIR_SHIFT - GR_PART_SHIFT) == top ? (end_ & (GR_PART_COUNT - 1)) + 1              \
                                                             : GR_PART_COUNT,                                \
         true);                                                                                              \
         g_ += end - first)

// Frees runs whose memory had gone when the last call came: by now the driver has waited for the kernels that used it,
// as cuMemFree does.
static void clear_away(TrackerMemory *m, Tables *t) {
    bool over = t->pooled.len && gr_tracker_launches_quiet(m->launches);
    for (size_t i = 0; over && i < t->pooled.len; i++)
        (void)gr_vec_push(&t->leaving, t->pooled.data[i]);
    t->pooled.len = over ? 0 : t->pooled.len;
    for (size_t i = 0; i < t->leaving.len; i++) {
        Run *r = t->leaving.data[i];
        if (r->users) // another range has come
            continue;
        Part *p = gr_map_get_u64(&t->parts, r->first >> (GR_DIR_SHIFT - GR_PART_SHIFT));
        uint32_t first = (uint32_t)(r->first & (GR_PART_COUNT - 1));
        if (!p || p->runs[first] != r) // it is on the list twice
            continue;
        for (uint32_t k = 0; k < r->n; k++)
            p->runs[first + k] = NULL;
        point(m, p, first, r->n, 0);
        (void)gr_vec_push(&t->idle, r); // else it is lost until the program ends
    }
    t->leaving.len = 0;
}

void gr_tracker_memory_add(TrackerMemory *m, const GrRange *r) {
    Tables *t = tables_of(m, r->context, true);
    bool all = complete(t);
    gr_extents_add(t ? t->extents : NULL, r);
    if (all) {
        clear_away(m, t);
        EACH_PIECE(r, top, first, end) {
            Part *p = part_of(m, t, top);
            all = p && cover(m, t, p, top, (uint32_t)first, (uint32_t)end) && all;
        }
    }
    if (all)
        return;
    char text[160];
    snprintf(text, sizeof text,
             "the device has no room for the metadata of all of %zu bytes at 0x%" PRIx64
             ": accesses to them are not checked",
             r->size, (uint64_t)r->at);
    m->session->note(m->session, "memory without metadata", text);
}

void gr_tracker_memory_remove(TrackerMemory *m, const GrRange *r) {
    Tables *t = tables_of(m, r->context, false); // of another context: its metadata goes with it
    gr_extents_remove(t ? t->extents : NULL, r->at);
    // Stream-ordered memory counts as gone when the call comes, though kernels before it in the stream may still have
    // to run. A GPU's pool hands out the same addresses again; the CPU device does not.
    bool pooled = r->kind == GR_RANGE_POOL;
    if (!complete(t) || (pooled && !m->launches))
        return;
    EACH_PIECE(r, top, first, end) {
        Part *p = gr_map_get_u64(&t->parts, top);
        Run *last = NULL;
        for (uint64_t g = first; p && g < end; g++) {
            Run *own = p->runs[g];
            if (!own || own == last)
                continue;
            last = own;
            if (!--own->users)
                (void)(pooled ? gr_vec_push(&t->pooled, own)
                              : gr_vec_push(&t->leaving, own)); // else its cells stay
        }
    }
}

void gr_tracker_memory_follow(TrackerMemory *m, const TrackerLaunches *launches) { m->launches = launches; }

TrackerMemory *gr_tracker_memory_new(GrSession *s) {
    TrackerMemory *m = calloc(1, sizeof *m);
    if (m)
        m->session = s;
    return m;
}

void gr_tracker_memory_free(TrackerMemory *m) {
    if (!m)
        return;
    for (size_t i = 0; i < m->contexts.len; i++) {
        Tables *t = m->contexts.data[i];
        for (size_t k = 0; k < t->parts.len; k++) {
            Part *p = t->parts.entries[k].value;
            if (!t->parts.entries[k].live)
                continue;
            Run *last = NULL;
            for (uint32_t g = 0; g < GR_PART_COUNT; g++) {
                if (p->runs[g] && p->runs[g] != last)
                    free(last);
                last = p->runs[g] ? p->runs[g] : last;
            }
            free(last);
            free(p->runs);
            free(p);
        }
        for (size_t k = 0; k < t->idle.len; k++)
            free(t->idle.data[k]);
        gr_vec_free(&t->idle);
        gr_vec_free(&t->leaving);
        gr_vec_free(&t->pooled);
        gr_map_free(&t->parts);
        gr_extents_free(t->extents);
        free(t);
    }
    gr_vec_free(&m->contexts);
    free(m);
}

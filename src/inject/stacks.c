// SPDX-License-Identifier: Apache-2.0
#include "inject/stacks.h"

#include "engines/core/host_pc.h"
#include "findings/stack_record.h"
#include "inject/python.h"
#include "inject/session.h"
#include "inject/unwind.h"

#include <stdlib.h>
#include <string.h>

// A stack that was seen. Nothing goes, so threads need no lock.
typedef struct Stack {
    struct Stack *next;
    uint64_t hash, process; // process: whose records have it
    uint32_t number;
    size_t size;
    char key[]; // the return addresses, then what Python says
} Stack;

enum { BUCKETS = 1 << 12, MOST = 1 << 16 };
static Stack *buckets[BUCKETS]; // atomic
static uint32_t numbers;        // atomic

static __thread uint32_t here;

uint32_t gr_stack_here(void) { return here; }
uint32_t gr_stacks(void) { return __atomic_load_n(&numbers, __ATOMIC_RELAXED); }
void gr_stack_end(void) { here = 0; }

// ---- The record -------------------------------------------------------------------------------------------

static bool is_between(const char *object) {
    const char *name = strrchr(object, '/');
    name = name ? name + 1 : object;
    return !strncmp(name, "libgpurace", 10) || !strncmp(name, "libcuda.so", 10) ||
           !strncmp(name, "libcudart.so", 12);
}

// The function that the call in front of this return address goes to, through the linkage table if need be. 0: the
// instruction is none of the usual ones.
static uintptr_t called_before(uintptr_t pc) {
#ifdef __x86_64__
    const uint8_t *p = (const uint8_t *)pc;
    int32_t by;
    uintptr_t to;
    memcpy(&by, p - 4, sizeof by);
    if (p[-6] == 0xff && p[-5] == 0x15) // call *by(%rip)
        return *(const uintptr_t *)(pc + (uintptr_t)(intptr_t)by);
    if (p[-5] != 0xe8)
        return 0;
    to = pc + (uintptr_t)(intptr_t)by;
    p = (const uint8_t *)to;
    p += p[0] == 0xf3 && p[1] == 0x0f && p[2] == 0x1e && p[3] == 0xfa ? 4 : 0; // endbr64
    p += p[0] == 0xf2;                                                         // bnd
    if (p[0] != 0xff || p[1] != 0x25)                                          // jmp *by(%rip)
        return to;
    memcpy(&by, p + 2, sizeof by);
    return *(const uintptr_t *)((uintptr_t)p + 6 + (uintptr_t)(intptr_t)by);
#else
    (void)pc;
    return 0;
#endif
}

static GrStackCall call_at(uintptr_t pc, StrBuf *symbol) {
    GrHostPc of = gr_host_pc(pc, symbol);
    return (GrStackCall){.object = of.object, .symbol = symbol->data, .at = of.at};
}

// The next line of what Python printed, taken apart in place. NULL: there is none.
static char *next_python(char *text, GrStackCall *out) {
    static const char begins[] = "  File \"", middle[] = "\", line ";
    char *file = text ? strstr(text, begins) : NULL, *end = file ? strchr(file, '\n') : NULL;
    if (!end)
        return NULL;
    *end = 0;
    file += strlen(begins);
    char *line = strstr(file, middle), *in = line ? strstr(line, " in ") : NULL;
    if (!in)
        return NULL;
    *line = 0;
    *out = (GrStackCall){file, in + strlen(" in "), strtoul(line + strlen(middle), NULL, 10), 1};
    return end + 1;
}

// `python`: what Python printed, which is taken apart.
static void write_record(const char *entry, uint32_t number, const GrUnwound *u, char *python) {
    StrBuf names[GR_STACK_CALLS + 1] = {{0}}, b = {0};
    GrStackInfo *s = calloc(1, sizeof *s);
    if (!s) {
        gr_results_count_dropped(&gr_session.results);
        return;
    }
    s->number = number;
    s->entry = entry;
    for (unsigned k = 0; k < u->n && s->n < GR_STACK_CALLS; k++) {
        uintptr_t at = u->pc[k] - 1; // the call, not what comes behind it
        if (gr_python_has((const void *)at))
            break;
        s->calls[s->n] = call_at(at, &names[s->n]);
        if (!s->calls[s->n].object || is_between(s->calls[s->n].object)) {
            gr_str_free(&names[s->n]);
            continue;
        }
        uintptr_t to = s->n ? 0 : called_before(u->pc[k]);
        if (to)
            s->called = call_at(to, &names[GR_STACK_CALLS]);
        s->n++;
    }
    while (s->n < GR_STACK_CALLS && (python = next_python(python, &s->calls[s->n])))
        s->n++;
    gr_stack_write(s, &b);
    gr_results_append(&gr_session.results, GR_RECORD_STACK, &b);
    gr_str_free(&b);
    for (unsigned k = 0; k <= GR_STACK_CALLS; k++)
        gr_str_free(&names[k]);
    free(s);
}

// ---- Numbers ----------------------------------------------------------------------------------------------

// What a stack is told from others by.
typedef struct Key {
    const GrUnwound *native;
    const char *python; // what Python printed, `said` bytes
    size_t said;
} Key;

static bool is_of(const Stack *s, uint64_t hash, const Key *k) {
    size_t size = k->native->n * sizeof *k->native->pc;
    return s->hash == hash && s->size == size + k->said && !memcmp(s->key, k->native->pc, size) &&
           !memcmp(s->key + size, k->python, k->said);
}

static Stack *find(Stack *from, const Stack *until, uint64_t hash, const Key *k) {
    while (from != until && !is_of(from, hash, k))
        from = from->next;
    return from != until ? from : NULL;
}

static Stack *new_stack(uint64_t hash, const Key *k) {
    size_t size = k->native->n * sizeof *k->native->pc;
    bool room = __atomic_load_n(&numbers, __ATOMIC_RELAXED) < MOST;
    Stack *s = room ? malloc(sizeof *s + size + k->said) : NULL;
    if (!s)
        return NULL;
    *s = (Stack){
        .hash = hash, .number = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED), .size = size + k->said};
    memcpy(s->key, k->native->pc, size);
    memcpy(s->key + size, k->python, k->said);
    return s;
}

// NULL: there is no room for more.
static Stack *find_or_add(const Key *k) {
    uint64_t hash = k->said ? gr_hash_bytes(k->python, k->said) : 0;
    for (unsigned n = 0; n < k->native->n; n++)
        hash = (hash ^ k->native->pc[n]) * UINT64_C(0x9E3779B97F4A7C15);
    Stack **bucket = &buckets[hash >> 52], *head = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
    Stack *s = find(head, NULL, hash, k);
    if (s || !(s = new_stack(hash, k)))
        return s;
    do { // another thread may have added the same
        Stack *other = find(head, s->next, hash, k);
        if (other) {
            free(s);
            return other;
        }
        s->next = head;
    } while (!__atomic_compare_exchange_n(bucket, &head, s, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return s;
}

// `python` ends with a NUL, and may be taken apart.
static uint32_t number_of(const char *entry, const GrUnwound *u, char *python, size_t said) {
    Stack *s = find_or_add(&(Key){u, python, said});
    uint64_t process = gr_session.results.process; // a child of fork has its parent's stacks, and no records
    if (s && __atomic_exchange_n(&s->process, process, __ATOMIC_RELAXED) != process)
        write_record(entry, s->number, u, python);
    return s ? s->number : 0;
}

// Not inlined: only where there is Python the stack needs the room.
static __attribute__((noinline)) uint32_t number_with_python(const char *entry, const GrUnwound *u) {
    char python[8192];
    size_t said = gr_python_stack(python, sizeof python - 1);
    python[said] = 0;
    return number_of(entry, u, python, said);
}

void gr_stack_begin(const char *entry, const void *frame) {
    GrUnwound u;
    char none[] = "";
    here = 0;
    if (!(gr_session.engine->caps & CAP_CHECKS))
        return;
    bool walked = gr_unwind(frame, &u);
    bool python = walked ? gr_python_is_known() : gr_python_find();
    here = python ? number_with_python(entry, &u) : number_of(entry, &u, none, 0);
}

// SPDX-License-Identifier: Apache-2.0
// Names and values, as people read them.
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Numba tells instances of a Python function apart by tags: "__main__::f[abi:v1][abi:c…](…)" is f(…), and what a
// function holds is "g::_3clocals_3e::f". NULL: out of memory. Of other names nothing changes.
static const char *python_name(const char *full, Arena *arena) {
    static const char *const left_out[] = {"__main__::", "_3clocals_3e::"};
    if (!full || !strstr(full, "[abi:v"))
        return full;
    char *out = gr_arena_strdup(arena, full), *to = out;
    for (const char *p = out; p && *p;) {
        size_t skip = !strncmp(p, "[abi:", 5) ? strcspn(p, "]") + 1 : 0;
        for (size_t k = 0; k < sizeof left_out / sizeof *left_out; k++)
            if (!strncmp(p, left_out[k], strlen(left_out[k])))
                skip = strlen(left_out[k]);
        if (!skip)
            *to++ = *p++;
        else
            p += strnlen(p, skip);
    }
    if (to)
        *to = 0;
    return out;
}

const char *gr_short_name(const char *name, Arena *arena) {
    enum { LONGEST = 100 };
    const char *full = python_name(gr_demangle(name, arena), arena);
    if (!full || strlen(full) <= LONGEST)
        return full;
    char *out = gr_arena_alloc(arena, 2 * strlen(full) + 8), *q = out;
    if (!out)
        return full;
    // Template arguments and parameters become <...> and (...); "(anonymous namespace)" and operators keep theirs.
    int depth = 0;
    for (const char *p = full; *p; p++) {
        bool opens = *p == '<' || (*p == '(' && strncmp(p, "(anonymous", 10)),
             closes = *p == '>' || *p == ')';
        if (closes && depth && --depth == 0)
            q += sprintf(q, "...%c", *p);
        else if (!depth)
            *q++ = *p;
        depth += opens;
    }
    return depth == 0 ? out : full; // operator< and the like: not worth a parser
}

// By how much the character opens or closes brackets.
static int bracket(char c) { return strchr("(<{", c) ? 1 : strchr(")>}", c) ? -1 : 0; }

// Where the parameters of a function begin: the last "(" that is in no other brackets.
static size_t parameters_at(const char *name) {
    size_t at = strlen(name);
    int depth = 0;
    for (size_t k = 0; name[k]; k++) {
        int by = bracket(name[k]);
        if (name[k] == '(' && !depth)
            at = k;
        depth += by > 0 || depth ? by : 0;
    }
    bool whole = !strncmp(name + at, "(anonymous", 10); // as in "(anonymous namespace)::x"
    return whole ? strlen(name) : at;
}

const char *gr_plain_name(const char *name, Arena *arena) {
    const char *full = gr_demangle(name, arena);
    if (!full)
        return NULL;
    size_t n = parameters_at(full), from = 0;
    int depth = 0;
    for (size_t k = 0; k < n; k++) {
        int by = bracket(full[k]);
        depth += by > 0 || depth ? by : 0;
        if (full[k] == ' ' && !depth)
            from = k + 1; // behind the type of what is returned
    }
    return gr_arena_strndup(arena, full + from, n - from);
}

const char *gr_variable_name(const char *name, Arena *arena) {
    const char *full = gr_demangle(name, arena), *last = full;
    int depth = 0;
    for (const char *p = full; p && *p; p++) {
        depth += (*p == '(' || *p == '<') - (*p == ')' || *p == '>');
        if (!depth && p[0] == ':' && p[1] == ':' && p[2])
            last = p + 2;
    }
    return last;
}

typedef struct Named {
    const char *shortened, *full;
    size_t number;
} Named;

static int compare_named(const void *a, const void *b) {
    const Named *x = a, *y = b;
    int d = strcmp(x->shortened, y->shortened);
    return d ? d : strcmp(x->full, y->full);
}

// Where two texts become different.
static size_t common(const char *a, const char *b) {
    size_t n = 0;
    while (a[n] && a[n] == b[n])
        n++;
    return n;
}

// The short name, and the part of the full one in which it is another than its neighbour of the same short name.
static const char *tell(const Named *n, const Named *neighbour, Arena *arena) {
    enum { BEFORE = 24, LENGTH = 96 };
    if (!strcmp(n->full, neighbour->full))
        return n->shortened;
    size_t at = common(n->full, neighbour->full), all = strlen(n->full);
    size_t from = at > BEFORE ? at - BEFORE : 0;
    return gr_arena_printf(arena, "%s with %s%.*s%s", n->shortened, from ? "..." : "", (int)LENGTH,
                           n->full + from, from + LENGTH < all ? "..." : "");
}

const char *const *gr_telling_names(const char *const *names, size_t n, Arena *arena) {
    Named *all = GR_NEW_ARRAY(arena, Named, n + 1);
    const char **out = GR_NEW_ARRAY(arena, const char *, n + 1);
    if (!all || !out)
        return NULL;
    for (size_t k = 0; k < n; k++) {
        all[k] = (Named){gr_short_name(names[k], arena), gr_demangle(names[k], arena), k};
        if (!all[k].shortened || !all[k].full)
            return NULL;
    }
    qsort(all, n, sizeof *all, compare_named);
    for (size_t k = 0; k < n; k++) {
        const Named *x = &all[k], *other = NULL;
        if (k && !strcmp(x->shortened, all[k - 1].shortened))
            other = &all[k - 1];
        else if (k + 1 < n && !strcmp(x->shortened, all[k + 1].shortened))
            other = &all[k + 1];
        out[x->number] = other ? tell(x, other, arena) : x->shortened;
        if (!out[x->number])
            return NULL;
    }
    return out;
}

// ---- values ----------------------------------------------------------------------------------------------

static void add_float(double v, int digits, StrBuf *out) {
    // Bit patterns of integers look like denormals or huge numbers: those say nothing.
    if (v == 0 || !isfinite(v) || fabs(v) < 1e-20 || fabs(v) > 1e20)
        return;
    gr_str_addf(out, ", as a float %.*g", digits, v);
}

void gr_value_text(const uint8_t *bytes, uint32_t size, StrBuf *out) {
    gr_str_add(out, "0x");
    for (uint32_t i = size; i-- > 0;)
        gr_str_addf(out, "%02x", bytes[i]);
    if (size > 8)
        return;
    uint64_t v = 0;
    memcpy(&v, bytes, size);
    gr_str_addf(out, " (%llu", (unsigned long long)v);
    if (size == 4) {
        float f;
        memcpy(&f, bytes, sizeof f);
        add_float((double)f, 9, out);
    } else if (size == 8) {
        double d;
        memcpy(&d, bytes, sizeof d);
        add_float(d, 17, out);
    }
    gr_str_addc(out, ')');
}

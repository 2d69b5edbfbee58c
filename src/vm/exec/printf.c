// SPDX-License-Identifier: Apache-2.0
// printf — vprintf's formatting (CUDA C++ Programming Guide, "Formatted Output"): flags, width, precision and
// size as in C, %n excepted. Every conversion is handed to the host's snprintf with exactly one value of the
// right type.
//
// What is no conversion is printed as it is, as an H200 does (driver 580.159.04): %zu, %jd, %td, %Lf, %n, %5%, and a
// precision given by an argument (%.*f), though a width may be (%*d).
#include "vm/exec/printf.h"

#include "vm/core/exec_mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_ARGS = 32,
    // Characters of a width or precision. CUDA has no limit: %999999999d writes a gigabyte there, for each thread.
    MAX_FIELD = 1 << 16,
    // What a call takes of CUDA's buffer: the format's address and each argument, in words of 8 bytes.
    ROUND = 8,
};

static const char conversions[] = "diuoxXcpsfFeEgGaA";

typedef struct Args {
    VmWarp *w;
    unsigned lane;
    uint64_t at;
    int count;
    uint64_t cost;
    uint64_t bad; // a string's address that is none; 0: all are good
} Args;

// Arguments that were never passed read as zero.
static uint64_t next_arg(Args *a, unsigned size) {
    uint64_t v = 0;
    a->at = (a->at + size - 1) & ~(uint64_t)(size - 1);
    const void *p = a->count < MAX_ARGS ? gr_vm_generic(a->w, a->lane, a->at, size) : NULL;
    if (p)
        memcpy(&v, p, size);
    a->at += size;
    a->count += a->count < MAX_ARGS;
    a->cost += ROUND;
    return v;
}

typedef struct Spec {
    char text[40]; // "%-08.3": without size and conversion
    char size;     // 0, 'h', 'H' (hh), 'l' (and ll)
} Spec;

static unsigned parse_number(const char **p) {
    unsigned n = 0;
    for (; **p >= '0' && **p <= '9'; ++*p)
        n = n < MAX_FIELD ? n * 10 + (unsigned)(**p - '0') : MAX_FIELD;
    return n < MAX_FIELD ? n : MAX_FIELD;
}

// Parses flags, width, precision and size; yields where the conversion character is. Takes arguments only if there is
// one.
static const char *parse_spec(const char *p, Args *a, Spec *s) {
    static const char flags[] = "-+ #0";
    bool set[sizeof flags] = {false}, by_arg = false;
    unsigned width = 0, precision = 0;
    for (const char *f; *p && (f = strchr(flags, *p)); p++)
        set[f - flags] = true;
    if (*p == '*') {
        by_arg = true;
        p++;
    } else
        width = parse_number(&p);
    bool precise = *p == '.';
    if (precise) {
        p++;
        precision = parse_number(&p);
    }
    s->size = 0;
    for (; (*p == 'h' && s->size != 'H' && s->size != 'l') || (*p == 'l' && s->size != 'h' && s->size != 'H');
         p++)
        s->size = *p == 'h' ? (s->size == 'h' ? 'H' : 'h') : 'l';
    if (by_arg && *p && strchr(conversions, *p)) {
        int64_t v = (int32_t)next_arg(a, 4);
        set[0] |= v < 0;
        v = v < 0 ? -v : v;
        width = v < MAX_FIELD ? (unsigned)v : MAX_FIELD;
    }
    char *to = s->text;
    *to++ = '%';
    for (unsigned k = 0; k < sizeof flags - 1; k++)
        if (set[k])
            *to++ = flags[k];
    if (width)
        to += snprintf(to, 8, "%u", width);
    if (precise)
        snprintf(to, 8, ".%u", precision);
    else
        *to = 0;
    return p;
}

static void put(StrBuf *out, const char *format, ...) __attribute__((format(printf, 2, 0)));
static void put(StrBuf *out, const char *format, ...) {
    char small[512], *text = small;
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(small, sizeof small, format, ap);
    va_end(ap);
    if (n >= (int)sizeof small && (text = malloc((size_t)n + 1))) {
        va_start(ap, format);
        n = vsnprintf(text, (size_t)n + 1, format, ap);
        va_end(ap);
    }
    if (n > 0 && text)
        gr_str_addn(out, text, (size_t)n);
    if (text != small)
        free(text);
}

static void add_chars(Spec *s, const char *chars) { strcat(s->text, chars); }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put_integer(StrBuf *out, Spec *s, Args *a, char conv) {
    uint64_t v = next_arg(a, s->size == 'l' ? 8 : 4);
    bool is_signed = conv == 'd' || conv == 'i';
    if (s->size == 0)
        v = is_signed ? (uint64_t)(int64_t)(int32_t)v : (uint32_t)v;
    else if (s->size == 'h')
        v = is_signed ? (uint64_t)(int64_t)(int16_t)v : (uint16_t)v;
    else if (s->size == 'H')
        v = is_signed ? (uint64_t)(int64_t)(int8_t)v : (uint8_t)v;
    add_chars(s, (const char[]){'l', 'l', conv, 0});
    put(out, s->text, (long long)v);
}

static void put_value(StrBuf *out, Spec *s, Args *a, char conv) {
    switch (conv) {
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X': put_integer(out, s, a, conv); break;
    case 'c':
        add_chars(s, (const char[]){conv, 0});
        put(out, s->text, (int)next_arg(a, 4));
        break;
    case 'p': { // as CUDA: 0x and digits, (nil) for none
        add_chars(s, (const char[]){conv, 0});
        put(out, s->text, (void *)(uintptr_t)next_arg(a, 8));
        break;
    }
    case 's': {
        uint64_t at = next_arg(a, 8);
        const char *text = at ? gr_vm_generic_string(a->w, a->lane, at) : "(null)";
        add_chars(s, (const char[]){conv, 0});
        if (!text)
            a->bad = at;
        a->cost += text ? (strlen(text) + ROUND) / ROUND * ROUND : 0;
        put(out, s->text, text ? text : "");
        break;
    }
    default: { // a floating-point conversion
        uint64_t bits = next_arg(a, 8);
        double v;
        memcpy(&v, &bits, 8);
        add_chars(s, (const char[]){conv, 0});
        put(out, s->text, v);
    }
    }
}
#pragma GCC diagnostic pop

int gr_vm_format(VmWarp *w, unsigned lane, const char *format, uint64_t args, StrBuf *out, uint64_t *cost,
                 uint64_t *bad) {
    Args a = {.w = w, .lane = lane, .at = args, .cost = ROUND};
    for (const char *p = format; *p;) {
        size_t plain = strcspn(p, "%");
        gr_str_addn(out, p, plain);
        p += plain;
        if (!*p)
            break;
        if (p[1] == '%') {
            gr_str_addc(out, '%');
            p += 2;
            continue;
        }
        Spec s;
        const char *end = parse_spec(p + 1, &a, &s);
        if (*end && strchr(conversions, *end)) {
            put_value(out, &s, &a, *end);
            p = end + 1;
        } else { // not a conversion: printed as it is
            gr_str_addn(out, p, (size_t)(end - p) + (*end != 0));
            p = end + (*end != 0);
        }
    }
    *cost = a.cost;
    *bad = a.bad;
    return a.count;
}

// SPDX-License-Identifier: Apache-2.0
// printf — vprintf's formatting (CUDA C++ Programming Guide, "Formatted Output"): flags, width, precision and
// size as in C, %n excepted. Every conversion is handed to the host's snprintf with exactly one value of the
// right type.
#include "vm/printf.h"

#include "vm/exec_mem.h"
#include "vm/warp.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ARGS = 32 };

typedef struct Args {
    VmWarp *w;
    unsigned lane;
    uint64_t at;
    int count;
    bool bad;
} Args;

static uint64_t next_arg(Args *a, unsigned size) {
    uint64_t v = 0;
    a->at = (a->at + size - 1) & ~(uint64_t)(size - 1);
    const void *p = a->count < MAX_ARGS ? gr_vm_generic(a->w, a->lane, a->at, size) : NULL;
    if (p)
        memcpy(&v, p, size);
    else
        a->bad = true;
    a->at += size;
    a->count++;
    return v;
}

typedef struct Spec {
    char text[64]; // "%-08.3": without size and conversion
    size_t len;
    char size; // 0, 'h', 'H' (hh), 'l' (and ll, j, z, t, all 64 bits), 'L'
} Spec;

static void add_char(Spec *s, char c) {
    if (s->len + 1 < sizeof s->text)
        s->text[s->len++] = c;
    s->text[s->len] = 0;
}

// Flags, width, precision, size: yields where the conversion character is.
static const char *parse_spec(const char *p, Args *a, Spec *s) {
    memset(s, 0, sizeof *s);
    add_char(s, '%');
    while (*p && strchr("-+ #0123456789.*", *p)) {
        if (*p == '*') {
            char number[16];
            int v = (int)next_arg(a, 4);
            snprintf(number, sizeof number, "%d", v);
            for (const char *n = number; *n; n++)
                add_char(s, *n);
        } else
            add_char(s, *p);
        p++;
    }
    while (*p && strchr("hlLjzt", *p)) {
        s->size = *p == 'h' ? (s->size == 'h' ? 'H' : 'h') : *p == 'L' ? 'L' : 'l';
        p++;
    }
    return p;
}

// The host's printf may take any width: keep the text bounded.
static void put(StrBuf *out, const char *format, ...) __attribute__((format(printf, 2, 0)));
static void put(StrBuf *out, const char *format, ...) {
    char buf[4096];
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(buf, sizeof buf, format, ap);
    va_end(ap);
    if (n > 0)
        gr_str_addn(out, buf, (size_t)n < sizeof buf ? (size_t)n : sizeof buf - 1);
}

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
    add_char(s, 'l');
    add_char(s, 'l');
    add_char(s, conv);
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
        add_char(s, conv);
        put(out, s->text, (int)next_arg(a, 4));
        break;
    case 'p': { // as CUDA: 0x and digits, (nil) for none
        add_char(s, conv);
        put(out, s->text, (void *)(uintptr_t)next_arg(a, 8));
        break;
    }
    case 's': {
        uint64_t at = next_arg(a, 8);
        const char *text = at ? gr_vm_generic_string(a->w, a->lane, at) : "(null)";
        add_char(s, conv);
        a->bad |= !text;
        put(out, s->text, text ? text : "(bad pointer)");
        break;
    }
    default: { // a floating-point conversion
        uint64_t bits = next_arg(a, 8);
        double v;
        memcpy(&v, &bits, 8);
        add_char(s, conv);
        put(out, s->text, v);
    }
    }
}
#pragma GCC diagnostic pop

int gr_vm_format(VmWarp *w, unsigned lane, const char *format, uint64_t args, StrBuf *out) {
    Args a = {.w = w, .lane = lane, .at = args};
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
        if (*end && strchr("diuoxXcpsfFeEgGaA", *end)) {
            put_value(out, &s, &a, *end);
            p = end + 1;
        } else { // not a conversion: printed as it is
            gr_str_addn(out, p, (size_t)(end - p) + (*end != 0));
            p = end + (*end != 0);
        }
    }
    return a.bad ? -1 : a.count;
}

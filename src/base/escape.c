// SPDX-License-Identifier: Apache-2.0
#include "base/escape.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// RFC 3629: no longer than it must be, no surrogate, nothing beyond U+10FFFF.
size_t gr_utf8_char(const char *text, size_t len, uint32_t *c) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = len ? (unsigned char)*text : 0xff;
    size_t n = first < 0x80   ? 1
               : first < 0xc2 ? 0
               : first < 0xe0 ? 2
               : first < 0xf0 ? 3
               : first < 0xf5 ? 4
                              : 0;
    if (!n || n > len)
        return 0;
    *c = n == 1 ? first : first & (0x7fu >> n);
    for (size_t k = 1; k < n; k++) {
        if (((unsigned char)text[k] & 0xc0) != 0x80)
            return 0;
        *c = *c << 6 | ((unsigned char)text[k] & 0x3f);
    }
    return *c < least[n] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000) ? 0 : n;
}

bool gr_is_hidden(uint32_t c) {
    static const struct {
        uint32_t first, last;
    } hidden[] = {
        {0, 0x1f},          {0x7f, 0x9f},     // C0, DEL and C1
        {0xad, 0xad},       {0x61c, 0x61c},   // soft hyphen, Arabic letter mark
        {0x180e, 0x180e},   {0x200b, 0x200f}, // of no width; marks of direction
        {0x2028, 0x202e},   {0x2060, 0x206f}, // separators, embeddings and overrides; isolates
        {0xfdd0, 0xfdef},   {0xfeff, 0xfeff}, // no characters; byte order mark
        {0xfff9, 0xfffb},   {0xfffe, 0xffff}, // interlinear annotations; no characters
        {0xe0000, 0xe0fff},                   // tags
    };
    for (size_t k = 0; k < sizeof hidden / sizeof *hidden; k++)
        if (c >= hidden[k].first && c <= hidden[k].last)
            return true;
    return (c & 0xfffe) == 0xfffe;
}

size_t gr_escape_char(const char *text, size_t len, char out[GR_ESCAPED_ROOM]) {
    uint32_t c = 0;
    size_t n = gr_utf8_char(text, len, &c);
    if (!n || (c < 0x80 && gr_is_hidden(c)))
        snprintf(out, GR_ESCAPED_ROOM, "\\x%02x", (unsigned)(unsigned char)*text);
    else if (gr_is_hidden(c))
        snprintf(out, GR_ESCAPED_ROOM, c < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)c);
    else
        snprintf(out, GR_ESCAPED_ROOM, "%.*s", (int)n, text);
    return n ? n : 1;
}

static void add_escaped(const char *text, size_t len, StrBuf *out) {
    char as[GR_ESCAPED_ROOM];
    for (size_t k = 0; k < len;) {
        size_t plain = k;
        while (plain < len && text[plain] >= ' ' && text[plain] < 0x7f)
            plain++;
        gr_str_addn(out, text + k, plain - k);
        if ((k = plain) == len)
            break;
        k += gr_escape_char(text + k, len - k, as);
        gr_str_add(out, as);
    }
}

void gr_add_escaped(const char *text, StrBuf *out) { add_escaped(text, strlen(text), out); }

// Appends a conversion other than %s. False: it is not known.
static bool add_number(const char *spec, size_t n, va_list *words, StrBuf *out) {
    char fmt[16];
    if (n >= sizeof fmt)
        return false;
    memcpy(fmt, spec, n);
    fmt[n] = 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (strstr(fmt, "ll"))
        gr_str_addf(out, fmt, va_arg(*words, unsigned long long));
    else if (strchr(fmt, 'z'))
        gr_str_addf(out, fmt, va_arg(*words, size_t));
    else
        gr_str_addf(out, fmt, va_arg(*words, unsigned));
#pragma GCC diagnostic pop
    return true;
}

void gr_escaped_addf(StrBuf *out, const char *fmt, ...) {
    va_list words;
    va_start(words, fmt);
    for (const char *p = fmt; *p;) {
        size_t literal = strcspn(p, "%");
        gr_str_addn(out, p, literal);
        p += literal;
        if (!*p)
            break;
        if (p[1] == '%') {
            gr_str_addc(out, '%');
            p += 2;
        } else if (p[1] == 's' || !strncmp(p, "%.*s", 4)) {
            size_t most = p[1] == 's' ? SIZE_MAX : (size_t)va_arg(words, int);
            const char *text = va_arg(words, const char *);
            text = text ? text : "(null)";
            add_escaped(text, most == SIZE_MAX ? strlen(text) : strnlen(text, most), out);
            p += p[1] == 's' ? 2 : 4;
        } else {
            size_t n = 1 + strcspn(p + 1, "cudxX") + 1;
            if (!add_number(p, n, &words, out))
                break;
            p += n;
        }
    }
    va_end(words);
}

void gr_add_utf8(const char *text, StrBuf *out) {
    for (size_t len = strlen(text), n; len; text += n, len -= n) {
        uint32_t c;
        n = gr_utf8_char(text, len, &c);
        if (n) {
            gr_str_addn(out, text, n);
        } else {
            gr_str_addf(out, "\\x%02x", (unsigned)(unsigned char)*text);
            n = 1;
        }
    }
}

void gr_add_columns(const char *text, size_t len, size_t most, StrBuf *out) {
    for (size_t k = 0; k < len && most--;) {
        uint32_t c;
        size_t n = gr_utf8_char(text + k, len - k, &c);
        if (text[k] == '\t' || !n || gr_is_hidden(c))
            gr_str_addc(out, text[k] == '\t' ? ' ' : '?');
        else
            gr_str_addn(out, text + k, n);
        k += n ? n : 1;
    }
}

size_t gr_columns(const char *text, size_t len, size_t at) {
    size_t columns = 0;
    for (size_t k = 0; k < len && k < at; columns++) {
        uint32_t c;
        size_t n = gr_utf8_char(text + k, len - k, &c);
        k += n ? n : 1;
    }
    return columns + (at > len ? at - len : 0);
}

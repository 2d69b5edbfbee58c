// SPDX-License-Identifier: Apache-2.0
// Lines of the text report, broken so that they fit a terminal.
#include "report/write/text_internal.h"

#include <stdlib.h>
#include <string.h>

// The bytes of a character, or of a code that paints and takes no column. `columns`: what it takes.
static size_t step(const char *p, unsigned *columns) {
    if (*p == '\033' && p[1] == '[') {
        *columns = 0;
        size_t n = strcspn(p, "m");
        return p[n] ? n + 1 : n;
    }
    size_t n = 1;
    while (((unsigned char)p[n] & 0xc0) == 0x80)
        n++;
    *columns = 1;
    return n;
}

// A line of source: "  >    17 |     x = y;", with or without colour, the caret below it, or a line of an edit.
static bool is_source(const char *line, const char *end) {
    const char *bar = memchr(line, '|', (size_t)(end - line));
    for (const char *p = line; bar && p < bar;) {
        unsigned columns;
        size_t n = step(p, &columns);
        if (columns && !strchr(" >+-0123456789", *p))
            return false;
        p += n;
    }
    return bar != NULL;
}

// The command that repeats a run is there to be copied.
static bool is_command(const char *line) {
    return !strncmp(line, "  again     ", 12) || !strncmp(line, "    again: ", 11);
}

// How far continuations are indented: behind a word of the coverage ("  kernels   "), else a bit more than the line.
static unsigned indent_of(const char *line) {
    unsigned blanks = (unsigned)strspn(line, " "), word = (unsigned)strcspn(line + blanks, " "),
             more = (unsigned)strspn(line + blanks + word, " ");
    return blanks == 2 && more && blanks + word + more == 12 ? 12 : blanks + 4;
}

static void break_line(const char *line, const char *end, unsigned width, StrBuf *out) {
    unsigned column = 0, indent = indent_of(line);
    for (const char *p = line; p < end;) {
        // A word, with the blanks before it.
        size_t blanks = 0, n;
        while (p + blanks < end && p[blanks] == ' ')
            blanks++;
        unsigned columns = 0, one;
        for (n = blanks; p + n < end && p[n] != ' '; n += step(p + n, &one), columns += one) {
        }
        bool first = column == 0;
        if (!first && column + blanks + columns > width && columns) {
            gr_str_addf(out, "\n%*s", (int)indent, "");
            gr_str_addn(out, p + blanks, n - blanks);
            column = indent + columns;
        } else {
            gr_str_addn(out, p, n);
            column += (unsigned)blanks + columns;
        }
        p += n;
    }
}

void gr_text_break(StrBuf *out, size_t from, unsigned width) {
    enum { NARROWEST = 40 };
    StrBuf lines = {0};
    width = width < NARROWEST ? NARROWEST : width;
    for (const char *p = out->data ? out->data + from : ""; *p;) {
        const char *end = p + strcspn(p, "\n");
        if (*p == '=') // the line between two races
            gr_str_addn(&lines, p, (size_t)(end - p) < width ? (size_t)(end - p) : width);
        else if (is_source(p, end) || is_command(p))
            gr_str_addn(&lines, p, (size_t)(end - p));
        else
            break_line(p, end, width, &lines);
        if (*end)
            gr_str_addc(&lines, '\n');
        p = end + (*end != 0);
    }
    if (!lines.oom && lines.data) {
        out->len = from;
        gr_str_addn(out, lines.data, lines.len);
    }
    gr_str_free(&lines);
}

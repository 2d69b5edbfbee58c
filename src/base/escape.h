// SPDX-License-Identifier: Apache-2.0
// escape — text that came from elsewhere (names of files and functions, what a report read from a file says), as text
// that does nothing but stand where it is put. Such text may hold anything: codes that steer a terminal, line breaks
// that begin a line of their own, characters that turn the direction of what follows, bytes that are no UTF-8.
//
// What cannot be shown is written as \xNN (a byte that is no UTF-8, or an ASCII control character), \uNNNN or
// \UNNNNNNNN. A backslash stays one: what comes out is for reading, not for turning back. So what was escaped stays as
// it is when it is escaped again.
#ifndef GR_BASE_ESCAPE_H
#define GR_BASE_ESCAPE_H

#include "base/str.h"

// The bytes of the character at the start of text[0 .. len), and the character; 0: the first byte is no UTF-8.
size_t gr_utf8_char(const char *text, size_t len, uint32_t *c);

// A control or format character, one that ends a line or turns the direction of writing, or no character at all.
bool gr_is_hidden(uint32_t c);

// The bytes of text[0 .. len) that are taken, and what they become (terminated): themselves or an escape.
enum { GR_ESCAPED_ROOM = 12 };
size_t gr_escape_char(const char *text, size_t len, char out[GR_ESCAPED_ROOM]);

// Appends the text, in one line.
void gr_add_escaped(const char *text, StrBuf *out);

// Appends by printf's rules, with every %s escaped. Knows %s, %.*s, %c, %u, %zu, %llu, %llx, %02X and %%.
void gr_escaped_addf(StrBuf *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

// Appends the text with its lines and hidden characters, as UTF-8: only bytes that are none are escaped.
void gr_add_utf8(const char *text, StrBuf *out);

// Appends at most `most` characters of a source line, one column each, so that a caret below fits: '?' for what cannot
// be shown, a blank for a tab.
void gr_add_columns(const char *text, size_t len, size_t most, StrBuf *out);

// The columns before byte `at` of the line.
size_t gr_columns(const char *text, size_t len, size_t at);

#endif

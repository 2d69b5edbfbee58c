// SPDX-License-Identifier: Apache-2.0
// Text that came from elsewhere: each byte, each character and each surrogate comes out as one line of what can be
// shown.
#include "base/escape.h"
#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

// What `text` becomes; freed by the next call.
static const char *escaped(const char *text) {
    static StrBuf out;
    out.len = 0;
    gr_str_add(&out, "");
    gr_add_escaped(text, &out);
    return out.data;
}

// A code point in the form of UTF-8, as UTF-8 has none for surrogates.
static void encode(uint32_t c, char out[5]) {
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    memset(out, 0, 5);
    for (size_t k = n; k-- > 1; c >>= 6)
        out[k] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(n == 1 ? c : (0xf00u >> n & 0xff) | c);
}

static void assert_shown(const char *text, const char *of) {
    for (size_t len = strlen(text), n; len; text += n, len -= n) {
        uint32_t c = 0;
        n = gr_utf8_char(text, len, &c);
        if (!n || gr_is_hidden(c))
            fail_msg("'%s' of %02x %02x %02x", text, (unsigned)(of[0] & 0xff), (unsigned)(of[1] & 0xff),
                     (unsigned)(of[2] & 0xff));
    }
}

static void bytes_are_escaped(void **state) {
    (void)state;
    for (unsigned b = 1; b < 256; b++) {
        char text[2] = {(char)b, 0}, as[8];
        snprintf(as, sizeof as, b < ' ' || b > '~' ? "\\x%02x" : "%c", b);
        assert_string_equal(escaped(text), as);
    }
    for (unsigned a = 0x80; a < 256; a++) // whatever comes next
        for (unsigned b = 1; b < 256; b++) {
            char text[4] = {(char)a, (char)b, 'x', 0};
            assert_shown(escaped(text), text);
            assert_int_equal(escaped(text)[strlen(escaped(text)) - 1], 'x');
        }
}

static void characters_are_shown_or_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *as;
    } some[] = {
        {"größe", "größe"},          {"\xe2\x80\xa8", "\\u2028"},
        {"\xe2\x80\xae", "\\u202e"}, {"\xe2\x81\xa6", "\\u2066"},
        {"\xc2\x9b", "\\u009b"},     {"\xf3\xa0\x81\x81", "\\U000e0041"},
        {"\xef\xbf\xbf", "\\uffff"}, {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
        {"\xc0\xaf", "\\xc0\\xaf"},  {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
        {"\xe2\x82", "\\xe2\\x82"},  {"a\nb\r\x1b[2J", "a\\x0ab\\x0d\\x1b[2J"},
        {"C:\\x1b", "C:\\x1b"},      {"", ""},
    };
    for (size_t k = 0; k < sizeof some / sizeof *some; k++)
        assert_string_equal(escaped(some[k].text), some[k].as);
    for (uint32_t c = 1; c < 0x110000; c += c < 0x11000 ? 1 : 257) {
        char text[5], once[80];
        encode(c, text);
        snprintf(once, sizeof once, "%s", escaped(text));
        assert_shown(once, text);
        assert_string_equal(escaped(once), once);
        bool surrogate = c >= 0xd800 && c < 0xe000;
        assert_int_equal(strcmp(once, text) == 0, !surrogate && !gr_is_hidden(c));
    }
}

static void formats_escape_words(void **state) {
    (void)state;
    StrBuf out = {0}, utf8 = {0};
    gr_escaped_addf(&out, "\n%s%%|%u|%zu|%llu|0x%llx|%.*s|%c", "a\nb\xff", 7u, (size_t)8, 9ull, 0xabcull, 2,
                    "x\ty", '!');
    assert_string_equal(out.data, "\na\\x0ab\\xff%|7|8|9|0xabc|x\\x09|!");
    gr_add_utf8("a\nb\xff\xe2\x80\xa8\xed\xa0\x80", &utf8);
    assert_string_equal(utf8.data, "a\nb\\xff\xe2\x80\xa8\\xed\\xa0\\x80");
    gr_str_free(&out);
    gr_str_free(&utf8);
}

static void columns_are_characters(void **state) {
    (void)state;
    static const char line[] = "\tä\xff\xe2\x80\xaeö[";
    StrBuf out = {0};
    gr_add_columns(line, strlen(line), 200, &out);
    assert_string_equal(out.data, " ä??ö[");
    assert_int_equal(gr_columns(line, strlen(line), strlen(line) - 1), 5);
    out.len = 0;
    gr_add_columns(line, strlen(line), 5, &out);
    assert_string_equal(out.data, " ä??ö");
    gr_str_free(&out);
}

// What gr_log writes for `text`.
static const char *logged(const char *text, LogLevel level) {
    static char line[8192];
    int ends[2], saved = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
    gr_log(level, "%s", text);
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    ssize_t n = read(ends[0], line, sizeof line - 1);
    assert_true(n > 0);
    line[n] = '\0';
    close(ends[0]);
    close(ends[1]);
    close(saved);
    return line;
}

// A message is one line, whatever a name in it holds, and however long it is.
static void messages_are_lines(void **state) {
    (void)state;
    assert_string_equal(logged("caf\xc3\xa9", LOG_ERROR), "gpurace: caf\xc3\xa9\n");
    assert_string_equal(logged("k\n::error::\x1b[2J\xc2\x9b\xff", LOG_WARN),
                        "gpurace: warning: k\\x0a::error::\\x1b[2J\\u009b\\xff\n");
    char text[5000];
    memset(text, '\x1b', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    const char *line = logged(text, LOG_ERROR);
    size_t n = strlen(line);
    assert_true(n > 3900 && n <= 4096);
    assert_ptr_equal(strchr(line, '\n'), line + n - 1);
    assert_null(strchr(line, '\x1b'));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_escaped),    cmocka_unit_test(characters_are_shown_or_named),
        cmocka_unit_test(formats_escape_words), cmocka_unit_test(columns_are_characters),
        cmocka_unit_test(messages_are_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

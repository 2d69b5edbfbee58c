// SPDX-License-Identifier: Apache-2.0
#include "base/regex.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MOST_PARTS = 10000, MOST_DEPTH = 100, MOST_NESTED = 3 };

// The number of parts of an expression once each `+` and `{n}` is written out. Reads only as much of the syntax as that
// takes; what is wrong with it regcomp will say.
typedef struct Count {
    const char *p;
    unsigned depth;
    // How deep repetitions nest in what was read last: the C library's time is exponential in that.
    unsigned nested;
    bool too_many;
} Count;

static uint64_t checked(Count *c, uint64_t parts) {
    c->too_many |= parts > MOST_PARTS;
    return parts > MOST_PARTS ? MOST_PARTS + 1 : parts;
}

// From '[' to the end of the bracket expression. Members: "]" and "^]" at its start, all in "[:…:]", "[=…=]", "[.….]".
static void skip_bracket(Count *c) {
    c->p += *c->p == '^';
    for (bool first = true; *c->p && (first || *c->p != ']'); first = false, c->p++) {
        char inner = c->p[0] == '[' ? c->p[1] : 0;
        if (inner != ':' && inner != '=' && inner != '.')
            continue;
        const char close[] = {inner, ']', 0}, *end = strstr(c->p + 2, close);
        if (end)
            c->p = end + 1;
    }
    c->p += *c->p == ']';
}

// The highest number of "{m,n}"; 0: there is none.
static uint64_t read_bound(Count *c) {
    uint64_t highest = 0, now = 0;
    for (; *c->p && *c->p != '}'; c->p++) {
        bool digit = *c->p >= '0' && *c->p <= '9';
        now = digit ? now * 10 + (uint64_t)(*c->p - '0') : 0;
        now = now > MOST_PARTS ? MOST_PARTS : now;
        highest = now > highest ? now : highest;
    }
    c->p += *c->p == '}';
    return highest;
}

static uint64_t count_parts(Count *c) {
    uint64_t all = 0, last = 0; // last: what a repetition would repeat, part of `all`
    unsigned most_nested = 0;
    while (*c->p && !c->too_many) {
        char here = *c->p++;
        uint64_t times = 0;
        if (here == ')' && c->depth)
            break;
        if (here == '+' || here == '*' || here == '?')
            times = here == '+' ? 2 : 1;
        else if (here == '{')
            times = read_bound(c) + 1;
        if (times) {
            all = checked(c, all + last * (times - 1));
            last = checked(c, last * times);
            c->too_many |= ++c->nested > MOST_NESTED;
            most_nested = c->nested > most_nested ? c->nested : most_nested;
            continue;
        }
        last = 1;
        c->nested = 0;
        if (here == '\\' && *c->p)
            c->p++;
        else if (here == '[')
            skip_bracket(c);
        else if (here == '(' && c->depth < MOST_DEPTH) {
            c->depth++;
            last = count_parts(c) + 1;
            c->depth--;
        } else if (here == '(')
            c->too_many = true;
        most_nested = c->nested > most_nested ? c->nested : most_nested;
        all = checked(c, all + last);
    }
    c->nested = most_nested;
    return all;
}

gr_status gr_regex_compile(regex_t *out, const char *text, gr_error *err) {
    Count c = {.p = text};
    while (*c.p && !c.too_many) // a ')' too many ends nothing
        checked(&c, count_parts(&c));
    if (c.too_many)
        return gr_fail(err, GR_ERR_ARGUMENT, "it repeats repetitions, or is too long: more than %d parts",
                       MOST_PARTS);
    int rc = regcomp(out, text, REG_EXTENDED | REG_NOSUB);
    if (!rc)
        return GR_OK;
    char why[128];
    regerror(rc, out, why, sizeof why);
    return gr_fail(err, GR_ERR_ARGUMENT, "%s", why);
}

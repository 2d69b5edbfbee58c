// SPDX-License-Identifier: Apache-2.0
// reserved — names that gpurace gives to what it links into a module: "__gr_NAME" or "__gr<number>_NAME". In a
// program's own text such a name is the program's, and means nothing; but it would meet ours if the module were
// rewritten.
#include "ptx/lexer.h"

#include <stdio.h>
#include <string.h>

static const char prefix[] = "__gr";

// Behind "__gr", digits and '_'; NULL: the name is not reserved.
static const char *rest_of(const char *name, const char *end) {
    if ((size_t)(end - name) < sizeof prefix || memcmp(name, prefix, sizeof prefix - 1) != 0)
        return NULL;
    const char *p = name + sizeof prefix - 1;
    while (p < end && lex_is(*p, CH_DIGIT))
        p++;
    return p < end && *p == '_' ? p + 1 : NULL;
}

// Past a comment or a string that begins at p; p itself: none does.
static const char *skip(const char *p, const char *end) {
    const char *close = NULL;
    if (*p == '"' || (*p == '/' && p + 1 < end && p[1] == '/')) {
        close = p + 1;
        while (close < end && *close != '\n' && (*p == '/' || *close != '"'))
            close++;
        return close < end ? close + 1 : end;
    }
    if (*p != '/' || p + 1 >= end || p[1] != '*')
        return p;
    close = memmem(p + 2, (size_t)(end - p - 2), "*/", 2);
    return close ? close + 2 : end;
}

bool gr_ptx_reserved_name(const char *text, size_t len, char *out, size_t size) {
    const char *end = text + len;
    if (!memmem(text, len, prefix, sizeof prefix - 1)) // nearly always
        return false;
    for (const char *p = text; p < end;) {
        const char *next = skip(p, end), *name = p;
        if (next != p) {
            p = next;
            continue;
        }
        if (!lex_is(*p, CH_START | CH_WORD)) {
            p++;
            continue;
        }
        do
            p++;
        while (p < end && lex_is(*p, CH_WORD));
        if (rest_of(name, p)) {
            snprintf(out, size, "%.*s", (int)(p - name), name);
            return true;
        }
    }
    return false;
}

const char *gr_ptx_rewritten_by(const PtxModule *m) {
    for (uint32_t k = 0; k < m->n_vars; k++) {
        const char *name = m->vars[k]->name, *rest = rest_of(name, name + strlen(name));
        if (rest && !strcmp(rest, "control") && !m->vars[k]->is_extern)
            return name;
    }
    return NULL;
}

void gr_ptx_put_named(StrBuf *out, const char *text, const char *suffix) {
    for (const char *at; (at = strstr(text, "__gr_")); text = at + strlen("__gr_")) {
        gr_str_addn(out, text, (size_t)(at - text));
        gr_str_addf(out, "__gr%s_", suffix);
    }
    gr_str_add(out, text);
}

// SPDX-License-Identifier: Apache-2.0
#include "report/write/sarif_fix.h"

#include "report/write/json_internal.h"

#include <stdlib.h>
#include <string.h>

// Lines that change, side by side in the file.
typedef struct Change {
    unsigned line, gone; // the first of them, or that before which the new ones come; how many go
    StrBuf text;         // those that come, each with its end
} Change;

// A change that leaves no line ends where the next line begins; else the last line's end stays.
static json_t *region(const Change *c) {
    json_t *o = json_pack("{s:i,s:i}", "startLine", (int)c->line, "startColumn", 1);
    unsigned end = c->gone && c->text.len ? c->line + c->gone - 1 : c->line + c->gone;
    bool ok = gr_json_set(o, "endLine", json_integer(end)) &&
              ((c->gone && c->text.len) || gr_json_set(o, "endColumn", json_integer(1)));
    return ok ? o : (json_decref(o), NULL);
}

// Adds the change, if there is one, and begins the next behind it. False: out of memory.
static bool flush(json_t *list, Change *c) {
    bool ok = !c->text.oom;
    if (ok && (c->gone || c->text.len)) {
        if (c->gone && c->text.len)
            c->text.data[c->text.len - 1] = 0;
        json_t *o = json_object(), *content = json_object();
        ok = gr_json_set(content, "text", gr_json_text(c->text.len ? c->text.data : "")) &&
             gr_json_set(o, "deletedRegion", region(c)) &&
             gr_json_set(o, "insertedContent", json_incref(content)) && json_array_append(list, o) == 0;
        json_decref(content);
        json_decref(o);
    }
    gr_str_free(&c->text);
    *c = (Change){.line = c->line + c->gone};
    return ok;
}

json_t *gr_sarif_replacements(const char *hunks) {
    json_t *list = json_array();
    Change c = {.line = 1};
    bool ok = list;
    for (const char *line = hunks; ok && *line;) {
        size_t n = strcspn(line, "\n");
        if (*line == '-') {
            c.gone++;
        } else if (*line == '+') {
            gr_str_addn(&c.text, line + 1, n - 1);
            gr_str_addc(&c.text, '\n');
        } else {
            ok = flush(list, &c);
            c.line = !strncmp(line, "@@ -", 4) ? (unsigned)strtoul(line + 4, NULL, 10) : c.line + 1;
        }
        line += n + (line[n] != 0);
    }
    ok = flush(list, &c) && ok;
    return ok ? list : (json_decref(list), NULL);
}

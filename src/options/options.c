// SPDX-License-Identifier: Apache-2.0
#include "options/options.h"

#include "base/escape.h"
#include "base/near.h"
#include "base/regex.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef GrOptRow OptRow;

static const OptRow common_rows[] = {
#define OPTION(...) GR_OPT_ROW(GrOptions, __VA_ARGS__)
#include "options/options.def"
#undef OPTION
};
static const GrOptRange common_ranges[] = {
#define RANGE(...) GR_OPT_RANGE(GrOptions, __VA_ARGS__)
#include "options/options.def"
#undef RANGE
};
const GrOptTable gr_common_options = {NULL,
                                      common_rows,
                                      common_ranges,
                                      sizeof common_rows / sizeof *common_rows,
                                      sizeof common_ranges / sizeof *common_ranges,
                                      sizeof(GrOptions)};

// ---- rows --------------------------------------------------------------------------------------------------

// A row, with where it stands.
typedef struct At {
    const OptRow *row; // NULL: there is none
    const GrOptTable *table;
    size_t nth_table, nth; // of all tables; of the rows of all tables
} At;

static At row_at(size_t nth) {
    const GrOptTable *t;
    size_t left = nth;
    for (size_t k = 0; (t = gr_option_tables[k]); left -= t->n_rows, k++)
        if (left < t->n_rows)
            return (At){&t->rows[left], t, k, nth};
    return (At){.row = NULL};
}

// The row of a command (OPT_RUN, …): another command may have a row of that name.
static At find_row(const char *name, size_t len, unsigned command) {
    At a;
    for (size_t k = 0; (a = row_at(k)).row; k++)
        if (strlen(a.row->name) == len && !memcmp(a.row->name, name, len) && a.row->commands & command)
            break;
    return a;
}

// A campaign takes the options of a run, too. Its own come first: --jobs is how many runs go on at a time.
static At row_for(const char *name, size_t len, unsigned commands) {
    At a = find_row(name, len, commands);
    return a.row || commands != OPT_CAMPAIGN ? a : find_row(name, len, OPT_RUN);
}

// `word` as it was given, of which name[0 .. len) should be a row of `commands`.
static gr_status unknown(const char *word, const char *name, size_t len, unsigned commands, gr_error *err) {
    char hint[GR_NEAR_ROOM];
    GrNear near = {.word = name, .len = len};
    At a;
    for (size_t k = 0; (a = row_at(k)).row && len; k++)
        if (a.row->commands & (commands | (commands == OPT_CAMPAIGN ? OPT_RUN : 0)))
            gr_near_try(&near, a.row->name);
    return gr_fail(err, GR_ERR_ARGUMENT, "unknown option '%s'%s", word,
                   gr_near_text(&near, word[0] == '-' ? "--" : "", hint));
}

static void *field(const GrOptions *o, At a) {
    return (char *)(a.nth_table ? o->tables[a.nth_table] : (void *)(uintptr_t)o) + a.row->offset;
}

bool gr_options_range(const GrOptTable *t, const GrOptRow *r, uint64_t *lowest, uint64_t *highest) {
    for (size_t k = 0; k < t->n_ranges; k++)
        if (r->type == OPT_NUMBER && t->ranges[k].offset == r->offset) {
            *lowest = t->ranges[k].lowest;
            *highest = t->ranges[k].highest;
            return true;
        }
    return false;
}

const GrOptRow *gr_options_row(size_t k, const GrOptTable **table) {
    At a = row_at(k);
    if (table)
        *table = a.table;
    return a.row;
}

const void *gr_options_of(const GrOptions *o, const GrOptTable *t) {
    const GrOptTable *mine;
    for (size_t k = 0; (mine = gr_option_tables[k]); k++)
        if (mine == t)
            return k ? o->tables[k] : o;
    return NULL;
}

// ---- values ------------------------------------------------------------------------------------------------

static bool in_choices(const char *choices, const char *value) {
    size_t n = strchr(value, '|') ? 0 : strlen(value);
    for (const char *p = choices; n && (p = strstr(p, value)); p++)
        if ((p == choices || p[-1] == '|') && (p[n] == 0 || p[n] == '|'))
            return true;
    return false;
}

// One word or several, with commas between them, none of them twice. What is wrong with it, or NULL.
static const char *words_wrong(const char *choices, const char *value) {
    char word[32];
    for (const char *p = value;; p++) {
        size_t n = strcspn(p, ",");
        snprintf(word, sizeof word, "%.*s", (int)n, p);
        if (n >= sizeof word || !in_choices(choices, word))
            return "takes some of";
        if (gr_words_have(value, (size_t)(p - value), word))
            return "takes each once of";
        p += n;
        if (!*p)
            return NULL;
    }
}

// Decimal, or hexadecimal behind 0x.
static gr_status set_number(At a, const char *value, uint64_t *out, gr_error *err) {
    char *end;
    const OptRow *r = a.row;
    uint64_t lowest = 0, highest = INT64_MAX;
    gr_options_range(a.table, r, &lowest, &highest);
    bool hex = value[0] == '0' && (value[1] | 0x20) == 'x';
    errno = 0;
    unsigned long long v = strtoull(value, &end, hex ? 16 : 10);
    bool number = isdigit((unsigned char)value[0]) && !*end && (!hex || isxdigit((unsigned char)value[2]));
    if (!number || errno || v < lowest || v > highest)
        return gr_fail(err, GR_ERR_ARGUMENT, "%s takes a number from %llu to %llu, not '%s'", r->name,
                       (unsigned long long)lowest, (unsigned long long)highest, value);
    *out = v;
    return GR_OK;
}

// An OUTPUT's text: what `-`, %p and %% stand for is put in.
static gr_status set_output(Arena *arena, const char *value, const char **out, gr_error *err) {
    StrBuf path = {0};
    if (!strcmp(value, "-"))
        value = GR_STANDARD_OUTPUT;
    for (const char *p = value; *p; p++)
        if (p[0] == '%' && p[1] == 'p')
            gr_str_addf(&path, "%ld", (long)getpid()), p++;
        else if (p[0] == '%' && p[1] == '%')
            gr_str_addc(&path, *p++);
        else
            gr_str_addc(&path, *p);
    *out = path.oom ? NULL : gr_arena_strndup(arena, path.data ? path.data : "", path.len);
    gr_str_free(&path);
    GR_NEED(*out, err);
    return GR_OK;
}

static gr_status set_option(GrOptions *o, At a, const char *value, gr_error *err) {
    const OptRow *r = a.row;
    switch (r->type) {
    case OPT_NUMBER: return set_number(a, value, field(o, a), err);
    case OPT_YESNO:
    case OPT_FLAG:
        if (strcmp(value, "yes") && strcmp(value, "no"))
            return gr_fail(err, GR_ERR_ARGUMENT, "%s takes yes or no, not '%s'", r->name, value);
        *(bool *)field(o, a) = value[0] == 'y';
        return GR_OK;
    case OPT_CHOICE:
    case OPT_SWITCH:
        if (!in_choices(r->arg, value))
            return gr_fail(err, GR_ERR_ARGUMENT, "%s takes one of %s, not '%s'", r->name, r->arg, value);
        break;
    case OPT_WORDS: {
        const char *wrong = words_wrong(r->arg, value);
        if (wrong)
            return gr_fail(err, GR_ERR_ARGUMENT, "%s %s %s, with commas between them, not '%s'", r->name,
                           wrong, r->arg, value);
        break;
    }
    case OPT_REGEX: {
        regex_t re;
        gr_error why = {0};
        gr_status st = gr_regex_compile(&re, value, &why);
        if (st != GR_OK)
            return gr_fail(err, st, "%s: '%s' is no regular expression: %s", r->name, value, why.msg);
        regfree(&re);
        break;
    }
    case OPT_OUTPUT: return set_output(&o->arena, value, field(o, a), err);
    case OPT_TEXT: break;
    }
    char *copy = gr_arena_strdup(&o->arena, value);
    GR_NEED(copy, err);
    *(const char **)field(o, a) = copy;
    return GR_OK;
}

static gr_status give_option(GrOptions *o, At a, const char *value, gr_error *err) {
    o->given[a.nth] = true;
    return set_option(o, a, value, err);
}

gr_status gr_options_init(GrOptions *o, gr_error *err) {
    memset(o, 0, sizeof *o);
    gr_arena_init(&o->arena);
    const GrOptTable *t;
    size_t rows = 0, n = 0;
    for (; (t = gr_option_tables[n]); n++)
        rows += t->n_rows;
    o->given = gr_arena_alloc(&o->arena, rows + 1);
    o->tables = gr_arena_alloc(&o->arena, (n + 1) * sizeof *o->tables);
    bool full = o->given && o->tables;
    for (size_t k = 1; k < n && full; k++)
        full = (o->tables[k] = gr_arena_alloc(&o->arena, gr_option_tables[k]->size)) != NULL;
    GR_NEED(full, err);
    for (size_t k = 0; k < rows; k++) {
        At a = row_at(k);
        GR_MUST(set_option(o, a, a.row->deflt, err));
    }
    return GR_OK;
}

void gr_options_free(GrOptions *o) { gr_arena_free(&o->arena); }

// ---- key=value text --------------------------------------------------------------------------------------

// One value from *p on, unquoted into *out; quotes may start anywhere in it, as in a shell.
static gr_status read_value(const char **p, StrBuf *out, gr_error *err) {
    const char *s = *p;
    while (*s && !isspace((unsigned char)*s)) {
        if (*s != '\'' && *s != '"') {
            gr_str_addc(out, *s++);
            continue;
        }
        char quote = *s++;
        const char *end = strchr(s, quote);
        if (!end)
            return gr_fail(err, GR_ERR_ARGUMENT, "a quote is not closed: %c%s", quote, s);
        gr_str_addn(out, s, (size_t)(end - s));
        s = end + 1;
    }
    *p = s;
    return out->oom ? gr_no_memory(err) : GR_OK;
}

static gr_status unknown_key(const char *key, size_t len, gr_error *err) {
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)len, key);
    return unknown(word, word, strlen(word), ~0u, err);
}

gr_status gr_options_parse_text(GrOptions *o, const char *text, gr_error *err) {
    gr_status st = GR_OK;
    StrBuf value = {0};
    for (const char *p = text;;) {
        while (isspace((unsigned char)*p))
            p++;
        if (!*p)
            break;
        size_t n = strcspn(p, "= \t\n");
        At at = find_row(p, n, OPT_RUN);
        const OptRow *r = at.row ? at.row : (at = find_row(p, n, ~0u)).row;
        if (!r)
            GR_TRY(unknown_key(p, n, err));
        p += n;
        gr_str_free(&value);
        if (*p == '=') {
            p++;
            GR_TRY(read_value(&p, &value, err));
        } else if (gr_option_is_bare(r)) {
            gr_str_add(&value, "yes");
        } else {
            GR_TRY(gr_fail(err, GR_ERR_ARGUMENT, "%s needs a value: %s=%s", r->name, r->name, r->arg));
        }
        GR_TRY(give_option(o, at, value.data ? value.data : "", err));
    }
done:
    gr_str_free(&value);
    return st;
}

const GrOptRow *gr_options_find(const char *name, unsigned commands, gr_error *err) {
    At a = row_for(name, strlen(name), commands);
    if (!a.row)
        unknown(name, name, strlen(name), commands, err);
    return a.row;
}

gr_status gr_options_give(GrOptions *o, unsigned command, const char *name, const char *value,
                          gr_error *err) {
    At a = row_for(name, strlen(name), command);
    return a.row ? give_option(o, a, value, err) : unknown(name, name, strlen(name), command, err);
}

// ---- command line ----------------------------------------------------------------------------------------

// *ended: `--` came, and *rest is behind it.
static gr_status parse(GrOptions *o, unsigned command, int argc, char **argv, int *rest, bool *ended,
                       bool *help, gr_error *err) {
    int i = 1;
    *ended = *help = false;
    for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
        const char *word = argv[i];
        if (!strcmp(word, "--")) {
            *ended = true;
            i++;
            break;
        }
        if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
            *help = true;
            break;
        }
        const char *name = !strcmp(word, "-o") ? "output" : word + 2;
        if (word[1] != '-' && strcmp(word, "-o"))
            return gr_fail(err, GR_ERR_ARGUMENT, "unknown option '%s'", word);
        size_t n = strcspn(name, "=");
        At at = row_for(name, n, command);
        const OptRow *r = at.row;
        if (!r)
            return unknown(word, name, n, command, err);
        const char *value = name[n] ? name + n + 1 : NULL;
        if (!value && r->type == OPT_SWITCH && i + 1 < argc && in_choices(r->arg, argv[i + 1]))
            value = argv[++i];
        if (!value && gr_option_is_bare(r))
            value = "yes";
        if (!value && i + 1 < argc)
            value = argv[++i];
        if (!value)
            return gr_fail(err, GR_ERR_ARGUMENT, "%s needs a value: %s", word, r->arg);
        GR_MUST(give_option(o, at, value, err));
    }
    *rest = i;
    return GR_OK;
}

gr_status gr_options_parse_args(GrOptions *o, unsigned command, int argc, char **argv, int *rest, bool *help,
                                gr_error *err) {
    bool ended;
    return parse(o, command, argc, argv, rest, &ended, help, err);
}

gr_status gr_options_parse_words(GrOptions *o, unsigned command, int argc, char **argv, int *n_words,
                                 int *rest, bool *help, gr_error *err) {
    int at = 1;
    bool all = false;
    *n_words = 0;
    *help = false;
    while (at < argc && !*help && !(all && rest)) {
        if (all || argv[at][0] != '-' || !argv[at][1]) {
            argv[++*n_words] = argv[at++];
            continue;
        }
        int taken;
        GR_MUST(parse(o, command, argc - at + 1, argv + at - 1, &taken, &all, help, err));
        at += taken - 1;
    }
    if (rest)
        *rest = at;
    return GR_OK;
}

// ---- back to text ----------------------------------------------------------------------------------------

// The value as text, in `buf` when it is a number.
static const char *value_text(const GrOptions *o, At a, char buf[32]) {
    switch (a.row->type) {
    case OPT_NUMBER:
        snprintf(buf, 32, "%llu", (unsigned long long)*(const uint64_t *)field(o, a));
        return buf;
    case OPT_YESNO:
    case OPT_FLAG: return *(const bool *)field(o, a) ? "yes" : "no";
    default: return *(const char *const *)field(o, a);
    }
}

const char *gr_options_text(const GrOptions *o, const char *name, char buf[32]) {
    At a = find_row(name, strlen(name), OPT_RUN);
    return a.row ? value_text(o, a, buf) : NULL;
}

// Quotes a word so that both a shell and gr_options_parse_text read it.
static void quote_plain(const char *word, StrBuf *out) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    if (*word && word[strspn(word, plain)] == 0) {
        gr_str_add(out, word);
        return;
    }
    gr_str_addc(out, '\'');
    for (; *word; word++)
        if (*word == '\'')
            gr_str_add(out, "'\"'\"'");
        else
            gr_str_addc(out, *word);
    gr_str_addc(out, '\'');
}

// Quotes as $'...' (POSIX.1-2024), hidden bytes in octal: the command stays one line, to be copied from a terminal.
static void quote_hidden(const char *word, StrBuf *out) {
    gr_str_add(out, "$'");
    for (size_t left = strlen(word), n; left; word += n, left -= n) {
        uint32_t c;
        size_t whole = gr_utf8_char(word, left, &c);
        bool hidden = !whole || gr_is_hidden(c);
        n = whole ? whole : 1;
        if (*word == '\'' || *word == '\\')
            gr_str_addc(out, '\\');
        for (size_t k = 0; k < n; k++)
            if (hidden)
                gr_str_addf(out, "\\%03o", (unsigned)(unsigned char)word[k]);
            else
                gr_str_addc(out, word[k]);
    }
    gr_str_addc(out, '\'');
}

void gr_shell_quote(const char *word, StrBuf *out) {
    char as[GR_ESCAPED_ROOM];
    size_t left = strlen(word);
    for (const char *p = word; left;) {
        size_t n = gr_escape_char(p, left, as);
        if (strlen(as) != n || memcmp(as, p, n)) {
            quote_hidden(word, out);
            return;
        }
        p += n;
        left -= n;
    }
    quote_plain(word, out);
}

void gr_options_to_text(const GrOptions *o, StrBuf *out) {
    char buf[32];
    At a;
    for (size_t i = 0; (a = row_at(i)).row; i++) {
        const char *v = value_text(o, a, buf);
        if (!strcmp(v, a.row->deflt) || a.row->commands == OPT_CAMPAIGN)
            continue;
        gr_str_addf(out, "%s%s=", out->len ? " " : "", a.row->name);
        quote_plain(v, out);
    }
}

void gr_options_reproduce(const GrOptions *o, unsigned command, StrBuf *out) {
    char buf[32];
    At a;
    for (size_t i = 0; (a = row_at(i)).row; i++) {
        const OptRow *r = a.row;
        const char *v = value_text(o, a, buf);
        bool always = !strcmp(r->name, "engine") || !strcmp(r->name, "device") || !strcmp(r->name, "seed");
        // A default that was asked for: GPURACE_OPTIONS may say something else.
        bool wanted = o->given && o->given[i] && r->type != OPT_FLAG;
        if ((r->commands & (OPT_REPRODUCE | command)) != (OPT_REPRODUCE | command) ||
            (!always && !wanted && !strcmp(v, r->deflt)))
            continue;
        gr_str_addf(out, " --%s", r->name);
        if (r->type != OPT_FLAG) {
            gr_str_addc(out, ' ');
            gr_shell_quote(v, out);
        }
    }
}

// A value that asks for nothing is heeded everywhere.
static bool asks(const OptRow *r, const char *value) {
    return *value && strcmp(value, "no") && strcmp(value, "auto") &&
           !(r->type == OPT_NUMBER && (!strcmp(value, "0") || !strcmp(value, r->deflt)));
}

void gr_options_unheeded(const GrOptions *o, void (*tell)(void *user, const char *option, const char *why),
                         void *user) {
    char buf[32];
    At a;
    for (size_t i = 0; (a = row_at(i)).row; i++) {
        const OptRow *r = a.row;
        const char *value = value_text(o, a, buf), *why = gr_options_misses(o, r->applies);
        bool elsewhere = a.table->engine && !gr_options_uses(o, a.table->engine);
        if (!(why || elsewhere) || !o->given[i] || !asks(r, value))
            continue;
        StrBuf option = {0}, whose = {0};
        gr_str_addf(&option, "--%s%s", r->name, r->type != OPT_FLAG ? " " : "");
        if (r->type != OPT_FLAG)
            gr_shell_quote(value, &option);
        if (elsewhere)
            gr_str_addf(&whose, "it is for the engine %s", a.table->engine);
        tell(user, option.data ? option.data : r->name,
             whose.data ? whose.data
             : why      ? why
                        : "it is for another engine");
        gr_str_free(&option);
        gr_str_free(&whose);
    }
}

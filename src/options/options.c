// SPDX-License-Identifier: Apache-2.0
#include "options/options.h"

#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef GrOptRow OptRow;

static const OptRow rows[] = {
#define OPTION(id, name, type, deflt, commands, applies, arg, help)                                          \
    {name, deflt, arg, help, offsetof(GrOptions, id), OPT_##type, commands, applies},
#include "options/options.def"
#undef OPTION
};
enum { NROWS = sizeof rows / sizeof rows[0] };

static const struct {
    size_t offset;
    uint64_t lowest, highest;
} ranges[] = {
#define RANGE(id, lowest, highest) {offsetof(GrOptions, id), lowest, highest},
#include "options/options.def"
#undef RANGE
};
_Static_assert(NROWS <= 64, "GrOptions.given has a bit for each");

static const OptRow *find_row(const char *name, size_t len) {
    for (size_t i = 0; i < NROWS; i++)
        if (strlen(rows[i].name) == len && !memcmp(rows[i].name, name, len))
            return &rows[i];
    return NULL;
}

static void *field(const GrOptions *o, const OptRow *r) { return (char *)o + r->offset; }

bool gr_options_range(const GrOptRow *r, uint64_t *lowest, uint64_t *highest) {
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++)
        if (r->type == OPT_NUMBER && ranges[k].offset == r->offset) {
            *lowest = ranges[k].lowest;
            *highest = ranges[k].highest;
            return true;
        }
    return false;
}

const GrOptRow *gr_options_row(size_t k) { return k < NROWS ? &rows[k] : NULL; }

static bool in_choices(const char *choices, const char *value) {
    size_t n = strchr(value, '|') ? 0 : strlen(value);
    for (const char *p = choices; n && (p = strstr(p, value)); p++)
        if ((p == choices || p[-1] == '|') && (p[n] == 0 || p[n] == '|'))
            return true;
    return false;
}

// Decimal, or hexadecimal behind 0x.
static gr_status set_number(const OptRow *r, const char *value, uint64_t *out, gr_error *err) {
    char *end;
    uint64_t lowest = 0, highest = INT64_MAX;
    gr_options_range(r, &lowest, &highest);
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

static gr_status set_option(GrOptions *o, const OptRow *r, const char *value, gr_error *err) {
    switch (r->type) {
    case OPT_NUMBER: return set_number(r, value, field(o, r), err);
    case OPT_YESNO:
    case OPT_FLAG:
        if (strcmp(value, "yes") && strcmp(value, "no"))
            return gr_fail(err, GR_ERR_ARGUMENT, "%s takes yes or no, not '%s'", r->name, value);
        *(bool *)field(o, r) = value[0] == 'y';
        return GR_OK;
    case OPT_CHOICE:
        if (!in_choices(r->arg, value))
            return gr_fail(err, GR_ERR_ARGUMENT, "%s takes one of %s, not '%s'", r->name, r->arg, value);
        break;
    case OPT_REGEX: {
        regex_t re;
        int rc = regcomp(&re, value, REG_EXTENDED | REG_NOSUB);
        if (rc) {
            char why[128];
            regerror(rc, &re, why, sizeof why);
            return gr_fail(err, GR_ERR_ARGUMENT, "%s: '%s' is no regular expression: %s", r->name, value,
                           why);
        }
        regfree(&re);
        break;
    }
    case OPT_TEXT: break;
    }
    char *copy = gr_arena_strdup(&o->arena, value);
    if (!copy)
        return gr_fail(err, GR_ERR_NOMEM, "out of memory");
    *(const char **)field(o, r) = copy;
    return GR_OK;
}

static gr_status give_option(GrOptions *o, const OptRow *r, const char *value, gr_error *err) {
    o->given |= UINT64_C(1) << (r - rows);
    return set_option(o, r, value, err);
}

gr_status gr_options_init(GrOptions *o, gr_error *err) {
    memset(o, 0, sizeof *o);
    gr_arena_init(&o->arena);
    for (size_t i = 0; i < NROWS; i++) {
        gr_status st = set_option(o, &rows[i], rows[i].deflt, err);
        if (st != GR_OK)
            return st;
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
    return out->oom ? gr_fail(err, GR_ERR_NOMEM, "out of memory") : GR_OK;
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
        const OptRow *r = find_row(p, n);
        if (!r) {
            st = gr_fail(err, GR_ERR_ARGUMENT, "unknown option '%.*s'", (int)n, p);
            goto done;
        }
        p += n;
        gr_str_free(&value);
        if (*p == '=') {
            p++;
            GR_TRY(read_value(&p, &value, err));
        } else if (r->type == OPT_FLAG) {
            gr_str_add(&value, "yes");
        } else {
            st = gr_fail(err, GR_ERR_ARGUMENT, "%s needs a value: %s=%s", r->name, r->name, r->arg);
            goto done;
        }
        GR_TRY(give_option(o, r, value.data ? value.data : "", err));
    }
done:
    gr_str_free(&value);
    return st;
}

// ---- command line ----------------------------------------------------------------------------------------

gr_status gr_options_parse_args(GrOptions *o, unsigned command, int argc, char **argv, int *rest, bool *help,
                                gr_error *err) {
    int i = 1;
    *help = false;
    for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
        const char *word = argv[i];
        if (!strcmp(word, "--")) {
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
        const OptRow *r = find_row(name, n);
        if (!r || !(r->commands & command))
            return gr_fail(err, GR_ERR_ARGUMENT, "unknown option '%s'", word);
        const char *value = name[n] ? name + n + 1 : NULL;
        if (!value && r->type == OPT_FLAG)
            value = "yes";
        if (!value && i + 1 < argc)
            value = argv[++i];
        if (!value)
            return gr_fail(err, GR_ERR_ARGUMENT, "%s needs a value: %s", word, r->arg);
        gr_status st = give_option(o, r, value, err);
        if (st != GR_OK)
            return st;
    }
    *rest = i;
    return GR_OK;
}

// ---- back to text ----------------------------------------------------------------------------------------

// The value as text, in `buf` when it is a number.
static const char *value_text(const GrOptions *o, const OptRow *r, char buf[32]) {
    switch (r->type) {
    case OPT_NUMBER:
        snprintf(buf, 32, "%llu", (unsigned long long)*(const uint64_t *)field(o, r));
        return buf;
    case OPT_YESNO:
    case OPT_FLAG: return *(const bool *)field(o, r) ? "yes" : "no";
    default: return *(const char *const *)field(o, r);
    }
}

void gr_shell_quote(const char *word, StrBuf *out) {
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

void gr_options_to_text(const GrOptions *o, StrBuf *out) {
    char buf[32];
    for (size_t i = 0; i < NROWS; i++) {
        const char *v = value_text(o, &rows[i], buf);
        if (!strcmp(v, rows[i].deflt))
            continue;
        gr_str_addf(out, "%s%s=", out->len ? " " : "", rows[i].name);
        gr_shell_quote(v, out);
    }
}

void gr_options_reproduce(const GrOptions *o, StrBuf *out) {
    char buf[32];
    for (size_t i = 0; i < NROWS; i++) {
        const OptRow *r = &rows[i];
        const char *v = value_text(o, r, buf);
        bool always = !strcmp(r->name, "engine") || !strcmp(r->name, "device") || !strcmp(r->name, "seed");
        if (!(r->commands & OPT_REPRODUCE) || (!always && !strcmp(v, r->deflt)))
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
    for (size_t i = 0; i < NROWS; i++) {
        const OptRow *r = &rows[i];
        const char *value = value_text(o, r, buf), *why = gr_options_misses(o, r->applies);
        if (!why || !(o->given >> i & 1) || !asks(r, value))
            continue;
        StrBuf option = {0};
        gr_str_addf(&option, "--%s%s", r->name, r->type != OPT_FLAG ? " " : "");
        if (r->type != OPT_FLAG)
            gr_shell_quote(value, &option);
        tell(user, option.data ? option.data : r->name, why);
        gr_str_free(&option);
    }
}

void gr_options_help(unsigned command, FILE *out) {
    for (size_t i = 0; i < NROWS; i++) {
        const OptRow *r = &rows[i];
        if (!(r->commands & command))
            continue;
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", r->name, *r->arg ? " " : "", r->arg);
        fprintf(out, "  %-24s %s", left, r->help);
        uint64_t lowest, highest;
        if (gr_options_range(r, &lowest, &highest))
            fprintf(out, " (%llu to %llu; %s)", (unsigned long long)lowest, (unsigned long long)highest,
                    r->deflt);
        else if (*r->deflt && r->type != OPT_FLAG)
            fprintf(out, " (%s)", r->deflt);
        fputc('\n', out);
    }
}

void gr_options_markdown(StrBuf *out) {
    gr_str_add(
        out, "# Options\n\n"
             "<!-- Written from src/options/options.def: `UPDATE_DOCS=1 build/tests/options/test_options`; a "
             "test compares. -->\n\n"
             "On the command line: `--name value` or `--name=value`. In the environment: "
             "`GPURACE_OPTIONS=\"name=value name='two words'\"`;\nthe command line wins.\n\n"
             "The report of a run names the options that were given and had no effect, because what the "
             "column *applies to* says did not hold.\n\n"
             "| option | value | default | commands | applies to | meaning |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < NROWS; i++) {
        const OptRow *r = &rows[i];
        gr_str_addf(out, "| `--%s` | ", r->name);
        for (const char *p = r->arg; *p; p++)
            gr_str_addf(out, *p == '|' ? " \\%c " : "%c", *p);
        uint64_t lowest, highest;
        if (gr_options_range(r, &lowest, &highest))
            gr_str_addf(out, ", %llu to %llu", (unsigned long long)lowest, (unsigned long long)highest);
        gr_str_addf(out, " | %s | ", r->deflt);
        static const char *const commands[] = {"run", "ptx", "coverage"}; // OPT_RUN and so on
        for (unsigned k = 0; k < sizeof commands / sizeof *commands; k++)
            if (r->commands >> k & 1)
                gr_str_addf(out, "%s%s", r->commands & ((1u << k) - 1) ? ", " : "", commands[k]);
        static const char *const where[] = {
#define APPLIES(id, text, condition, why) text,
#include "options/applies.def"
#undef APPLIES
        };
        gr_str_add(out, " | ");
        for (unsigned k = 0; k < sizeof where / sizeof *where; k++)
            if (r->applies >> k & 1)
                gr_str_addf(out, "%s%s", r->applies & ((1u << k) - 1) ? "; " : "", where[k]);
        gr_str_addf(out, " | %s |\n", r->help);
    }
}

// SPDX-License-Identifier: Apache-2.0
// gpurace-ptxas (also: gpurace ptxas) — stands in for ptxas, by its command line: the real ptxas sees rewritten PTX.
//
// The output keeps the PTX as it was before (fatbin/cubin.h), so that `gpurace run` and the CPU device find it. Started
// by a program under `gpurace run`, nothing is rewritten but the PTX is kept: the run rewrites it when the program
// loads the machine code, with the run's options, and no cache of compiled kernels ever holds rewritten code.
//
// Exit status: that of ptxas (128 + N: signal N killed it); 127: there is no ptxas; 1: gpurace failed; 2: bad options.
#include "base/log.h"
#include "base/own.h"
#include "base/vec.h"
#include "cli/commands.h"
#include "cli/rewrite.h"
#include "cli/run/toolkit.h"
#include "engines/core/engine.h"
#include "fatbin/cubin.h"
#include "findings/results.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef VEC(char *) Words;

typedef struct Assembly {
    GrOptions options;
    Arena arena;
    Words words;        // of the command line of ptxas
    Words original;     // the same before anything was rewritten; empty: nothing was
    VEC(size_t) inputs; // which of them are PTX files
    const char *output; // NULL: ptxas does not say where it writes
    bool relocatable;   // --compile-only
    bool limited;       // the command line says how many registers there may be
    bool debug;         // --device-debug
    StrBuf rest; // of the command line: what a fatbinary notes beside PTX, for the driver that assembles it
    StrBuf kept; // containers with the PTX
    char folder[PATH_MAX]; // of rewritten files; "": none was made
    char ptxas[PATH_MAX];
} Assembly;

// ---- The command line of ptxas ---------------------------------------------------------------------------------

static bool add_word(Assembly *a, const char *word, size_t len) {
    char *copy = gr_arena_strndup(&a->arena, word, len);
    return copy && gr_vec_push(&a->words, copy);
}

// The words of a file that --options-file names, in its place. False: it cannot be read; ptxas will say so.
static bool add_file(Assembly *a, const char *path) {
    char *text;
    size_t len;
    if (gr_file_read(path, &text, &len, NULL) != GR_OK)
        return false;
    bool ok = true;
    for (const char *s = text; ok && *(s += strspn(s, " \t\r\n"));) {
        char quote = *s == '"' || *s == '\'' ? *s++ : 0;
        size_t n = quote ? strcspn(s, (char[]){quote, 0}) : strcspn(s, " \t\r\n");
        ok = add_word(a, s, n);
        s += n + (quote && s[n] == quote);
    }
    free(text);
    return ok;
}

// The value of an option: `--name=value`, or the next word, to which *k moves. NULL: the word is another one.
static const char *value_of(char *const *words, size_t n, size_t *k, const char *full, const char *brief) {
    const char *word = words[*k];
    const char *const names[] = {full, brief};
    for (unsigned i = 0; i < 2; i++) {
        size_t len = strlen(names[i]);
        if (strncmp(word, names[i], len) != 0)
            continue;
        if (word[len] == '=')
            return word + len + 1;
        if (!word[len] && *k + 1 < n)
            return words[++*k];
    }
    return NULL;
}

static bool read_words(Assembly *a, int argc, char **argv) {
    for (size_t k = 0, n = (size_t)argc; k < n; k++) {
        size_t at = k;
        const char *files = k ? value_of(argv, n, &at, "--options-file", "-optf") : NULL;
        bool expanded = files != NULL;
        for (const char *f = files; expanded && *f;) {
            char path[PATH_MAX];
            size_t len = strcspn(f, ",");
            snprintf(path, sizeof path, "%.*s", (int)len, f);
            expanded = add_file(a, path);
            f += len + (f[len] == ',');
        }
        if (expanded)
            k = at;
        else if (!add_word(a, argv[k], strlen(argv[k])))
            return false;
    }
    return true;
}

static bool is_ptx_file(const char *path) {
    char head[4096];
    struct stat st;
    if (stat(path, &st) || !S_ISREG(st.st_mode))
        return false;
    FILE *f = fopen(path, "rbe");
    size_t n = f ? fread(head, 1, sizeof head - 1, f) : 0;
    if (f)
        fclose(f);
    head[n] = 0;
    return n && gr_image_kind(head, n) == IMAGE_PTX;
}

// What says for which device, where to and how loudly belongs to this call of ptxas alone.
static bool is_of_this_call(char *const *words, size_t n, size_t *k) {
    return value_of(words, n, k, "--gpu-name", "-arch") || value_of(words, n, k, "--machine", "-m") ||
           !strcmp(words[*k], "-m64") || !strcmp(words[*k], "-v") || !strcmp(words[*k], "--verbose");
}

static bool is_one_of(const char *word, const char *full, const char *brief) {
    return !strcmp(word, full) || !strcmp(word, brief);
}

// A word that names a file with PTX is an input: no option of ptxas takes PTX, and the output is not there yet.
static bool look_at_words(Assembly *a) {
    char **w = a->words.data;
    for (size_t k = 1; k < a->words.len; k++) {
        const char *word = w[k], *value;
        if ((value = value_of(w, a->words.len, &k, "--output-file", "-o"))) {
            a->output = value;
            continue;
        }
        if (word[0] != '-' && is_ptx_file(word)) {
            if (!gr_vec_push(&a->inputs, k))
                return false;
            continue;
        }
        a->relocatable |=
            is_one_of(word, "--compile-only", "-c") || is_one_of(word, "--extensible-whole-program", "-ewp");
        a->debug |= is_one_of(word, "--device-debug", "-g");
        if (!strncmp(word, "--input-as-string", 17) || !strncmp(word, "-ias", 4))
            gr_log(LOG_WARN, "PTX on the command line of ptxas (%s) is assembled as it is, without checks",
                   word);
        a->limited |= strstr(word, "maxrregcount") != NULL;
        if (!is_of_this_call(w, a->words.len, &k))
            gr_str_addf(&a->rest, "%s ", word);
    }
    a->output = a->output ? a->output : "elf.o";
    return !a->rest.oom;
}

// ---- Its inputs ------------------------------------------------------------------------------------------------

// The file's name as the user knows it. nvcc calls its own files tmpxft_, numbers of process and file, and that name:
// without the numbers two builds are the same.
static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int n = 0;
    sscanf(name, "tmpxft_%*[0-9a-f]_%*[0-9a-f]-%*[0-9]_%n", &n);
    return name + (n && name[n] ? n : 0);
}

static gr_status keep(Assembly *a, const char *path, gr_error *err) {
    gr_status st = GR_OK;
    char *text = NULL;
    void *container = NULL;
    size_t len;
    FatbinPtx ptx;
    GR_TRY(gr_file_read(path, &text, &len, err));
    if (!gr_fatbin_describe(text, strnlen(text, len), &ptx))
        GR_TRY(gr_fail(err, GR_ERR_FORMAT, "%s: no .version and .target at its head", path));
    ptx.source = name_of(path);
    ptx.options = a->rest.len ? a->rest.data : NULL;
    ptx.flags |= a->debug ? FATBIN_F_DEBUG : 0;
    GR_TRY(gr_fatbin_build(&ptx, 1, &container, &len, err));
    gr_str_addn(&a->kept, container, len);
done:
    free(container);
    free(text);
    return st;
}

static bool copy_words(Assembly *a) {
    for (size_t k = 0; k < a->words.len; k++)
        if (!gr_vec_push(&a->original, a->words.data[k]))
            return false;
    return gr_vec_push(&a->original, NULL);
}

// In the place of the input comes a rewritten file of the same name.
static gr_status rewrite(Assembly *a, size_t word, gr_error *err) {
    const char *path = a->words.data[word], *slash = strrchr(path, '/');
    char *to;
    if (!a->folder[0])
        GR_MUST(gr_own_folder(a->folder, "ptxas", err));
    to = gr_arena_printf(&a->arena, "%s/%zu", a->folder, word);
    if (!to || mkdir(to, 0700) ||
        !(to = gr_arena_printf(&a->arena, "%s/%zu/%s", a->folder, word, slash ? slash + 1 : path)))
        return gr_fail(err, GR_ERR_IO, "cannot make a folder in %s: %s", a->folder, strerror(errno));
    GrRewriting r = {.options = &a->options,
                     .path = path,
                     .output = to,
                     .quiet = !a->options.verbose,
                     .linked = a->relocatable};
    GR_MUST(gr_rewrite_file(&r, err));
    if (!a->original.len && !copy_words(a))
        return gr_no_memory(err);
    a->words.data[word] = to;
    if (a->relocatable && !a->limited && r.link_registers) {
        char *more = gr_arena_printf(&a->arena, "-maxrregcount=%u", r.link_registers);
        a->limited = more && gr_vec_push(&a->words, more);
    }
    return GR_OK;
}

static gr_status take_inputs(Assembly *a, gr_error *err) {
    char why[sizeof err->file + sizeof err->msg + 32], hint[GR_NEAR_ROOM];
    const GrEngine *engine = gr_engine_choose(&a->options, true);
    if (!engine)
        return gr_fail(err, GR_ERR_ARGUMENT, "no engine is called '%s'%s", a->options.engine,
                       gr_engine_meant(a->options.engine, hint));
    bool rewrites = !getenv(GR_RESULTS_ENV) && engine->caps & CAP_REWRITES;
    for (size_t k = 0; k < a->inputs.len; k++) {
        const char *path = a->words.data[a->inputs.data[k]];
        GR_MUST(keep(a, path, err));
        gr_status st = rewrites ? rewrite(a, a->inputs.data[k], err) : GR_OK;
        if (st == GR_ERR_ARGUMENT || st == GR_ERR_IO)
            return st;
        if (st != GR_OK)
            gr_log(LOG_WARN, "%s is assembled as it is, without checks: %s", path,
                   gr_error_text(err, why, sizeof why));
    }
    return a->kept.oom ? gr_no_memory(err) : GR_OK;
}

static void remove_folder(const Assembly *a) {
    if (a->folder[0])
        (void)gr_own_remove_folder(a->folder, NULL);
}

// ---- ptxas itself ----------------------------------------------------------------------------------------------

static void print_errors(int errors) {
    char text[4096];
    off_t at = 0;
    for (ssize_t n; (n = pread(errors, text, sizeof text, at)) > 0; at += n)
        fwrite(text, 1, (size_t)n, stderr);
}

// ptxas counts other lines in rewritten PTX than the user does. Where it refuses, it is asked about the original PTX.
static int assemble_rewritten(const Assembly *a) {
    int errors = memfd_create("ptxas", MFD_CLOEXEC);
    int status = gr_toolkit_call(a->ptxas, a->words.data, errors);
    if (status == 0) {
        print_errors(errors);
    } else {
        int refused = status;
        status = gr_toolkit_call(a->ptxas, a->original.data, -1);
        if (status == 0) {
            gr_log(LOG_WARN,
                   "%s has no checks in it: ptxas refuses the rewritten PTX with status %d and says:",
                   a->output, refused);
            print_errors(errors);
        }
    }
    if (errors >= 0)
        close(errors);
    return status;
}

// Puts the PTX into what ptxas has written, if that is a cubin.
static gr_status keep_in_output(const Assembly *a, gr_error *err) {
    gr_status st = GR_OK;
    struct stat there;
    char *code = NULL;
    void *with = NULL;
    size_t len, size;
    GrOutFile to = {0};
    if (!a->kept.len || stat(a->output, &there) || !S_ISREG(there.st_mode))
        return GR_OK;
    GR_TRY(gr_file_read(a->output, &code, &len, err));
    if (gr_image_kind(code, len) == IMAGE_CUBIN) {
        GR_TRY(gr_cubin_keep(code, len, a->kept.data, a->kept.len, &with, &size, err));
        GR_TRY(gr_own_open(&to, a->output, GR_OWN_CUBIN, err));
        GR_TRY(gr_out_write(&to, with, size, err));
        GR_TRY(gr_out_close(&to, err));
    }
done:
    gr_out_drop(&to);
    free(with);
    free(code);
    return st;
}

// ---- The command -----------------------------------------------------------------------------------------------

static int complain(int status, const gr_error *err) {
    char text[sizeof err->file + sizeof err->msg + 32];
    gr_log(LOG_ERROR, "gpurace-ptxas: %s", gr_error_text(err, text, sizeof text));
    return status;
}

static int run(Assembly *a, int argc, char **argv) {
    gr_error err = {0};
    const char *options = getenv("GPURACE_OPTIONS");
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
        gr_print_help("ptxas", stdout), fflush(stdout);
    if (gr_toolkit_find("ptxas", a->ptxas, &err) != GR_OK)
        return complain(EXIT_NOT_FOUND, &err);
    if (gr_options_init(&a->options, &err) != GR_OK)
        return complain(EXIT_OURS, &err);
    if (options && gr_options_parse_text(&a->options, options, &err) != GR_OK)
        return complain(EXIT_USAGE, &err);
    if (!read_words(a, argc, argv) || !look_at_words(a))
        return complain(EXIT_OURS, (gr_no_memory(&err), &err));
    a->words.data[0] = a->ptxas;
    if (getenv(GR_RESULTS_ENV))
        unsetenv("LD_PRELOAD"); // of `gpurace run`: the assembler is no program to be checked
    gr_status st = take_inputs(a, &err);
    if (st != GR_OK)
        return complain(st == GR_ERR_ARGUMENT ? EXIT_USAGE : EXIT_OURS, &err);
    if (!gr_vec_push(&a->words, NULL))
        return complain(EXIT_OURS, (gr_no_memory(&err), &err));
    int status = a->original.len ? assemble_rewritten(a) : gr_toolkit_call(a->ptxas, a->words.data, -1);
    if (status == 0 && keep_in_output(a, &err) != GR_OK)
        return complain(EXIT_OURS, &err);
    return status;
}

int gr_cmd_ptxas(int argc, char **argv) {
    Assembly a = {0};
    gr_arena_init(&a.arena);
    int status = run(&a, argc, argv);
    remove_folder(&a);
    gr_vec_free(&a.words);
    gr_vec_free(&a.original);
    gr_vec_free(&a.inputs);
    gr_str_free(&a.kept);
    gr_str_free(&a.rest);
    gr_options_free(&a.options);
    gr_arena_free(&a.arena);
    return status;
}

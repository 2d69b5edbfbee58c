// SPDX-License-Identifier: Apache-2.0
// gpurace nvcc — nvcc with gpurace-ptxas in place of ptxas: programs whose machine code looks for races by itself.
//
// nvcc takes ptxas from the PATH that it makes of nvcc.profile, which lies beside it. So it is started from a folder
// that looks like a toolkit's and is gone afterwards: links to nvcc and to what it looks for beside itself, a ptxas
// that is this program, and a profile that names the real toolkit. No path of that folder gets into what nvcc writes
// but that of crt/link.stub, a source of the device link.
//
// Exit status: nvcc's (128 + N: signal N killed it); 127: there is no nvcc, or no ptxas beside it; 1: gpurace failed.
#include "base/log.h"
#include "base/own.h"
#include "base/process.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/run/toolkit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Toolkit {
    char nvcc[PATH_MAX];   // the real one
    char bin[PATH_MAX];    // its folder
    char folder[PATH_MAX]; // the one that stands in; "": none was made
} Toolkit;

// ---- The folder ------------------------------------------------------------------------------------------------

static gr_status make_link(const char *to, gr_error *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static gr_status make_link(const char *to, gr_error *err, const char *fmt, ...) {
    GR_FORMATTED(path, PATH_MAX, fmt);
    return symlink(to, path) ? gr_fail(err, GR_ERR_IO, "cannot make %s: %s", path, strerror(errno)) : GR_OK;
}

// The profile of the toolkit with the real folder for $(_HERE_), and ours before all others on the PATH.
static gr_status write_profile(const Toolkit *t, gr_error *err) {
    static const char here[] = "$(_HERE_)";
    gr_status st = GR_OK;
    char path[PATH_MAX + 32], *text = NULL;
    size_t len;
    StrBuf out = {0};
    snprintf(path, sizeof path, "%s/nvcc.profile", t->bin);
    GR_TRY(gr_file_read(path, &text, &len, err));
    for (const char *s = text; *s;) {
        size_t n = strlen(s);
        const char *at = strstr(s, here);
        gr_str_addn(&out, s, at ? (size_t)(at - s) : n);
        gr_str_add(&out, at ? t->bin : "");
        s += at ? (size_t)(at - s) + strlen(here) : n;
    }
    gr_str_addf(&out, "\nPATH += %s/bin:\n", t->folder);
    snprintf(path, sizeof path, "%s/bin/nvcc.profile", t->folder);
    if (out.oom)
        st = gr_no_memory(err);
    else
        GR_TRY(gr_own_write(path, GR_OWN_SCRATCH, out.data, out.len, err));
done:
    gr_str_free(&out);
    free(text);
    return st;
}

static gr_status make_folder(Toolkit *t, gr_error *err) {
    char path[PATH_MAX + 32], self[PATH_MAX];
    GR_MUST(gr_own_folder(t->folder, "nvcc", err));
    snprintf(path, sizeof path, "%s/bin", t->folder);
    if (mkdir(path, 0700))
        return gr_fail(err, GR_ERR_IO, "cannot make %s: %s", path, strerror(errno));
    GR_MUST(gr_process_self(self, err));
    GR_MUST(make_link(t->nvcc, err, "%s/bin/nvcc", t->folder));
    GR_MUST(make_link(self, err, "%s/bin/ptxas", t->folder));
    snprintf(path, sizeof path, "%s/crt", t->bin);
    GR_MUST(make_link(path, err, "%s/bin/crt", t->folder));
    snprintf(path, sizeof path, "%s/../targets", t->bin); // nvcc looks whether it is there
    if (!access(path, F_OK))
        GR_MUST(make_link(path, err, "%s/targets", t->folder));
    return write_profile(t, err);
}

static void remove_folder(const Toolkit *t) {
    gr_error err;
    if (t->folder[0] && gr_own_remove_folder(t->folder, &err) != GR_OK)
        gr_log(LOG_WARN, "gpurace nvcc: %s", err.msg);
}

// ---- The command -----------------------------------------------------------------------------------------------

static int complain(int status, const gr_error *err) {
    char text[sizeof err->file + sizeof err->msg + 32];
    gr_log(LOG_ERROR, "gpurace nvcc: %s", gr_error_text(err, text, sizeof text));
    return status;
}

static bool is_nvcc(const char *word) {
    size_t n = strlen(word);
    struct stat st;
    return word[0] != '-' && n >= 4 && !strcmp(word + n - 4, "nvcc") &&
           (!strchr(word, '/') || (!stat(word, &st) && S_ISREG(st.st_mode) && !access(word, X_OK)));
}

static int compile(const Toolkit *t, char **argv) {
    char path[sizeof t->folder + 32];
    snprintf(path, sizeof path, "%s/bin/nvcc", t->folder);
    argv[0] = path;
    return gr_toolkit_call(path, argv, -1);
}

// Code that nvlink makes of LTO-IR never passes ptxas.
static void warn_of_lto(char *const *argv) {
    for (char *const *a = argv; *a; a++)
        if (!strcmp(*a, "-dlto") || !strcmp(*a, "--dlink-time-opt") || strstr(*a, "lto_")) {
            gr_log(LOG_WARN,
                   "gpurace nvcc: %s: what is linked by link-time optimization has no checks, for nvlink "
                   "assembles it by itself",
                   *a);
            return;
        }
}

int gr_cmd_nvcc(int argc, char **argv) {
    Toolkit t = {0};
    gr_error err = {0};
    char ptxas[PATH_MAX + 16];
    int status = EXIT_OURS;
    if (argc < 2 || !strcmp(argv[1], "--help"))
        return gr_print_help("nvcc", stdout);
    if (is_nvcc(argv[1])) {
        argv++; // a name without a folder is looked for as if it were not there
        if (strchr(argv[0], '/') && setenv("GPURACE_NVCC", argv[0], 1))
            return complain(EXIT_OURS, (gr_no_memory(&err), &err));
    }
    warn_of_lto(argv + 1);
    if (gr_toolkit_find("nvcc", t.nvcc, &err) != GR_OK)
        return complain(EXIT_NOT_FOUND, &err);
    snprintf(t.bin, sizeof t.bin, "%s", t.nvcc);
    *strrchr(t.bin, '/') = 0;
    snprintf(ptxas, sizeof ptxas, "%s/ptxas", t.bin);
    if (access(ptxas, X_OK)) {
        gr_fail(&err, GR_ERR_NOT_FOUND, "there is no ptxas beside %s", t.nvcc);
        return complain(EXIT_NOT_FOUND, &err);
    }
    if (setenv("GPURACE_PTXAS", ptxas, 1) == 0 && make_folder(&t, &err) == GR_OK)
        status = compile(&t, argv);
    else
        complain(status, &err);
    remove_folder(&t);
    return status;
}

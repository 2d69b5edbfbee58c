// SPDX-License-Identifier: Apache-2.0
// ptx_roundtrip IN.ptx OUT.ptx [--renumber] [--relabel] [--repeat N]: parses, prints, checks that the print of the
// print is the same text. With --repeat, parses N times more and tells the speed in processor time.
#include "base/outfile.h"
#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int fail(const gr_error *err) {
    char buf[1024];
    fprintf(stderr, "ptx_roundtrip: %s\n", gr_error_text(err, buf, sizeof buf));
    return 1;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
    unsigned flags = 0;
    int repeat = 0;
    for (int k = 3; k < argc; k++) {
        if (!strcmp(argv[k], "--renumber"))
            flags |= PTX_PRINT_RENUMBER_REGS;
        else if (!strcmp(argv[k], "--relabel"))
            flags |= PTX_PRINT_RENAME_LABELS;
        else if (!strcmp(argv[k], "--repeat") && k + 1 < argc)
            repeat = atoi(argv[++k]);
        else
            argc = 0;
    }
    if (argc < 3) {
        fprintf(stderr, "usage: ptx_roundtrip IN.ptx OUT.ptx [--renumber] [--relabel] [--repeat N]\n");
        return 2;
    }
    gr_error err = {0};
    char *text = NULL;
    size_t len = 0;
    PtxModule *m = NULL, *again = NULL;
    StrBuf plain = {0}, second = {0}, out = {0};
    if (gr_file_read(argv[1], &text, &len, &err) != GR_OK ||
        gr_ptx_parse(text, len, argv[1], &m, &err) != GR_OK)
        return fail(&err);
    if (gr_ptx_print(m, 0, &plain, &err) != GR_OK ||
        gr_ptx_parse(plain.data, plain.len, "printed text", &again, &err) != GR_OK ||
        gr_ptx_print(again, 0, &second, &err) != GR_OK)
        return fail(&err);
    if (plain.len != second.len || memcmp(plain.data, second.data, plain.len) != 0) {
        fprintf(stderr, "ptx_roundtrip: %s: printing is no fixed point\n", argv[1]);
        fwrite(plain.data, 1, plain.len, stdout);
        gr_file_write(argv[2], second.data, second.len, NULL);
        return 1;
    }
    if (m->n_sites != again->n_sites) {
        fprintf(stderr, "ptx_roundtrip: %s: %u sites became %u\n", argv[1], m->n_sites, again->n_sites);
        return 1;
    }
    if (gr_ptx_print(m, flags, &out, &err) != GR_OK ||
        gr_file_write(argv[2], out.data, out.len, &err) != GR_OK)
        return fail(&err);
    if (repeat > 0) {
        double parse = 0, print = 0, t = now();
        for (int k = 0; k < repeat; k++) {
            PtxModule *x = NULL;
            StrBuf s = {0};
            if (gr_ptx_parse(text, len, argv[1], &x, &err) != GR_OK)
                return fail(&err);
            parse += now() - t;
            t = now();
            gr_ptx_print(x, flags, &s, NULL);
            print += now() - t;
            gr_str_free(&s);
            gr_ptx_free(x);
            t = now();
        }
        double mb = (double)len * repeat / 1e6;
        printf("%s: %.2f MB, parse %.1f MB/s, print %.1f MB/s\n", argv[1], mb / repeat, mb / parse,
               mb / print);
    }
    gr_str_free(&plain);
    gr_str_free(&second);
    gr_str_free(&out);
    gr_ptx_free(again);
    gr_ptx_free(m);
    free(text);
    return 0;
}

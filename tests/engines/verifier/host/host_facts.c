// SPDX-License-Identifier: Apache-2.0
// host_facts [--classes LIST] FILE.cu... [-- words for nvcc]: prints what the host code says of launches.
#include "engines/verifier/host/host.h"

#include <stdlib.h>

int main(int argc, char **argv) {
    GrHostInput in = {.classes = GR_FACTS_ALL};
    int k = 1;
    if (argc > 2 && !strcmp(argv[1], "--classes")) {
        in.classes = 0;
        for (const char *c = argv[2]; *c; c++)
            in.classes |= *c >= '1' && *c <= '5' ? 1u << (*c - '0') : 0;
        k = 3;
    }
    int from = k;
    while (k < argc && strcmp(argv[k], "--"))
        k++;
    GrHostSource *sources = calloc((size_t)argc, sizeof *sources);
    for (int f = from; f < k && sources; f++)
        sources[in.n_sources++] = (GrHostSource){.file = argv[f],
                                                 .words = (const char *const *)argv + k + 1,
                                                 .n_words = k < argc ? (size_t)(argc - k - 1) : 0};
    in.sources = sources;
    GrTerms t;
    GrHost host;
    GrHostCode code;
    StrBuf text = {0};
    gr_error err = {0};
    gr_terms_init(&t);
    gr_status st = gr_host_facts(&t, &in, &host, &code, &err);
    gr_host_print(&host, &text);
    for (size_t p = 0; p < code.ptx.len; p++)
        gr_str_addf(&text, "ptx: %zu bytes of %s\n", code.ptx.data[p].len, code.ptx.data[p].file);
    fputs(text.data ? text.data : "", stdout);
    if (st != GR_OK)
        printf("error: %s\n", err.msg);
    gr_str_free(&text);
    gr_host_code_free(&code);
    gr_host_free(&host);
    gr_terms_free(&t);
    free(sources);
    return st == GR_OK ? 0 : 1;
}

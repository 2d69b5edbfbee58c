// SPDX-License-Identifier: Apache-2.0
// make_fatbin IN.ptx OUT.fatbin SM OPTIONS — one PTX text in a container of our making, for NVIDIA's tools to read.
#include "base/outfile.h"
#include "base/str.h"
#include "fatbin/fatbin.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    gr_status st = argc == 5 ? GR_OK : GR_ERR_ARGUMENT;
    char *text = NULL;
    void *blob = NULL;
    size_t len = 0;
    gr_error err = {.msg = "IN.ptx OUT.fatbin SM OPTIONS"};
    GR_TRY(st);
    GR_TRY(gr_file_read(argv[1], &text, &len, &err));
    FatbinPtx p = {.text = text, .len = len, .sm = (uint32_t)atoi(argv[3]), .major = 9, .options = argv[4]};
    GR_TRY(gr_fatbin_build(&p, 1, &blob, &len, &err));
    GR_TRY(gr_file_write(argv[2], blob, len, &err));
done:
    free(text);
    free(blob);
    if (st != GR_OK)
        fprintf(stderr, "make_fatbin: %s\n", err.msg);
    return st != GR_OK;
}

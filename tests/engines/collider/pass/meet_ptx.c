// SPDX-License-Identifier: Apache-2.0
// meet_ptx IN.ptx: the module as replays of --attribute have it, on standard output; every access is a target.
#include "engines/collider/pass/collider.h"
#include "engines/collider/pass/meet.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    gr_error err = {0};
    char *text = NULL, why[1024];
    size_t len;
    PtxModule *m = NULL;
    StrBuf out = {0};
    gr_status st = argc == 2 ? gr_file_read(argv[1], &text, &len, &err) : GR_ERR_ARGUMENT;
    if (st == GR_OK)
        st = gr_ptx_parse(text, len, argv[1], &m, &err);
    GrSiteStatus *status = m ? calloc(m->n_sites + 1, sizeof *status) : NULL;
    uint16_t *targets = m ? calloc(m->n_sites + 1, sizeof *targets) : NULL;
    ColliderOptions o = {
        .seed = 1, .read_delay_ns = 5000, .write_delay_ns = 5000, .suffix = "3", .attached = true};
    for (uint32_t k = 1; targets && k <= m->n_sites; k++)
        targets[k] = (uint16_t)(k % 1024 + 1);
    MeetOptions meet = {.suffix = "3", .targets = targets, .late_ns = 1 << 14};
    if (st == GR_OK)
        st = status && targets ? gr_collider_rewrite(m, &o, status, &err) : GR_ERR_NOMEM;
    if (st == GR_OK)
        st = gr_meet_rewrite(m, &meet, &err);
    if (st == GR_OK)
        st = gr_ptx_print(m, 0, &out, &err);
    if (st == GR_OK)
        fwrite(out.data, 1, out.len, stdout);
    else
        fprintf(stderr, "%s\n", gr_error_text(&err, why, sizeof why));
    gr_str_free(&out);
    gr_ptx_free(m);
    free(status);
    free(targets);
    free(text);
    return st != GR_OK;
}

// SPDX-License-Identifier: Apache-2.0
// runtimes — device runtimes that the text of a tool calls and does not hold (gr_api_wrote). Modules of one unit share
// them: the process parses them once, and each device decodes them once. Units that are linked with each other get
// copies, as each has variables of its own there.
#include "driver/cuda/module.h"

#include "base/str.h"
#include "device_api/hooks.h"

#include <dlfcn.h>

typedef struct Shared {
    GrApiRuntimes of;
    PtxModule *module;
} Shared;

static VEC(Shared) all; // with the driver's lock held; they stay as long as the process

int gr_runtimes_of(const char *text, size_t len, GrApiRuntimes *out) {
    typedef int (*Wrote)(const char *, size_t, GrApiRuntimes *);
    Wrote wrote = (Wrote)dlsym(RTLD_DEFAULT, "gr_api_wrote");
    *out = (GrApiRuntimes){0};
    return !wrote || wrote(text, len, out);
}

static gr_status link_text(PtxModule *m, const char *text, size_t len, gr_error *err) {
    PtxModule *runtime;
    gr_status st = gr_ptx_parse(text, len, "device runtime", &runtime, err);
    if (st == GR_OK)
        st = gr_ptx_link_runtime(m, runtime, err);
    gr_ptx_free(runtime);
    return st;
}

static bool is_same(const GrApiRuntimes *a, const GrApiRuntimes *b) {
    return a->n == b->n && !memcmp(a->texts, b->texts, a->n * sizeof *a->texts);
}

gr_status gr_runtimes_shared(const GrApiRuntimes *r, PtxModule **out, gr_error *err) {
    static const char empty[] = ".version 6.3\n.target sm_70\n.address_size 64\n";
    gr_status st = GR_OK;
    PtxModule *m = NULL;
    for (size_t k = 0; k < all.len; k++)
        if (is_same(&all.data[k].of, r)) {
            *out = all.data[k].module;
            return GR_OK;
        }
    GR_TRY(gr_ptx_parse_ours(empty, strlen(empty), "device runtime", &m, err));
    for (unsigned k = 0; k < r->n; k++)
        GR_TRY(link_text(m, r->texts[k], strlen(r->texts[k]), err));
    GR_TRY(gr_vec_push(&all, ((Shared){*r, m})) ? GR_OK : gr_no_memory(err));
    *out = m;
done:
    if (st != GR_OK)
        gr_ptx_free(m);
    return st;
}

gr_status gr_runtimes_enter(PtxModule *m, const GrApiRuntimes *r, gr_error *err) {
    gr_status st = GR_OK;
    for (unsigned k = 0; k < r->n && st == GR_OK; k++) {
        StrBuf text = {0};
        gr_ptx_put_named(&text, r->texts[k], r->suffix);
        st = text.oom ? gr_no_memory(err) : link_text(m, text.data, text.len, err);
        gr_str_free(&text);
    }
    return st;
}

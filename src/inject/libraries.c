// SPDX-License-Identifier: Apache-2.0
// NVIDIA's own libraries of kernels: no code of the user's, and most of it machine code. A GPU's driver would compile
// all kernels of rewritten PTX before the first one runs, which takes a minute for cuSOLVER.
#include "inject/session.h"

#include <dlfcn.h>
#include <string.h>

const char *gr_library_left_alone(const void *image) {
    static const char *const names[] = {
#define LIBRARY(name) name,
#include "inject/libraries.def"
#undef LIBRARY
    };
    Dl_info in;
    if (gr_session.options.libraries || strcmp(gr_session.options.device, "gpu") || !dladdr(image, &in) ||
        !in.dli_fname)
        return NULL;
    const char *slash = strrchr(in.dli_fname, '/'), *file = slash ? slash + 1 : in.dli_fname;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (!strncmp(file, names[k], strlen(names[k])))
            return file;
    return NULL;
}

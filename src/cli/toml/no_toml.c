// SPDX-License-Identifier: Apache-2.0
// In place of toml.cpp, where toml++ was not there when gpurace was built.
#include "cli/toml/toml.h"

gr_status gr_toml_read(const char *path, const char *text, size_t len,
                       gr_status (*take)(void *user, const GrTomlValue *v, gr_error *err), void *user,
                       gr_error *err) {
    (void)text, (void)len, (void)take, (void)user;
    return gr_fail(
        err, GR_ERR_UNSUPPORTED,
        "%s is there, but this gpurace was built without toml++ (libtomlplusplus-dev) and cannot read it; "
        "--no-config leaves it aside",
        path);
}

// SPDX-License-Identifier: Apache-2.0
// copy — a copy of a folder from which no link leads back: what is built and edited in it is not the user's.
#ifndef GR_CLI_RUN_COPY_H
#define GR_CLI_RUN_COPY_H

#include "base/status.h"

#include <stdbool.h>

// Where `path` is below `folder`: "/a/b" of /x/a/b and /x, "" of the folder itself. NULL: it is elsewhere.
const char *gr_below(const char *path, const char *folder);

// Copies `folder` (a real path) to `to`, which is new and in `top`, a folder of gr_own_folder. Links that lead within
// the folder lead within the copy. What other links lead to is copied into their place, once; only what is large stays
// where it is, and a line on standard error says so.
// GR_ERR_ARGUMENT: `top` is in the folder, by its path or by its device and inode.
gr_status gr_copy_folder(const char *folder, const char *top, const char *to, gr_error *err);

#endif

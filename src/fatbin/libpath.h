// SPDX-License-Identifier: Apache-2.0
// libpath — where the dynamic linker would find a needed library (ld.so(8)), near enough to look into it.
//
// Followed: paths with a slash, DT_RPATH (when there is no DT_RUNPATH), LD_LIBRARY_PATH, DT_RUNPATH, both with $ORIGIN,
// the folders of /etc/ld.so.conf.d, and the default folders. Not followed: the RPATH of a library's loader.
#ifndef GR_FATBIN_LIBPATH_H
#define GR_FATBIN_LIBPATH_H

#include <limits.h>
#include <stdbool.h>

// Finds `name` for the file `loader`, whose RPATH and RUNPATH are given (NULL for none).
bool gr_libpath_find(const char *name, const char *loader, const char *rpath, const char *runpath,
                     char found[PATH_MAX]);

#endif

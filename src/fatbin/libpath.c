// SPDX-License-Identifier: Apache-2.0
#include "fatbin/libpath.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The folder of `path`, into dir.
static void folder_of(const char *path, char dir[PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    if (!slash)
        snprintf(dir, PATH_MAX, ".");
    else
        snprintf(dir, PATH_MAX, "%.*s", (int)(slash == path ? 1 : slash - path), path);
}

static bool try_folder(const char *dir, size_t dir_len, const char *name, const char *origin,
                       char found[PATH_MAX]) {
    static const char *const forms[] = {"$ORIGIN", "${ORIGIN}"};
    int n = -1;
    for (size_t i = 0; i < 2 && n < 0; i++) {
        size_t k = strlen(forms[i]);
        if (dir_len >= k && strncmp(dir, forms[i], k) == 0)
            n = snprintf(found, PATH_MAX, "%s%.*s/%s", origin, (int)(dir_len - k), dir + k, name);
    }
    if (n < 0)
        n = snprintf(found, PATH_MAX, "%.*s/%s", (int)dir_len, dir, name);
    return n > 0 && n < PATH_MAX && access(found, R_OK) == 0;
}

// Tries each folder of a list separated by colons.
static bool try_list(const char *list, const char *name, const char *origin, char found[PATH_MAX]) {
    for (const char *p = list; p && *p;) {
        size_t n = strcspn(p, ":");
        if (n && try_folder(p, n, name, origin, found))
            return true;
        p += n + (p[n] == ':');
    }
    return false;
}

static bool try_conf_file(const char *path, const char *name, char found[PATH_MAX]) {
    char line[PATH_MAX];
    bool hit = false;
    FILE *f = fopen(path, "r");
    while (f && !hit && fgets(line, sizeof line, f)) {
        size_t n = strcspn(line, " \t\r\n#");
        hit = line[0] == '/' && try_folder(line, n, name, "", found);
    }
    if (f)
        fclose(f);
    return hit;
}

static bool try_system(const char *name, char found[PATH_MAX]) {
    glob_t g;
    bool hit = false;
    if (glob("/etc/ld.so.conf.d/*.conf", 0, NULL, &g) == 0) {
        for (size_t i = 0; i < g.gl_pathc && !hit; i++)
            hit = try_conf_file(g.gl_pathv[i], name, found);
        globfree(&g);
    }
    return hit || try_list("/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib", name, "", found);
}

bool gr_libpath_find(const char *name, const char *loader, const char *rpath, const char *runpath,
                     char found[PATH_MAX]) {
    char origin[PATH_MAX];
    if (strchr(name, '/'))
        return snprintf(found, PATH_MAX, "%s", name) < PATH_MAX && access(found, R_OK) == 0;
    folder_of(loader, origin);
    return (rpath && !runpath && try_list(rpath, name, origin, found)) ||
           try_list(getenv("LD_LIBRARY_PATH"), name, origin, found) ||
           try_list(runpath, name, origin, found) || try_system(name, found);
}

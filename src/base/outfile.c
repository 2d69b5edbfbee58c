// SPDX-License-Identifier: Apache-2.0
#include "base/outfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static gr_status failed(const char *path, gr_error *err) {
    return gr_fail(err, GR_ERR_IO, "cannot write %s: %s", path, strerror(errno));
}

gr_status gr_out_open(GrOutFile *o, const char *path, gr_error *err) {
    struct stat there;
    StrBuf name = {0};
    *o = (GrOutFile){.path = path};
    bool exists = !stat(path, &there);
    if (!exists || S_ISREG(there.st_mode)) {
        gr_str_addf(&name, "%s.tmp%ld", path, (long)getpid());
        o->temporary = gr_str_take(&name);
        if (!o->temporary)
            return gr_fail(err, GR_ERR_NOMEM, "out of memory");
        o->f = fopen(o->temporary, "wbe");
    }
    if (o->f)
        return GR_OK;
    free(o->temporary);
    o->temporary = NULL;
    if (exists)
        o->f = fopen(path, "wbe");
    return o->f ? GR_OK : failed(path, err);
}

gr_status gr_out_write(GrOutFile *o, const void *data, size_t len, gr_error *err) {
    return !len || fwrite(data, 1, len, o->f) == len ? GR_OK : failed(o->path, err);
}

gr_status gr_out_close(GrOutFile *o, gr_error *err) {
    gr_status st = ferror(o->f) || fflush(o->f) ? failed(o->path, err) : GR_OK;
    if (fclose(o->f) && st == GR_OK)
        st = failed(o->path, err);
    o->f = NULL;
    if (st == GR_OK && o->temporary && rename(o->temporary, o->path))
        st = failed(o->path, err);
    if (st == GR_OK) {
        free(o->temporary);
        o->temporary = NULL;
    }
    gr_out_drop(o);
    return st;
}

void gr_out_drop(GrOutFile *o) {
    if (o->f)
        fclose(o->f);
    if (o->temporary)
        unlink(o->temporary);
    free(o->temporary);
    *o = (GrOutFile){0};
}

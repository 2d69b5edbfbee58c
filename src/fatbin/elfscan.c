// SPDX-License-Identifier: Apache-2.0
#include "fatbin/elfscan.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

gr_status gr_elf_open(const char *path, ElfFile *out, gr_error *err) {
    struct stat sb;
    *out = (ElfFile){.fd = -1};
    if (elf_version(EV_CURRENT) == EV_NONE)
        return gr_fail(err, GR_ERR_INTERNAL, "libelf: %s", elf_errmsg(-1));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return gr_fail(err, errno == ENOENT ? GR_ERR_NOT_FOUND : GR_ERR_IO, "%s: %s", path, strerror(errno));
    if (fstat(fd, &sb) != 0 || !S_ISREG(sb.st_mode)) {
        close(fd);
        return gr_fail(err, GR_ERR_IO, "%s: %s", path,
                       S_ISDIR(sb.st_mode) ? "is a directory" : "not a regular file");
    }
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (!elf) { // only a file that starts like an ELF file or an archive and does not go on like one
        close(fd);
        return gr_fail(err, GR_ERR_FORMAT, "%s: truncated ELF file or archive", path);
    }
    *out = (ElfFile){fd, elf};
    return GR_OK;
}

void gr_elf_close(ElfFile *f) {
    if (f->fd < 0)
        return;
    elf_end(f->elf);
    close(f->fd);
    f->fd = -1;
}

const void *gr_elf_bytes(Elf_Scn *s, size_t *len) {
    Elf_Data *d = elf_rawdata(s, NULL);
    *len = d && d->d_buf ? d->d_size : 0;
    return *len ? d->d_buf : NULL;
}

const char *gr_elf_section_name(Elf *elf, Elf_Scn *s) {
    size_t strings;
    GElf_Shdr sh;
    if (!gelf_getshdr(s, &sh) || elf_getshdrstrndx(elf, &strings) != 0)
        return "";
    const char *name = elf_strptr(elf, strings, sh.sh_name);
    return name ? name : "";
}

bool gr_elf_is_fatbin_section(const char *name) {
    return strcmp(name, ".nv_fatbin") == 0 || strcmp(name, "__nv_relfatbin") == 0;
}

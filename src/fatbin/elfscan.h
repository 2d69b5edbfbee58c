// SPDX-License-Identifier: Apache-2.0
// elfscan — one ELF file, opened: what elf.c and file.c both look for in it. Internal to src/fatbin.
#ifndef GR_FATBIN_ELFSCAN_H
#define GR_FATBIN_ELFSCAN_H

#include "base/status.h"

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>

// Opens the file for reading with libelf. GR_ERR_NOT_FOUND, GR_ERR_IO as gr_elf_classify; a file that is not ELF (nor
// an archive) opens too: elf_kind tells. Close with gr_elf_close.
typedef struct ElfFile {
    int fd;
    Elf *elf;
} ElfFile;
gr_status gr_elf_open(const char *path, ElfFile *out, gr_error *err);
void gr_elf_close(ElfFile *f);

// The bytes of section `s` in the file, NULL when it has none (or lies outside of the file).
const void *gr_elf_bytes(Elf_Scn *s, size_t *len);

// The name of section `s`; "" when there is none.
const char *gr_elf_section_name(Elf *elf, Elf_Scn *s);

// Whether `s` is a section in which nvcc keeps fatbins.
bool gr_elf_is_fatbin_section(const char *name);

#endif

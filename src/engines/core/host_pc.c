// SPDX-License-Identifier: Apache-2.0
#include "engines/core/host_pc.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static char program[4096]; // its file

static void find_program(void) {
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
}

GrHostPc gr_host_pc(uint64_t pc, StrBuf *symbol) {
    Dl_info info = {0};
    struct link_map *map = NULL;
    if (!pc || !dladdr1((const void *)(uintptr_t)pc, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return (GrHostPc){.object = NULL};
    // The program itself has no name there.
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_program);
    GrHostPc out = {map->l_name[0] ? map->l_name : *program ? program : info.dli_fname, pc - map->l_addr};
    if (info.dli_sname)
        gr_str_addf(symbol, "%s+0x%llx", info.dli_sname,
                    (unsigned long long)(pc - (uintptr_t)info.dli_saddr));
    else
        gr_str_addf(symbol, "%s+0x%llx", strrchr(out.object, '/') ? strrchr(out.object, '/') + 1 : out.object,
                    (unsigned long long)out.at);
    return out;
}

// SPDX-License-Identifier: Apache-2.0
// A program's calls of CUDA mostly come without the interpreter's lock (ctypes, Cython and Triton's launcher let it
// go), and waiting for the lock here could make the program hang. So what the interpreter prints when it crashes is
// read: it is made for that (faulthandler). The thread is in this call, so its frames stay as they are.
#include "inject/python.h"

#include "inject/hooks.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void *StateOf(void);
typedef const char *Dump(int fd, void *state);

static StateOf *state_of; // both atomic; NULL: none was found
static Dump *dump;
static void *interpreter; // the dynamic linker's name for its object

static void *object_of(const void *pc) {
    Dl_info info;
    struct link_map *map = NULL;
    return dladdr1(pc, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

bool gr_python_is_known(void) { return __atomic_load_n(&dump, __ATOMIC_ACQUIRE) != NULL; }

bool gr_python_find(void) {
    if (gr_python_is_known())
        return true;
    StateOf *s = (StateOf *)gr_real_dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    Dump *d = s ? (Dump *)gr_real_dlsym(RTLD_DEFAULT, "_Py_DumpTraceback") : NULL;
    if (!d)
        return false;
    __atomic_store_n(&state_of, s, __ATOMIC_RELAXED);
    __atomic_store_n(&interpreter, object_of((const void *)d), __ATOMIC_RELAXED);
    __atomic_store_n(&dump, d, __ATOMIC_RELEASE);
    return true;
}

bool gr_python_has(const void *pc) {
    return gr_python_is_known() && interpreter && object_of(pc) == interpreter;
}

size_t gr_python_stack(char *out, size_t room) {
    Dump *d = __atomic_load_n(&dump, __ATOMIC_ACQUIRE);
    void *state = d ? state_of() : NULL;
    int fd = state ? memfd_create("gpurace-python", MFD_CLOEXEC) : -1;
    if (fd < 0)
        return 0;
    d(fd, state);
    ssize_t n = pread(fd, out, room, 0);
    close(fd);
    return n > 0 ? (size_t)n : 0;
}

// SPDX-License-Identifier: Apache-2.0
// A program with two libraries that are called NVRTC, one linked and one opened (LIBRARY is the number of such a
// library): whichever way a function of one is called, it is not the other's. two_compilers OPENED
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

int nvrtcGetCUBIN(void *program, char *out);

#ifdef LIBRARY
int nvrtcGetCUBIN(void *program, char *out) {
    (void)program, (void)out;
    return LIBRARY;
}
#else
int main(int argc, char **argv) {
    typedef int (*Get)(void *, char *);
    void *opened = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL),
         *linked = dlopen("libnvrtc.so.1", RTLD_NOW | RTLD_NOLOAD), *global = dlopen(NULL, RTLD_NOW);
    if (!opened || !linked || !global)
        return 2;
    char out;
    Get of_opened = (Get)dlsym(opened, "nvrtcGetCUBIN"), of_linked = (Get)dlsym(linked, "nvrtcGetCUBIN"),
        of_global = (Get)dlsym(global, "nvrtcGetCUBIN"), again = (Get)dlsym(opened, "nvrtcGetCUBIN"),
        of_default = (Get)dlsym(RTLD_DEFAULT, "nvrtcGetCUBIN");
    printf("%d %d %d %d %d %d %d\n", nvrtcGetCUBIN(NULL, &out), of_opened(NULL, &out), of_linked(NULL, &out),
           of_global(NULL, &out), again(NULL, &out), of_default(NULL, &out), again == of_opened);
    return 0;
}
#endif

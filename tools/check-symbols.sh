#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check-symbols.sh LIBRARY...: fails when one of our shared libraries exports a name that may clash with the program's
# own. Allowed: CUDA's names, ours (gr_, __gr), version nodes, and the C library's functions that are interposed.
set -eu
cd "$(dirname "$0")/.."

cuda='cu[A-Z]\w*|cuda[A-Z]\w*|__cuda[A-Z]\w*|InitializeInjection(Nvtx2)?'
compilers='nvrtc[A-Z]\w*|(__)?nvJitLink[A-Z]\w*' # of libgpurace.so: src/inject/compilers.def
ours='gr_\w*|__gr\w*'
node='libcudart\.so\.[0-9]+'
libc=$(grep -v '^#' tools/interposed-symbols.txt | paste -sd'|')

bad=0
for lib in "$@"; do
    names=$(nm -D --defined-only --without-symbol-versions "$lib" | awk '{print $NF}')
    [ -n "$names" ] || { echo "$lib: exports nothing"; bad=1; }
    strays=$(grep -vxE "$cuda|$compilers|$ours|$node|$libc" <<<"$names" || true)
    if [ -n "$strays" ]; then
        echo "$lib: exports names that are not its own:" $strays
        bad=1
    fi
    echo "$lib: $(wc -w <<<"$names") symbols"
done
exit $bad

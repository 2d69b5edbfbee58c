// SPDX-License-Identifier: Apache-2.0
// all [DIVIDE [ROUNDS]]: the paper's 11 programs in one process, a line "== NAME" before each one's. What they measure is theirs alone, but a process has one start.
#include "program.h"

#include <cmath>

#define main run
namespace p_scan {
#include "scan.cu"
}
namespace p_histogram64 {
#include "histogram64.cu"
}
namespace p_bisect_small {
#include "bisect_small.cu"
}
namespace p_nbody {
#include "nbody.cu"
}
namespace p_radix_sort {
#include "radix_sort.cu"
}
namespace p_bfs {
#include "bfs.cu"
}
namespace p_backprop {
#include "backprop.cu"
}
namespace p_b_plus_tree {
#include "b_plus_tree.cu"
}
namespace p_kmeans {
#include "kmeans.cu"
}
namespace p_cocluster {
#include "cocluster.cu"
}
namespace p_em {
#include "em.cu"
}
#undef main

int main(int argc, char **argv) {
    struct {
        const char *name;
        int (*run)(int, char **);
    } const programs[] = {
        {"scan", p_scan::run},
        {"histogram64", p_histogram64::run},
        {"bisect_small", p_bisect_small::run},
        {"nbody", p_nbody::run},
        {"radix_sort", p_radix_sort::run},
        {"bfs", p_bfs::run},
        {"backprop", p_backprop::run},
        {"b_plus_tree", p_b_plus_tree::run},
        {"kmeans", p_kmeans::run},
        {"cocluster", p_cocluster::run},
        {"em", p_em::run},
    };
    int failed = 0;
    for (const auto &p : programs) {
        std::printf("== %s\n", p.name);
        failed |= p.run(argc, argv);
    }
    return failed;
}

// SPDX-License-Identifier: Apache-2.0
// slurm — a campaign as an array of jobs of Slurm: task I does share I of the runs.
//
// Slurm is asked by its own commands, sbatch and squeue. The array's name is made of the folder's path, so it tells
// which tasks of this campaign Slurm still knows, from whatever machine they were submitted. A task that Slurm does not
// know and whose runs are not there is lost.
#ifndef GR_CAMPAIGN_SLURM_H
#define GR_CAMPAIGN_SLURM_H

#include "base/str.h"
#include "campaign/known.h"

typedef struct GrSlurm {
    const char *self, *folder; // gpurace; the campaign's folder, which all nodes see
    char *const *words;        // of the command line, between the command and the program
    size_t n_words;
    char *const *program; // with its arguments, ends with NULL
    const char *sbatch;   // further words for sbatch
    uint64_t tasks;
} GrSlurm;

// How many tasks of the campaign Slurm knows. GR_ERR_NOT_FOUND: squeue is not there; GR_ERR_IO: it failed.
gr_status gr_slurm_queued(const GrSlurm *s, uint64_t *tasks, gr_error *err);

// Submits a task for each share that has open runs: *tasks of them, as the array `job` (what sbatch calls it).
gr_status gr_slurm_submit(const GrSlurm *s, const GrKnown *k, uint64_t *tasks, char job[64], gr_error *err);

#endif

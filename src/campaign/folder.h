// SPDX-License-Identifier: Apache-2.0
// folder — the folder of a campaign: --state.
//
//     campaign.sqlite           the results (store.h)
//     shares/3-of-16.sqlite     those of a share, until they are merged and after
//     runs/                     what runs printed that left no report or an inconclusive one
//     growth.svg                written at the end
//     *.lock                    held while a campaign, or a share of it, is at work; nothing is left to clean up when
//                               it is killed
#ifndef GR_CAMPAIGN_FOLDER_H
#define GR_CAMPAIGN_FOLDER_H

#include "base/str.h"
#include "campaign/store.h"

#include <limits.h>

typedef struct GrCampaignFolder {
    char path[PATH_MAX], runs[PATH_MAX];
    char scope[64];       // "campaign", or "3-of-16": whose files are ours
    int lock;             // -1: none
    GrStore *store, *all; // all: of a share: the results of the campaign, NULL if there are none yet
} GrCampaignFolder;
#define GR_NO_FOLDER                                                                                         \
    (GrCampaignFolder) { .lock = -1 }

// Makes the folder if need be, and opens the results of share `share` of `shares` in it (`shares` 0: of all). *f is
// GR_NO_FOLDER before, and is to be closed in any case. GR_ERR_LIMIT: another process works on them.
gr_status gr_folder_open(const char *path, uint64_t share, uint64_t shares, GrCampaignFolder *f,
                         gr_error *err);
void gr_folder_close(GrCampaignFolder *f);
// Removes all results in the folder, those of shares too, and opens it as new. It is open, and not of a share.
gr_status gr_folder_renew(GrCampaignFolder *f, gr_error *err);

// What must be the same whenever the campaign goes on.
typedef struct GrCampaignIdentity {
    const char *tool, *program, *options; // program: with its arguments
    const char *code;                     // a hash of the program's file
} GrCampaignIdentity;

// Notes it in a new folder; else GR_ERR_ARGUMENT says what differs.
gr_status gr_folder_identify(GrCampaignFolder *f, const GrCampaignIdentity *now, gr_error *err);

// Adds the results of all shares that are there. *shares files gave *runs runs. A file that another machine is writing
// is left for the next time, with a word on standard error.
gr_status gr_folder_merge(GrCampaignFolder *f, uint64_t *shares, uint64_t *runs, gr_error *err);

#endif

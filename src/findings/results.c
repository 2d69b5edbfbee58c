// SPDX-License-Identifier: Apache-2.0
#include "findings/results.h"

#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

uint64_t gr_record_hash(const GrRecordHeader *h, const void *payload) {
    uint64_t head[4] = {h->kind, h->size, h->process, h->size ? gr_hash_bytes(payload, (size_t)h->size) : 0};
    return gr_hash_bytes(head, sizeof head);
}

static bool write_all(int fd, const void *data, size_t len, uint64_t offset) {
    const char *p = data;
    while (len) {
        ssize_t n = pwrite(fd, p, len, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n ? errno : ENOSPC;
            return false;
        }
        p += n;
        offset += (uint64_t)n;
        len -= (size_t)n;
    }
    return true;
}

gr_status gr_results_create(const char *path, gr_error *err) {
    char page[GR_RESULTS_HEADER] = {0};
    GrResultsHeader h = {
        .version = GR_RESULTS_VERSION, .header_size = GR_RESULTS_HEADER, .end = GR_RESULTS_HEADER};
    memcpy(h.magic, GR_RESULTS_MAGIC, sizeof h.magic);
    memcpy(page, &h, sizeof h);
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0)
        return gr_fail(err, GR_ERR_IO, "cannot create %s: %s", path, strerror(errno));
    bool ok = write_all(fd, page, sizeof page, 0);
    int why = errno;
    if (close(fd) || (errno = why, !ok))
        return gr_fail(err, GR_ERR_IO, "cannot write %s: %s%s", path, strerror(errno),
                       gr_limit_advice(errno));
    return GR_OK;
}

static bool is_file(const GrResults *r, int fd) {
    struct stat st;
    return fd >= 0 && !fstat(fd, &st) && st.st_dev == r->device && st.st_ino == r->inode;
}

static bool map_header(GrResults *r, int fd) {
    struct stat st;
    if (fstat(fd, &st) || st.st_size < GR_RESULTS_HEADER)
        return false;
    void *page = mmap(NULL, GR_RESULTS_HEADER, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return false;
    r->header = page;
    r->device = st.st_dev;
    r->inode = st.st_ino;
    return true;
}

gr_status gr_results_look_by(const char *path, int fd, GrResults *out, gr_error *err) {
    *out = (GrResults){.fd = -1};
    int opened = open(path, O_RDWR | O_CLOEXEC), use = opened >= 0 ? opened : fd;
    if (use < 0)
        return gr_fail(err, GR_ERR_IO, "cannot open %s: %s", path, strerror(errno));
    bool mapped = map_header(out, use);
    if (opened >= 0)
        close(opened);
    if (!mapped)
        return gr_fail(err, GR_ERR_IO, "cannot map %s", path);
    out->path = strdup(path);
    if (!out->path || memcmp(out->header->magic, GR_RESULTS_MAGIC, sizeof out->header->magic) ||
        out->header->version != GR_RESULTS_VERSION) {
        gr_results_detach(out);
        return gr_fail(err, GR_ERR_FORMAT, "%s is not a results file of this gpurace", path);
    }
    out->fd = is_file(out, fd) ? fd : -1;
    return GR_OK;
}

gr_status gr_results_look(const char *path, GrResults *out, gr_error *err) {
    return gr_results_look_by(path, -1, out, err);
}

void gr_results_join(GrResults *r) {
    r->process = __atomic_add_fetch(&r->header->processes, 1, __ATOMIC_RELAXED);
}

// A descriptor to write by, for close_file(); -1: there is none, and the header says so.
static int open_file(const GrResults *r) {
    int fd = open(r->path, O_RDWR | O_CLOEXEC);
    if (fd >= 0 || is_file(r, r->fd))
        return fd >= 0 ? fd : r->fd;
    gr_hidden_note(r->header, GR_HIDDEN_UNWRITTEN, r->program ? r->program : "?");
    return -1;
}

static void close_file(const GrResults *r, int fd) {
    if (fd >= 0 && fd != r->fd)
        close(fd);
}

void gr_results_detach(GrResults *r) {
    if (r->header)
        munmap(r->header, GR_RESULTS_HEADER);
    free(r->path);
    *r = (GrResults){.fd = -1};
}

void gr_results_count_dropped(GrResults *r) {
    if (r->header)
        __atomic_add_fetch(&r->header->dropped, 1, __ATOMIC_RELAXED);
}

// A record is lost to this error; the first such error is kept for the report.
static void lose(GrResults *r, int error) {
    uint32_t none = 0;
    (void)__atomic_compare_exchange_n(&r->header->lost_to, &none, (uint32_t)error, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED);
    gr_results_count_dropped(r);
}

void gr_results_count_launch(GrResults *r) {
    if (r->header)
        __atomic_add_fetch(&r->header->launches, 1, __ATOMIC_RELAXED);
}

void gr_results_count_race(GrResults *r) {
    if (r->header)
        __atomic_add_fetch(&r->header->races, 1, __ATOMIC_RELAXED);
}

static uint64_t align_up(uint64_t v, uint64_t a) { return (v + a - 1) / a * a; }

// False: so much would be too much for a file. What is smaller may still fit.
static bool reserve(GrResults *r, uint64_t size, uint64_t *at) {
    uint64_t room = align_up(size, GR_RESULTS_GRID);
    if (!gr_file_may_grow(__atomic_load_n(&r->header->end, __ATOMIC_RELAXED) + room))
        return false;
    *at = __atomic_fetch_add(&r->header->end, room, __ATOMIC_RELAXED);
    return gr_file_may_grow(*at + room); // others may have reserved since
}

// What was reserved and cannot be written would look like damage. Others may have reserved since: then it stays.
static void give_back(GrResults *r, uint64_t at, uint64_t size) {
    uint64_t end = at + align_up(size, GR_RESULTS_GRID);
    (void)__atomic_compare_exchange_n(&r->header->end, &end, at, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static bool write_record(GrResults *r, int fd, uint64_t offset, GrRecordKind kind, const void *payload,
                         size_t size) {
    GrRecordHeader h = {.magic = GR_RECORD_MAGIC, .kind = kind, .size = size, .process = r->process};
    h.hash = gr_record_hash(&h, payload);
    size_t total = (size_t)align_up(sizeof h + size, GR_RESULTS_GRID);
    char zeros[GR_RESULTS_GRID] = {0};
    struct iovec parts[] = {
        {&h, sizeof h}, {(void *)(uintptr_t)payload, size}, {zeros, total - sizeof h - size}};
    ssize_t n = pwritev(fd, parts, 3, (off_t)offset);
    if (n == (ssize_t)total)
        return true;
    // A signal came between, or the disk is full: it is tried once more, piece by piece.
    return (n >= 0 || errno == EINTR) && write_all(fd, &h, sizeof h, offset) &&
           write_all(fd, payload, size, offset + sizeof h) &&
           write_all(fd, zeros, parts[2].iov_len, offset + sizeof h + size);
}

void gr_results_append(GrResults *r, GrRecordKind kind, const StrBuf *payload) {
    if (!r->header)
        return;
    int keep = errno, fd = payload->oom ? -1 : open_file(r);
    uint64_t offset;
    size_t size = sizeof(GrRecordHeader) + payload->len;
    if (fd < 0 || !reserve(r, size, &offset)) {
        lose(r, payload->oom ? ENOMEM : errno);
    } else if (!write_record(r, fd, offset, kind, payload->data, payload->len)) {
        lose(r, errno);
        give_back(r, offset, size);
    }
    close_file(r, fd);
    errno = keep;
}

void *gr_results_area(GrResults *r, uint64_t size, uint64_t *offset) {
    if (!r->header)
        return NULL;
    int keep = errno, fd = -1;
    void *area = MAP_FAILED;
    if (size == 0 || size > (uint64_t)1 << 40)
        goto done;
    fd = open_file(r);
    if (fd < 0)
        goto done;
    // The AREA record, a gap up to the alignment, and the bytes: one reservation, so that a reader finds the
    // next record behind them.
    uint64_t place[3], head = sizeof(GrRecordHeader) + sizeof place, start,
                       room = head + GR_RESULTS_AREA_ALIGN + align_up(size, GR_RESULTS_AREA_ALIGN);
    if (!reserve(r, room, &start))
        goto done;
    place[0] = align_up(start + head, GR_RESULTS_AREA_ALIGN);
    place[1] = start + align_up(room, GR_RESULTS_GRID) - place[0];
    place[2] = size;
    // Blocks are really allocated: on a full disk a store into a hole would kill the user's program (SIGBUS).
    if ((errno = posix_fallocate(fd, (off_t)place[0], (off_t)size)) != 0 ||
        !write_record(r, fd, start, GR_RECORD_AREA, place, sizeof place)) {
        give_back(r, start, room);
        goto done;
    }
    area = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)place[0]);
    *offset = place[0];
done:
    close_file(r, fd);
    if (area == MAP_FAILED)
        lose(r, errno);
    errno = keep;
    return area == MAP_FAILED ? NULL : area;
}

void gr_put_u32(StrBuf *b, uint32_t v) { gr_str_addn(b, (const char *)&v, sizeof v); }
void gr_put_u64(StrBuf *b, uint64_t v) { gr_str_addn(b, (const char *)&v, sizeof v); }

void gr_put_str(StrBuf *b, const char *s) {
    size_t n = s ? strlen(s) : 0;
    if (n > UINT32_MAX)
        n = 0;
    gr_put_u32(b, (uint32_t)n);
    gr_str_addn(b, s ? s : "", n);
}

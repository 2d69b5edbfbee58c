// SPDX-License-Identifier: Apache-2.0
// Streams, events and pinned memory that go away by themselves.
#pragma once

#include "../corpus.h"

// Non-blocking unless told otherwise: then nothing but the program orders it.
class Stream {
  public:
    explicit Stream(unsigned flags = cudaStreamNonBlocking) {
        CHECK(cudaStreamCreateWithFlags(&stream_, flags));
    }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    ~Stream() { cudaStreamDestroy(stream_); }
    operator cudaStream_t() const { return stream_; }

  private:
    cudaStream_t stream_ = nullptr;
};

class Event {
  public:
    Event() { CHECK(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
    Event(const Event &) = delete;
    Event &operator=(const Event &) = delete;
    ~Event() { cudaEventDestroy(event_); }
    operator cudaEvent_t() const { return event_; }
    void record(cudaStream_t stream) { CHECK(cudaEventRecord(event_, stream)); }
    // What comes into `stream` from now on waits for the last record.
    void order(cudaStream_t stream) { CHECK(cudaStreamWaitEvent(stream, event_, 0)); }

  private:
    cudaEvent_t event_ = nullptr;
};

// Page-locked memory of the host, filled with first, first + 1, ...
class Pinned {
  public:
    explicit Pinned(int count, int first = 0) {
        CHECK(cudaMallocHost(&data_, count * sizeof(int)));
        for (int i = 0; i < count; i++) {
            data_[i] = first + i;
        }
    }
    Pinned(const Pinned &) = delete;
    Pinned &operator=(const Pinned &) = delete;
    ~Pinned() { cudaFreeHost(data_); }
    operator int *() const { return data_; }

  private:
    int *data_ = nullptr;
};

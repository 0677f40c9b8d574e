#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <thread>

#include "data/augmentation.h"
#include "data/batch.h"

namespace ablate::data {

/// A place in the endless sequence of batches: the next batch to be returned.
struct StreamPosition {
  int64_t epoch = 0;
  int64_t batch = 0;
  bool operator==(const StreamPosition&) const = default;
};

/// Endless shuffled batches, prepared ahead on a separate thread; every epoch shows every token
/// once. Running text may stay in its file and takes no memory, since the place of a block follows
/// from seed, epoch and its number. The sequence is a function of examples, tokens_per_batch, seed
/// and augmentation; a stream started at a position continues it exactly.
class BatchStream {
 public:
  struct Options {
    int64_t tokens_per_batch;
    uint64_t seed;
    StreamPosition start;
    Augmentation augmentation = {};
  };
  /// `examples` must outlive the stream. If the stream cuts them into blocks, they are one example,
  /// the whole running text, or the list is empty and augmentation.chunking holds the text. Throws
  /// DataError if no token is left to predict.
  BatchStream(std::span<const EncodedExample> examples, const Options& options);
  ~BatchStream();
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;

  /// Rethrows the exception that ended the thread, if any.
  Batch next();
  StreamPosition position() const { return position_; }

 private:
  struct Prepared {
    Batch batch;
    StreamPosition after;
  };
  /// The batches of an epoch, by their number.
  struct Batches {
    int64_t count;
    std::function<Batch(int64_t)> at;
  };
  int64_t running_ids() const;
  std::vector<int32_t> running_ids(Blocks::Place place) const;
  Batches blocks_of(int64_t epoch) const;
  Batches batches_of(int64_t epoch) const;
  void prepare();
  void begin_epoch(int64_t epoch);
  bool put(Prepared prepared);

  std::span<const EncodedExample> examples_;
  std::vector<EncodedExample> rewritten_;  // of the epoch, if every epoch has its own
  Options options_;
  StreamPosition position_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Prepared> ready_;
  std::exception_ptr failure_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace ablate::data

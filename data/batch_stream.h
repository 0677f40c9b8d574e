#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
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
/// once. The sequence is a function of examples, tokens_per_batch, seed and augmentation; a stream
/// started at a position continues it exactly.
class BatchStream {
 public:
  struct Options {
    int64_t tokens_per_batch;
    uint64_t seed;
    StreamPosition start;
    Augmentation augmentation = {};
  };
  /// `examples` outlive the stream; if they are to be cut into blocks, they are the running text as
  /// one example. Throws DataError if there are no examples.
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
  std::vector<Block> blocks_of(int64_t epoch) const;
  std::vector<std::vector<int64_t>> plan_of(const std::vector<Block>& blocks, int64_t epoch) const;
  Batch batch_of(const std::vector<Block>& blocks, std::span<const int64_t> indices) const;
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

#include "data/batch_stream.h"

#include <string>

#include "data/batching.h"
#include "data/corpus.h"

namespace ablate::data {
namespace {

constexpr size_t kPrefetchBatches = 8;

}  // namespace

BatchStream::BatchStream(std::span<const EncodedExample> examples, Options options)
    : examples_(examples), options_(options), position_(options.start) {
  if (examples.empty()) throw DataError("there is no training example");
  thread_ = std::thread([this] {
    try {
      prepare();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      changed_.notify_all();
    }
  });
}

BatchStream::~BatchStream() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

/// The examples with their running text cut at another offset.
std::vector<EncodedExample> BatchStream::chunked_anew(int64_t epoch) const {
  auto chunking = *options_.augmentation.chunking;
  chunking.offset =
      Random(options_.seed, "chunk", static_cast<uint64_t>(epoch)).below(chunking.block);
  return chunk(unchunk(examples_, chunking.masked), chunking);
}

void BatchStream::prepare() {
  const auto& [masking, chunking] = options_.augmentation;
  auto at = options_.start;
  for (;;) {
    const auto chunked = chunking ? chunked_anew(at.epoch) : std::vector<EncodedExample>();
    const auto examples = chunking ? std::span(chunked) : examples_;
    const auto plan = batch_plan(
        examples,
        {.tokens_per_batch = options_.tokens_per_batch, .seed = options_.seed, .epoch = at.epoch});
    while (at.batch < static_cast<int64_t>(plan.size())) {
      auto batch = collate(examples, plan[static_cast<size_t>(at.batch)]);
      if (masking) {
        Random random(options_.seed, "mask " + std::to_string(at.epoch),
                      static_cast<uint64_t>(at.batch));
        mask(batch, *masking, random);
      }
      ++at.batch;
      const bool last = at.batch == static_cast<int64_t>(plan.size());
      if (!put({std::move(batch), last ? StreamPosition{at.epoch + 1, 0} : at})) return;
    }
    at = {at.epoch + 1, 0};
  }
}

bool BatchStream::put(Prepared prepared) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stop_ || ready_.size() < kPrefetchBatches; });
  if (stop_) return false;
  ready_.push_back(std::move(prepared));
  changed_.notify_all();
  return true;
}

Batch BatchStream::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return failure_ || !ready_.empty(); });
  if (ready_.empty()) std::rethrow_exception(failure_);
  auto prepared = std::move(ready_.front());
  ready_.pop_front();
  position_ = prepared.after;
  changed_.notify_all();
  return std::move(prepared.batch);
}

}  // namespace ablate::data

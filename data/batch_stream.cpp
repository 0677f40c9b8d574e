#include "data/batch_stream.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "data/batch.h"
#include "data/corpus.h"
#include "data/permutation.h"

namespace ablate::data {
namespace {

constexpr size_t kPrefetchBatches = 8;

}  // namespace

BatchStream::BatchStream(std::span<const EncodedExample> examples, const Options& options)
    : examples_(examples), options_(options), position_(options.start) {
  const auto& chunking = options.augmentation.chunking;
  if ((examples.empty() && !(chunking && chunking->text)) ||
      (chunking && Blocks(running_ids(), *chunking).count() == 0))
    throw DataError("there is no training example");
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

int64_t BatchStream::running_ids() const {
  const auto& text = options_.augmentation.chunking->text;
  return text ? text->size() : std::ssize(examples_.front().target);
}

std::vector<int32_t> BatchStream::running_ids(Blocks::Place place) const {
  const auto& text = options_.augmentation.chunking->text;
  if (text) return text->read(place.begin, place.size);
  const auto begin = examples_.front().target.begin() + place.begin;
  return {begin, begin + place.size};
}

/// The running text, cut at an offset of the epoch.
BatchStream::Batches BatchStream::blocks_of(int64_t epoch) const {
  auto chunking = *options_.augmentation.chunking;
  const auto number = static_cast<uint64_t>(epoch);
  chunking.offset = Random(options_.seed, "chunk", number).below(chunking.block);
  const Blocks blocks(running_ids(), chunking);
  const Permutation order(blocks.count(), Random(options_.seed, "blocks", number));
  const int64_t rows = std::max<int64_t>(1, options_.tokens_per_batch / blocks.longest_example());
  return {.count = (blocks.count() + rows - 1) / rows, .at = [=, this](int64_t batch) {
            std::vector<EncodedExample> examples;
            for (int64_t i = batch * rows; i < std::min((batch + 1) * rows, blocks.count()); ++i)
              examples.push_back(example_of(running_ids(blocks.at(order(i))), chunking));
            std::vector<int64_t> all(examples.size());
            std::iota(all.begin(), all.end(), 0);
            return collate(examples, all);
          }};
}

BatchStream::Batches BatchStream::batches_of(int64_t epoch) const {
  if (options_.augmentation.chunking) return blocks_of(epoch);
  auto plan = batch_plan(
      lengths_of(examples_),
      {.tokens_per_batch = options_.tokens_per_batch, .seed = options_.seed, .epoch = epoch});
  return {.count = std::ssize(plan), .at = [this, plan = std::move(plan)](int64_t batch) {
            return collate(examples_, plan[static_cast<size_t>(batch)]);
          }};
}

void BatchStream::begin_epoch(int64_t epoch) {
  if (!options_.augmentation.rewritten) return;
  rewritten_ = options_.augmentation.rewritten(epoch);
  examples_ = rewritten_;
}

void BatchStream::prepare() {
  const auto& masking = options_.augmentation.masking;
  auto at = options_.start;
  for (;;) {
    begin_epoch(at.epoch);
    const auto batches = batches_of(at.epoch);
    while (at.batch < batches.count) {
      auto batch = batches.at(at.batch);
      if (masking) {
        Random random(options_.seed, "mask " + std::to_string(at.epoch),
                      static_cast<uint64_t>(at.batch));
        mask(batch, *masking, random);
      }
      ++at.batch;
      const bool last = at.batch == batches.count;
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

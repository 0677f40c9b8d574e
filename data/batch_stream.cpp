#include "data/batch_stream.h"

#include <numeric>
#include <string>

#include "data/batch.h"
#include "data/corpus.h"

namespace ablate::data {
namespace {

constexpr size_t kPrefetchBatches = 8;

}  // namespace

BatchStream::BatchStream(std::span<const EncodedExample> examples, const Options& options)
    : examples_(examples), options_(options), position_(options.start) {
  if (examples.empty() || (options.augmentation.chunking && blocks_of(0).empty()))
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

/// The running text, cut at an offset of the epoch; empty if examples are not cut into blocks.
std::vector<Block> BatchStream::blocks_of(int64_t epoch) const {
  if (!options_.augmentation.chunking) return {};
  auto chunking = *options_.augmentation.chunking;
  chunking.offset =
      Random(options_.seed, "chunk", static_cast<uint64_t>(epoch)).below(chunking.block);
  return cut(examples_.front().target, chunking);
}

std::vector<std::vector<int64_t>> BatchStream::plan_of(const std::vector<Block>& blocks,
                                                       int64_t epoch) const {
  const PlanOptions plan{
      .tokens_per_batch = options_.tokens_per_batch, .seed = options_.seed, .epoch = epoch};
  const auto& chunking = options_.augmentation.chunking;
  if (!chunking) return batch_plan(lengths_of(examples_), plan);
  std::vector<int64_t> lengths;
  for (const auto block : blocks) lengths.push_back(std::ssize(block) + (chunking->masked ? 1 : 0));
  return batch_plan(lengths, plan);
}

Batch BatchStream::batch_of(const std::vector<Block>& blocks,
                            std::span<const int64_t> indices) const {
  const auto& chunking = options_.augmentation.chunking;
  if (!chunking) return collate(examples_, indices);
  std::vector<EncodedExample> rows;
  for (const int64_t index : indices)
    rows.push_back(example_of(blocks[static_cast<size_t>(index)], chunking->masked));
  std::vector<int64_t> all(rows.size());
  std::iota(all.begin(), all.end(), 0);
  return collate(rows, all);
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
    const auto blocks = blocks_of(at.epoch);
    const auto plan = plan_of(blocks, at.epoch);
    while (at.batch < static_cast<int64_t>(plan.size())) {
      auto batch = batch_of(blocks, plan[static_cast<size_t>(at.batch)]);
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

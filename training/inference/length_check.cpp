#include "training/inference/length_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>

#include "data/batch.h"
#include "models/position/position.h"
#include "tokenizer/special_tokens.h"

namespace ablate::training {
namespace {

constexpr int64_t kAnyLength = std::numeric_limits<int64_t>::max();

struct SideName {
  models::Side side;
  const char* sequences;
};

constexpr SideName kEncoder{models::Side::encoder, "sources"},
    kDecoder{models::Side::decoder, "targets"}, kAlone{models::Side::decoder, "sequences"};

/// The last token is predicted and not read. With a start token the decoder reads as many tokens as
/// the target has all the same, otherwise one fewer.
int64_t unread(const data::EncodedExample& example) { return example.started ? 0 : 1; }

void check_side(const models::TransformerOptions& model, const std::string& set,
                const SideName& side, std::span<const data::EncodedExample> examples) {
  const auto limit = position_limit(model, side.side);
  if (!limit) return;
  const bool reads = side.side == models::Side::encoder;
  const auto positions = [&](const data::EncodedExample& example) {
    return reads ? std::ssize(example.source) : std::ssize(example.target) - unread(example);
  };
  const auto too_long = [&](const data::EncodedExample& example) {
    return positions(example) > limit->tokens;
  };
  const auto first = std::ranges::find_if(examples, too_long);
  if (first == examples.end()) return;
  throw models::LengthError(fmt::format(
      "{}: {} of {} {} are longer than the {} positions that the model has for them (the first is "
      "number {}, of {} tokens), and no score is of a part of a test set; raise {} to {} and train "
      "again, or leave them out",
      set, std::ranges::count_if(examples, too_long), examples.size(), side.sequences,
      limit->tokens, first - examples.begin() + 1,
      std::ssize(reads ? first->source : first->target), limit->key,
      positions(*std::ranges::max_element(examples, {}, positions))));
}

/// Positions that the longest output of the example takes, its prompt included.
int64_t positions_of(const data::EncodedExample& example, const models::SearchOptions& decoding) {
  const auto read = example.source.empty() ? example.prompt_length : std::ssize(example.source);
  return example.prompt_length + decoding.longest_output(read) - unread(example);
}

/// The key that gives the number of positions of a side's layer.
std::string key_of_positions(const models::TransformerOptions& model, models::Side side,
                             const models::LayerOptions& layer) {
  if (models::equal(layer.position, model.layer.position)) return "model.position.max_length";
  if (!models::are_alike(models::list_of(model, side)))
    return "position.max_length in model.changes";
  return fmt::format("model.{}.position.max_length", text_of(side));
}

}  // namespace

std::optional<PositionLimit> position_limit(const models::TransformerOptions& model,
                                            models::Side side) {
  const auto stack = models::stack_of(model, side);
  const auto* randomized = std::get_if<models::Randomized>(&stack.position_ids);
  std::optional<PositionLimit> limit;
  for (const auto& layer : stack.layers) {
    const auto* learned = std::get_if<models::Learned>(&layer.position);
    if (learned == nullptr || learned->beyond != models::Beyond::error) continue;
    if (!limit || learned->max_length < limit->tokens)
      limit = {learned->max_length, key_of_positions(model, side, layer)};
  }
  if (randomized != nullptr && randomized->longest < (limit ? limit->tokens : kAnyLength))
    limit = {randomized->longest, "model.position_ids.longest"};
  return limit;
}

void check_lengths(const models::TransformerOptions& model, const std::string& set,
                   std::span<const data::EncodedExample> examples) {
  using models::Family;
  if (model.family == Family::decoder_only) return check_side(model, set, kAlone, examples);
  check_side(model, set, kEncoder, examples);
  if (model.family == Family::encoder_decoder) check_side(model, set, kDecoder, examples);
}

void check_outputs(const models::TransformerOptions& model, const std::string& set,
                   std::span<const data::EncodedExample> examples,
                   const models::SearchOptions& decoding) {
  const auto limit = position_limit(model, models::Side::decoder);
  if (!limit) return;
  int64_t longest = 0, before = 0, count = 0, first = 0;
  for (const auto& example : examples) {
    const auto length = positions_of(example, decoding);
    longest = std::max(longest, length);
    before = std::max(before, example.prompt_length - unread(example));
    if (length <= limit->tokens) continue;
    if (count++ == 0) first = &example - examples.data() + 1;
  }
  if (count > 0)
    throw models::LengthError(fmt::format(
        "{}: the outputs of {} of {} lines may grow beyond the {} positions that the model has for "
        "them (the first is that of line {}); lower decoding.max_length to {}, or raise {} to {}",
        set, count, examples.size(), limit->tokens, first, limit->tokens - before, limit->key,
        longest));
}

void check_line(const models::TransformerOptions& model, const LineLengths& line) {
  const bool alone = model.family == models::Family::decoder_only;
  const auto read = position_limit(model, alone ? models::Side::decoder : models::Side::encoder);
  if (read && line.tokens > read->tokens)
    throw models::LengthError(
        fmt::format("line {} has {} tokens and the model positions for {}; shorten the line, or "
                    "raise {} and train again",
                    line.number, line.tokens, read->tokens, read->key));
  const auto written = position_limit(model, models::Side::decoder);
  if (!written || line.output == 0) return;
  const auto room = written->tokens - (alone ? line.tokens : 0) + (line.started ? 0 : 1);
  if (line.output <= room) return;
  const auto remedy = room > line.prefix
                          ? fmt::format("lower decoding.max_length (--max-length) to {}", room)
                          : std::string("shorten the line or its prefix");
  throw models::LengthError(fmt::format(
      "the output of line {} may grow to {} tokens, and the model has positions for {}; {}, or "
      "raise {} and train again",
      line.number, line.output, room, remedy, written->key));
}

namespace {

/// LibTorch keeps the last number of threads that any thread has set for those made later.
class ThreadCountGuard {
 public:
  ThreadCountGuard() : count_(at::get_num_threads()) {}
  ~ThreadCountGuard() { at::set_num_threads(count_); }
  ThreadCountGuard(const ThreadCountGuard&) = delete;
  ThreadCountGuard& operator=(const ThreadCountGuard&) = delete;

 private:
  int count_;
};

}  // namespace

std::vector<std::vector<int64_t>> batches_by_length(std::span<const size_t> lengths, int64_t rows) {
  std::vector<int64_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](int64_t row) { return lengths[static_cast<size_t>(row)]; });
  std::vector<std::vector<int64_t>> batches;
  for (auto begin = order.begin(); begin != order.end();) {
    const auto end = begin + std::min<std::ptrdiff_t>(rows, order.end() - begin);
    batches.emplace_back(begin, end);
    begin = end;
  }
  return batches;
}

void in_parallel(size_t count, int64_t jobs, const std::function<void(size_t)>& work) {
  if (jobs <= 1 || count <= 1) {
    for (size_t i = 0; i < count; ++i) work(i);
    return;
  }
  const ThreadCountGuard guard;
  std::atomic<size_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto run = [&] {
    at::set_num_threads(1);
    for (size_t i = next++; i < count; i = next++) try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
        next = count;
      }
  };
  std::vector<std::jthread> threads;
  try {
    while (std::ssize(threads) + 1 < jobs) threads.emplace_back(run);
  } catch (const std::system_error&) {  // no more threads are to be had, so fewer share the work
  }
  run();
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

torch::Tensor source_tensor(std::span<const std::vector<int32_t>> sources,
                            std::span<const int64_t> rows, torch::Device device) {
  size_t longest = 0;
  for (const auto row : rows) longest = std::max(longest, sources[static_cast<size_t>(row)].size());
  std::vector<int64_t> ids;
  for (const auto row : rows) {
    const auto& source = sources[static_cast<size_t>(row)];
    ids.insert(ids.end(), source.begin(), source.end());
    ids.resize(ids.size() + longest - source.size(), tokenizer::kPad);
  }
  return torch::tensor(ids, torch::kLong)
      .view({std::ssize(rows), static_cast<int64_t>(longest)})
      .to(device);
}

}  // namespace ablate::training

#include "data/shared_text.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>

#include "data/text_file.h"
#include "data/token_file.h"

namespace ablate::data {
namespace {

using Prints = std::vector<uint64_t>;  // hashes, ascending and different

constexpr int64_t kWindow = 16;       // tokens or words of a run
constexpr int64_t kWindows = 65'536;  // about as many of a file are enough

Prints different(Prints all) {
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// Of whole examples, however many spaces stand between their words.
Prints prints_of(const std::vector<Example>& examples) {
  Prints all;
  for (const auto& example : examples) {
    std::string words;
    for (const auto& word : words_of(example.source)) words += word + ' ';
    words += '\t';
    for (const auto& word : words_of(example.target)) words += word + ' ';
    if (words.size() > 1) all.push_back(std::hash<std::string>()(words));
  }
  return different(std::move(all));
}

/// Of runs of words, wherever the lines of a running text end.
Prints prints_of_runs(const std::vector<Example>& lines) {
  std::vector<std::string> words;
  for (const auto& line : lines) {
    auto more = words_of(line.target);
    words.insert(words.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
  }
  Prints all;
  for (size_t begin = 0; begin + kWindow <= words.size(); ++begin) {
    std::string run;
    for (size_t i = begin; i < begin + kWindow; ++i) run += words[i] + ' ';
    all.push_back(std::hash<std::string>()(run));
  }
  return different(std::move(all));
}

/// The first tokens of a file. Only runs with a hash that `every` divides are kept: as the content
/// of a run decides, two files keep the same ones of the runs that both have.
struct Scored {
  const TokenFile& file;
  int64_t tokens;
  uint64_t every;
};

/// By a rolling hash (Karp and Rabin 1987).
Prints prints_of(const Scored& scored) {
  constexpr uint64_t kBase = 0x9e3779b97f4a7c15U;
  uint64_t leaving = 1, sum = 0;
  for (int64_t i = 0; i < kWindow; ++i) leaving *= kBase;
  std::array<uint64_t, kWindow> last{};
  Prints all;
  for (int64_t begin = 0; begin < scored.tokens; begin += TokenFile::kPiece) {
    const auto count = std::min(TokenFile::kPiece, scored.tokens - begin);
    auto at = begin;
    for (const auto id : scored.file.read(begin, count)) {
      auto& oldest = last[static_cast<size_t>(at++ % kWindow)];
      sum = sum * kBase + id + 1 - leaving * oldest;
      oldest = uint64_t{id} + 1;
      const bool full = at >= std::min(kWindow, scored.tokens);
      if (full && (sum >> 32U) % scored.every == 0) all.push_back(sum);
    }
  }
  return different(std::move(all));
}

bool overlap(const Prints& one, const Prints& other) {
  Prints shared;
  std::ranges::set_intersection(one, other, std::back_inserter(shared));
  return !shared.empty() && 2 * shared.size() >= std::min(one.size(), other.size());
}

bool overlap(const std::vector<Example>& one, const std::vector<Example>& other,
             const DataOptions& options) {
  if (one.empty() || other.empty()) return false;
  const auto *left = one.front().tokens.get(), *right = other.front().tokens.get();
  if (left == nullptr || right == nullptr)
    return overlap(prints_of(one), prints_of(other)) ||
           (std::holds_alternative<Language>(options) &&
            overlap(prints_of_runs(one), prints_of_runs(other)));
  const auto* tokens = std::get_if<Tokens>(&options);
  const auto scored = [&](const TokenFile& file) {
    return std::min(file.size(), tokens == nullptr
                                     ? file.size()
                                     : tokens->evaluated_tokens.value_or(file.size()));
  };
  const auto fewest = std::min(scored(*left), scored(*right));
  const auto every = static_cast<uint64_t>(std::max<int64_t>(1, fewest / kWindows));
  return overlap(prints_of({*left, scored(*left), every}),
                 prints_of({*right, scored(*right), every}));
}

}  // namespace

std::optional<std::string> test_in_validation(const Corpus& corpus, const DataOptions& options) {
  for (const auto& test : corpus.tests)
    if (overlap(corpus.validation, test.examples, options)) return test.name;
  return {};
}

const char* own_test(const DataOptions& options) {
  const auto has_test = [](const auto& task) {
    return requires { task.test; };
  };
  return std::visit(has_test, options) ? kOwnTest
                                       : "the task has no other sets, so leave this choice out";
}

}  // namespace ablate::data

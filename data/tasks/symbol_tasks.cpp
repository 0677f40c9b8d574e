#include "data/tasks/symbol_tasks.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "data/tasks/generate.h"

namespace ablate::data {
namespace {

using Symbols = std::vector<int64_t>;

Symbols drawn(Random& random, int64_t length, int64_t symbols) {
  Symbols all(static_cast<size_t>(length));
  for (auto& one : all) one = random.below(symbols);
  return all;
}

/// The task of writing rewrite(source). // Symbols -> Symbols
template <class Rewrite>
TaskGenerator rewriting(const SymbolTask& task, Rewrite rewrite) {
  return sampled_by_length(task, [=](Random& random, int64_t length) {
    const auto source = drawn(random, length, task.symbols);
    return Example{join(source), join(rewrite(source))};
  });
}

std::string bracket(int64_t kind, bool opens) { return (opens ? "<" : ">") + symbol(kind); }

void append(std::string& text, const std::string& word) {
  text += (text.empty() ? "" : " ") + word;
}

}  // namespace

TaskGenerator sampled_by_length(const SymbolTask& task, Sample sample) {
  const auto [shortest, longest] = task.train_length;
  return {.draw_length = [low = shortest,
                          high = longest](Random& random) { return random.between(low, high); },
          .sample = std::move(sample),
          .test_lengths = task.test_length,
          .longest_trained = longest,
          .test_name = SymbolTask::test_name,
          .unit = SymbolTask::unit,
          .sizes = task.examples};
}

std::vector<int64_t> different(Random& random, int64_t count, int64_t bound) {
  std::vector<int64_t> all(static_cast<size_t>(bound));
  std::iota(all.begin(), all.end(), 0);
  random.shuffle(all);
  all.resize(static_cast<size_t>(count));
  return all;
}

std::string symbol(int64_t index) {
  if (index < 26) return {static_cast<char>('a' + index)};
  return "s" + std::to_string(index + 1);
}

std::string join(const std::vector<int64_t>& symbols) {
  std::string text;
  for (const int64_t index : symbols) append(text, symbol(index));
  return text;
}

TaskGenerator Copy::generator() const {
  return rewriting(*this, [](Symbols all) { return all; });
}

TaskGenerator Reverse::generator() const {
  return rewriting(*this, [](Symbols all) {
    std::ranges::reverse(all);
    return all;
  });
}

TaskGenerator Sort::generator() const {
  return rewriting(*this, [](Symbols all) {
    std::ranges::sort(all);
    return all;
  });
}

TaskGenerator Duplicate::generator() const {
  return rewriting(*this, [](Symbols all) {
    const auto once = all;
    all.insert(all.end(), once.begin(), once.end());
    return all;
  });
}

TaskGenerator Parity::generator() const {
  return rewriting(*this, [symbols = symbols](const Symbols& all) {
    return Symbols{std::accumulate(all.begin(), all.end(), int64_t{0}) % symbols};
  });
}

TaskGenerator SelectiveCopy::generator() const {
  return sampled_by_length(*this, [task = *this](Random& random, int64_t length) {
    const int64_t count = std::min(task.marked, length);
    const auto content = drawn(random, count, task.symbols);
    auto places = different(random, count, length);
    std::ranges::sort(places);
    std::string source;
    for (int64_t place = 0, next = 0; place < length; ++place) {
      const bool here = next < count && places[static_cast<size_t>(next)] == place;
      append(source, here ? symbol(content[static_cast<size_t>(next)]) : ".");
      next += here ? 1 : 0;
    }
    return Example{source, join(content)};
  });
}

TaskGenerator ModularArithmetic::generator() const {
  return sampled_by_length(*this, [task = *this](Random& random, int64_t length) {
    std::string source = std::to_string(random.below(task.symbols));
    int64_t sum = 0, product = std::stoll(source);
    for (int64_t i = 1; i < length; ++i) {
      const auto sign = "+-*"[random.below(3)];
      const int64_t next = random.below(task.symbols);
      append(source, {sign});
      append(source, std::to_string(next));
      if (sign == '*') {
        product = product * next % task.symbols;
      } else {
        sum = (sum + product) % task.symbols;
        product = sign == '+' ? next : -next;
      }
    }
    const int64_t value = (sum + product) % task.symbols;
    return Example{source, std::to_string((value + task.symbols) % task.symbols)};
  });
}

TaskGenerator Dyck::generator() const {
  return sampled_by_length(*this, [task = *this](Random& random, int64_t length) {
    Symbols open;
    std::string source, target;
    for (int64_t i = 0; i < length; ++i) {
      // The last bracket may not close the word: something must be left to write.
      const bool may_close = !open.empty() && (i + 1 < length || open.size() > 1);
      const bool must_close = static_cast<int64_t>(open.size()) == task.depth;
      if (may_close && (must_close || random.below(2) == 0)) {
        append(source, bracket(open.back(), false));
        open.pop_back();
      } else if (!must_close) {
        open.push_back(random.below(task.symbols));
        append(source, bracket(open.back(), true));
      }
    }
    for (auto kind = open.rbegin(); kind != open.rend(); ++kind)
      append(target, bracket(*kind, false));
    return Example{source, target};
  });
}

TaskGenerator Recall::generator() const {
  return sampled_by_length(*this, [task = *this](Random& random, int64_t pairs) {
    const auto keys = different(random, pairs, task.symbols);
    const auto values = drawn(random, pairs, task.symbols);
    std::string source, target;
    for (size_t i = 0; i < keys.size(); ++i) {
      append(source, "k" + std::to_string(keys[i]));
      append(source, "v" + std::to_string(values[i]));
    }
    append(source, "?");
    for (const int64_t asked : different(random, std::min(task.queries, pairs), pairs)) {
      append(source, "k" + std::to_string(keys[static_cast<size_t>(asked)]));
      append(target, "v" + std::to_string(values[static_cast<size_t>(asked)]));
    }
    return Example{source, target};
  });
}

}  // namespace ablate::data

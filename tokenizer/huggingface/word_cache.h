#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ablate::tokenizer::huggingface {

/// The ids of words that were met before.
class WordCache {
 public:
  /// Appends the ids of the word, which `encode(word, ids)` appends if it is new.
  void write(std::string_view word, std::vector<int32_t>& ids, const auto& encode) {
    constexpr size_t kMostWords = 1U << 15U, kLongest = 64;
    if (word.size() > kLongest) return encode(word, ids);
    if (const auto known = words_.find(std::string(word)); known != words_.end()) {
      ids.insert(ids.end(), known->second.begin(), known->second.end());
      return;
    }
    const auto begin = ids.size();
    encode(word, ids);
    if (words_.size() >= kMostWords) words_.clear();
    words_.emplace(
        word, std::vector<int32_t>(ids.begin() + static_cast<std::ptrdiff_t>(begin), ids.end()));
  }

 private:
  std::unordered_map<std::string, std::vector<int32_t>> words_;
};

/// Caches that threads take and give back, so that no two use one at once.
class WordCaches {
 public:
  /// Calls use(cache) with one that no other thread uses.
  void with_one(const auto& use) {
    auto cache = take();
    use(*cache);
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(cache));
  }

 private:
  std::unique_ptr<WordCache> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<WordCache>();
    auto cache = std::move(free_.back());
    free_.pop_back();
    return cache;
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<WordCache>> free_;
};

}  // namespace ablate::tokenizer::huggingface

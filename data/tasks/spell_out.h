#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace ablate::data {

/// Writes whole numbers in words by ICU's spell-out rules, without soft hyphens.
class SpellOut {
 public:
  /// Throws DataError where ICU has no rules for `locale`.
  explicit SpellOut(const std::string& locale);
  ~SpellOut();
  std::string operator()(int64_t number) const;

 private:
  struct Format;
  std::unique_ptr<Format> format_;
};

}  // namespace ablate::data

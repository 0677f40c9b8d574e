#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ablate::training {

/// chrF2 as sacreBLEU's default; `word_order` 2 is chrF++.
struct ChrfOptions {
  bool lowercase = false;
  int64_t character_order = 6;
  int64_t word_order = 0;
  int64_t beta = 2;  // recall counts beta times as much as precision
};

/// Sufficient statistics of chrF, one entry for each n-gram order, characters first; those of a
/// corpus are the sum of its sentences'.
struct ChrfStatistics {
  struct Order {
    int64_t hypothesis = 0;
    int64_t reference = 0;
    int64_t matches = 0;
    bool operator==(const Order&) const = default;
  };
  std::vector<Order> orders;

  ChrfStatistics& operator+=(const ChrfStatistics& other);
  bool operator==(const ChrfStatistics&) const = default;
};

struct ChrfScore {
  double score = 0;       // 0 to 100
  bool defined = false;   // false if the references have no character
  std::string signature;  // sacreBLEU's, names the version this agrees with
};

/// The statistics of one sentence pair (UTF-8).
ChrfStatistics chrf_statistics(const std::string& hypothesis, const std::string& reference,
                               ChrfOptions options = {});

/// The score that statistics amount to.
ChrfScore chrf(const ChrfStatistics& statistics, ChrfOptions options = {});

/// Corpus chrF as sacreBLEU computes it (one reference). Throws std::invalid_argument if the
/// numbers of lines differ.
ChrfScore chrf(std::span<const std::string> hypotheses, std::span<const std::string> references,
               ChrfOptions options = {});

}  // namespace ablate::training

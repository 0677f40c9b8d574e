#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiments/corpora/source.h"
#include "experiments/corpora/unpack.h"

namespace ablate::corpora {

/// A figure that tells whether a corpus was made as it should be.
struct Count {
  std::string what;
  int64_t number = 0;
};

/// What a recipe makes of its sources: a function of their bytes alone.
struct Made {
  Files files;
  std::vector<Count> counts;  // in the order in which they are shown
};

/// How a corpus comes about.
struct Recipe {
  std::string name;
  std::string about;               // what it is for
  std::string licence;             // of the texts, a sentence
  std::string comparable;          // what results on it may be compared with, a sentence
  std::vector<std::string> roots;  // public mirrors, tried in this order
  std::vector<Source> sources;
  std::string sha256;  // digest() of the files of which results are published
  std::function<Made(const Files& sources)> make;
};

/// The SHA-256 over the names and bytes of all files.
std::string digest(const Files& files);

}  // namespace ablate::corpora

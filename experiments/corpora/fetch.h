#pragma once

#include <filesystem>
#include <ostream>

#include "experiments/corpora/recipe.h"

namespace ablate::corpora {

/// A corpus to be fetched into a folder of its name.
struct Fetch {
  Recipe recipe;
  std::filesystem::path to;  // the folder above that of the corpus
  std::string from;          // URL or folder of a mirror; empty: the recipe's own
  int64_t patience = 60;     // seconds in which a server sends 1,000 bytes or is given up
  std::ostream& notes;       // licence, progress and counts, for people
  bool terminal = false;     // whether progress may be written over
};

/// Says what the licence is, downloads the sources, makes the corpus and writes `to`/<name>/: its
/// files, and corpus.json with its sources, digests and counts. That folder is there whole or not
/// at all; what has been downloaded stays in `to`/.fetch until then, so that the same call
/// continues. A corpus that is there is verified and left alone. Throws UsageError where a folder
/// of this name is no corpus, DataError where a source or a corpus that is there has other bytes
/// than it should, IoError, and Interrupted.
void fetch(const Fetch& request);

}  // namespace ablate::corpora

#pragma once

#include <cstdint>
#include <string>

namespace ablate::corpora {

/// A file that a corpus is made from, pinned to the byte.
struct Source {
  std::string path;  // below the root of a mirror
  uint64_t bytes = 0;
  std::string sha256;

  /// The last part of the path.
  std::string file_name() const { return path.substr(path.rfind('/') + 1); }
};

}  // namespace ablate::corpora

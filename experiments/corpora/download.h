#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "experiments/corpora/source.h"

namespace ablate::corpora {

/// Where the files of a corpus are looked for, in this order.
struct Mirrors {
  std::vector<std::string> roots;  // URLs or folders that have the sources' paths below them
  bool flat = false;               // also look for the file's name alone below a root
  int64_t patience = 60;           // seconds in which a server sends 1,000 bytes or is given up
};

/// The bytes of `source`, from a mirror or from `folder`, where an earlier call left them or a
/// part. Every byte that is returned has been verified. Throws DataError where some mirror has
/// other bytes and none has the right ones, IoError where none can be read, and Interrupted.
/// `progress` gets how many bytes have come.
std::string download(const Source& source, const Mirrors& mirrors,
                     const std::filesystem::path& folder,
                     const std::function<void(uint64_t)>& progress);

/// Removes what download() left of `source` in `folder`.
void forget(const Source& source, const std::filesystem::path& folder);

}  // namespace ablate::corpora

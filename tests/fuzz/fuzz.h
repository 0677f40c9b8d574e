#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ablate::fuzz {

/// Ends the process, which libFuzzer reports together with the input, unless the claim holds.
inline void require(bool claim) {
  if (!claim) std::abort();
}

/// Calls `read`, which may throw one of these errors; any other is not caught and ends the process.
template <class Error, class... More, class Read>
void may_throw(const Read& read) {
  try {
    if constexpr (sizeof...(More) == 0)
      read();
    else
      may_throw<More...>(read);
  } catch (const Error&) {
  }
}

/// A file in memory, for readers that want a path.
class MemoryFile {
 public:
  MemoryFile()
      : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)),
        path_("/proc/self/fd/" + std::to_string(descriptor_)) {
    require(descriptor_ >= 0);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(descriptor_); }

  const std::filesystem::path& path() const { return path_; }
  /// The path, where `bytes` stand now and nothing else.
  const std::filesystem::path& holding(std::string_view bytes) const {
    require(::ftruncate(descriptor_, 0) == 0);
    require(::pwrite(descriptor_, bytes.data(), bytes.size(), 0) ==
            static_cast<ssize_t>(bytes.size()));
    return path_;
  }

 private:
  int descriptor_;
  std::filesystem::path path_;
};

/// A folder of links to one file in memory, for readers that want a folder.
class MemoryFolder {
 public:
  explicit MemoryFolder(const std::vector<std::filesystem::path>& names) {
    auto pattern = (std::filesystem::temp_directory_path() / "fuzz-XXXXXX").string();
    require(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
    for (const auto& name : names) std::filesystem::create_symlink(file_.path(), path_ / name);
  }
  MemoryFolder(const MemoryFolder&) = delete;
  MemoryFolder& operator=(const MemoryFolder&) = delete;
  ~MemoryFolder() { std::filesystem::remove_all(path_); }

  const std::filesystem::path& path() const { return path_; }
  /// The folder, whose files hold `bytes` now.
  const std::filesystem::path& holding(std::string_view bytes) const {
    file_.holding(bytes);
    return path_;
  }

 private:
  MemoryFile file_;
  std::filesystem::path path_;
};

/// What stands before the first `mark` and what behind it.
struct Halves {
  std::string first, second;
};
inline Halves divided(std::string_view bytes, char mark) {
  const auto at = std::min(bytes.find(mark), bytes.size());
  const auto behind = bytes.substr(std::min(at + 1, bytes.size()));
  return {std::string(bytes.substr(0, at)), std::string(behind)};
}

}  // namespace ablate::fuzz

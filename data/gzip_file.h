#pragma once

#include <zlib.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace ablate::data {

/// Whether so many bytes of a packed file are more than text can unpack to: 200 times as many,
/// where they are more than 4 MiB.
bool is_bomb(size_t unpacked, size_t packed);

/// A file read from its beginning to its end, plain or gzip (by its first bytes).
class GzipFile {
 public:
  /// Throws DataError where the file cannot be opened.
  explicit GzipFile(std::filesystem::path file);

  /// Fills `buffer` as far as the file goes and returns the bytes read; 0 at the end. Throws
  /// DataError where the file cannot be read, or is an archive that is damaged or unpacks to more
  /// than 16 GiB or 200 times its size.
  size_t read(std::span<char> buffer);

  const std::filesystem::path& path() const { return path_; }

 private:
  struct Close {
    void operator()(gzFile file) const { gzclose(file); }
  };
  void check_size() const;
  void check_end() const;

  std::filesystem::path path_;
  std::unique_ptr<std::remove_pointer_t<gzFile>, Close> stream_;
  size_t total_ = 0;  // bytes read
};

}  // namespace ablate::data

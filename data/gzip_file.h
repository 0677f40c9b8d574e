#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ablate::data {

/// A file or standard input, read from its beginning to its end as it comes, plain or gzip (by its
/// first bytes).
class GzipFile {
 public:
  /// Throws DataError if the file cannot be opened, or is a named pipe that no process opens for
  /// writing within three seconds.
  explicit GzipFile(const std::filesystem::path& file);
  static GzipFile standard_input();

  /// Fills `buffer` with the available bytes, waiting for the first one, and returns their number;
  /// 0 at the end. Throws DataError if the file cannot be read, is packed by another program than
  /// gzip or packed twice, or is an archive that is damaged or unpacks to 200 times its size; a
  /// file also if it holds more than 16 GiB.
  size_t read(std::span<char> buffer);
  /// Whether no input has come for a moment and read() would wait. False at the end and for files,
  /// which never wait.
  bool pauses() const;

  const std::filesystem::path& path() const { return path_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const {
      if (file != stdin) std::fclose(file);
    }
  };
  struct EndInflation {
    void operator()(z_stream* stream) const {
      inflateEnd(stream);
      delete stream;
    }
  };
  GzipFile(std::filesystem::path name, std::FILE* file);
  void wait_for_writer();
  bool fetch();
  void begin();
  size_t take(std::span<char> buffer);
  size_t unpack(std::span<char> buffer);
  void next_member();
  void check_size() const;
  void check_unpacked(std::string_view bytes) const;
  [[noreturn]] void fail(const std::string& why) const;

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::vector<char> fetched_;
  std::string_view left_;  // of the bytes read
  std::unique_ptr<z_stream, EndInflation> inflation_;
  bool begun_ = false, in_member_ = false;
  size_t packed_ = 0, total_ = 0;  // bytes fetched and read
};

}  // namespace ablate::data

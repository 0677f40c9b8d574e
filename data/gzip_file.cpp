#include "data/gzip_file.h"

#include <algorithm>

#include "data/corpus.h"

namespace ablate::data {
namespace {

constexpr size_t kLargestFile = size_t{16} << 30U;  // decompressed
// Text packs 3 to 20 times, a crafted archive 1,000 times.
constexpr size_t kHighestRatio = 200;
constexpr size_t kRatioFrom = size_t{4} << 20U;  // decompressed

}  // namespace

bool is_bomb(size_t unpacked, size_t packed) {
  return unpacked > kRatioFrom && unpacked / std::max<size_t>(packed, 1) > kHighestRatio;
}

GzipFile::GzipFile(std::filesystem::path file) : path_(std::move(file)) {
  std::error_code unreadable;
  if (std::filesystem::is_directory(path_, unreadable))
    throw DataError(path_.string() + ": is a folder; name a file");
  stream_.reset(gzopen(path_.c_str(), "rb"));
  if (!stream_)
    throw DataError(path_.string() +
                    ": cannot be read; check the path (relative paths start at the study's folder, "
                    "or at --data)");
}

size_t GzipFile::read(std::span<char> buffer) {
  const int got = gzread(stream_.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
  if (got <= 0) {
    check_end();
    return 0;
  }
  total_ += static_cast<size_t>(got);
  check_size();
  return static_cast<size_t>(got);
}

void GzipFile::check_size() const {
  if (total_ > kLargestFile) throw DataError(path_.string() + ": holds more than 16 GiB");
  if (is_bomb(total_, static_cast<size_t>(std::max<z_off_t>(gzoffset(stream_.get()), 1))))
    throw DataError(path_.string() +
                    ": the gzip archive unpacks to more than 200 times its size; "
                    "unpack it if it is text nevertheless");
}

void GzipFile::check_end() const {
  int status = Z_OK;
  gzerror(stream_.get(), &status);
  if (status == Z_ERRNO) throw DataError(path_.string() + ": cannot be read to its end");
  if (status != Z_OK && status != Z_STREAM_END)
    throw DataError(path_.string() + ": the gzip archive is damaged or cut off");
}

}  // namespace ablate::data

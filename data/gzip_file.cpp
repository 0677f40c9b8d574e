#include "data/gzip_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "data/corpus.h"
#include "data/foreign_form.h"

namespace ablate::data {
namespace {

using namespace std::string_view_literals;

constexpr size_t kLargestFile = size_t{16} << 30U;  // decompressed
// Text packs 3 to 20 times, a crafted archive 1,000 times.
constexpr size_t kHighestRatio = 200;
constexpr size_t kRatioFrom = size_t{4} << 20U;  // decompressed
constexpr size_t kFetched = 65'536;              // at once
constexpr int kPause = 20;                       // milliseconds
constexpr int kStep = 50, kPatience = 3000;      // milliseconds for the writer of a named pipe
constexpr auto kGzip = "\x1f\x8b"sv;

/// Whether a descriptor has bytes or reaches its end within `milliseconds`.
bool readable(int file, int milliseconds) {
  pollfd wanted{.fd = file, .events = POLLIN, .revents = 0};
  return poll(&wanted, 1, milliseconds) != 0;
}

std::FILE* opened(const std::filesystem::path& file) {
  std::error_code unreadable;
  if (std::filesystem::is_directory(file, unreadable))
    throw DataError(file.string() + ": is a folder; name a file");
  // A named pipe without a writer would keep open() waiting.
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  std::FILE* stream = descriptor < 0 ? nullptr : fdopen(descriptor, "rb");
  if (stream == nullptr)
    throw DataError(file.string() + ": cannot be read: " + std::strerror(errno) +
                    "; check the path (relative ones in a study start at its folder, or at "
                    "--data)");
  return stream;
}

/// Whether a packed file of `packed` bytes unpacks to more than text can.
bool is_bomb(size_t unpacked, size_t packed) {
  return unpacked > kRatioFrom && unpacked / std::max<size_t>(packed, 1) > kHighestRatio;
}

}  // namespace

GzipFile::GzipFile(std::filesystem::path name, std::FILE* file)
    : path_(std::move(name)), file_(file), fetched_(kFetched) {}

GzipFile::GzipFile(const std::filesystem::path& file) : GzipFile(file, opened(file)) {
  const int descriptor = fileno(file_.get());
  struct stat status {};
  if (fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode)) wait_for_writer();
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
}

GzipFile GzipFile::standard_input() { return {"standard input", stdin}; }

void GzipFile::fail(const std::string& why) const { throw DataError(path_.string() + ": " + why); }

void GzipFile::wait_for_writer() {
  for (int waited = 0; waited < kPatience; waited += kStep) {
    const auto got = ::read(fileno(file_.get()), fetched_.data(), fetched_.size());
    if (got != 0) {  // bytes, or the word that they will come
      packed_ = got > 0 ? static_cast<size_t>(got) : 0;
      left_ = {fetched_.data(), packed_};
      return;
    }
    poll(nullptr, 0, kStep);
  }
  fail("is a named pipe without a writer; start the program that writes to it, or name a file");
}

bool GzipFile::fetch() {
  ssize_t got = 0;
  do got = ::read(fileno(file_.get()), fetched_.data(), fetched_.size());
  while (got < 0 && (errno == EINTR || (errno == EAGAIN && readable(fileno(file_.get()), -1))));
  if (got < 0)
    throw DataError(path_.string() + (file_.get() == stdin ? " " : ": ") +
                    "cannot be read to its end");
  left_ = {fetched_.data(), static_cast<size_t>(got)};
  packed_ += left_.size();
  return got > 0;
}

void GzipFile::begin() {
  begun_ = true;
  if (left_.empty()) fetch();
  if (!left_.starts_with(kGzip)) return check_unpacked(left_);
  inflation_.reset(new z_stream{});
  constexpr int kGzipAlone = 15 + 16;
  if (inflateInit2(inflation_.get(), kGzipAlone) != Z_OK) throw std::bad_alloc();
  in_member_ = true;
}

void GzipFile::check_unpacked(std::string_view bytes) const {
  for (const auto& what : {foreign_form(bytes), foreign_encoding(bytes)})
    if (!what.empty()) fail(what);
}

size_t GzipFile::read(std::span<char> buffer) {
  if (!begun_) begin();
  const auto got = inflation_ ? unpack(buffer) : take(buffer);
  if (inflation_ && total_ == 0) {
    const std::string_view first(buffer.data(), got);
    if (first.starts_with(kGzip)) fail("is a gzip archive in a gzip archive; unpack it once");
    check_unpacked(first);
  }
  total_ += got;
  check_size();
  return got;
}

size_t GzipFile::take(std::span<char> buffer) {
  if (left_.empty() && !fetch()) return 0;
  const auto count = left_.copy(buffer.data(), buffer.size());
  left_.remove_prefix(count);
  return count;
}

size_t GzipFile::unpack(std::span<char> buffer) {
  auto& stream = *inflation_;
  stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
  stream.avail_out = static_cast<uInt>(buffer.size());
  while (stream.avail_out == buffer.size()) {
    if (!in_member_) next_member();
    if (!in_member_) return 0;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(left_.data()));
    stream.avail_in = static_cast<uInt>(left_.size());
    const int status = inflate(&stream, Z_NO_FLUSH);
    left_.remove_prefix(left_.size() - stream.avail_in);
    in_member_ = status != Z_STREAM_END;
    const bool hungry = status == Z_BUF_ERROR && left_.empty();
    if (hungry ? !fetch() : status != Z_OK && status != Z_STREAM_END)
      fail("the gzip archive is damaged or cut off");
  }
  return buffer.size() - stream.avail_out;
}

/// Archives may follow one another; tapes are filled up with zeros.
void GzipFile::next_member() {
  do left_.remove_prefix(std::min(left_.find_first_not_of('\0'), left_.size()));
  while (left_.empty() && fetch());
  if (left_.empty()) return;
  if (inflateReset(inflation_.get()) != Z_OK) throw std::bad_alloc();
  in_member_ = true;
}

bool GzipFile::pauses() const { return left_.empty() && !readable(fileno(file_.get()), kPause); }

void GzipFile::check_size() const {
  if (file_.get() != stdin && total_ > kLargestFile) fail("holds more than 16 GiB");
  if (inflation_ && is_bomb(total_, packed_ - left_.size()))
    fail(
        "the gzip archive unpacks to more than 200 times its size; unpack it if it is text "
        "nevertheless");
}

}  // namespace ablate::data

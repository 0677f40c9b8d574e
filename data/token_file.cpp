#include "data/token_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "data/corpus.h"
#include "data/foreign_form.h"
#include "tokenizer/text/digest.h"

namespace ablate::data {
namespace {

constexpr int64_t kHeaderNumbers = 256, kHeaderBytes = 4 * kHeaderNumbers;
constexpr int64_t kMostPieces = 1024;

/// A form of header: those of llm.c's dev/data/data_common.py.
struct Form {
  uint32_t magic, version;
  TokenType type;
};
constexpr auto kForms =
    std::to_array<Form>({{20'240'520, 1, TokenType::uint16}, {20'240'801, 7, TokenType::uint32}});

int64_t width_of(TokenType type) { return type == TokenType::uint16 ? 2 : 4; }

const char* name_of(TokenType type) { return type == TokenType::uint16 ? "uint16" : "uint32"; }

/// Little-endian numbers of `width` bytes.
std::vector<uint32_t> numbers_in(std::span<const char> bytes, size_t width) {
  std::vector<uint32_t> numbers(bytes.size() / width);
  for (size_t i = 0; i < numbers.size(); ++i)
    for (size_t byte = width; byte-- > 0;)
      numbers[i] = numbers[i] << 8U | static_cast<unsigned char>(bytes[i * width + byte]);
  return numbers;
}

/// Whether a number of type T is an id of a vocabulary.
template <class T>
bool is_id(const char* bytes, int64_t vocabulary) {
  T read{};
  std::memcpy(&read, bytes, sizeof(T));
  const auto number = static_cast<double>(read);
  return number >= 0 && number < static_cast<double>(vocabulary) && number == std::trunc(number);
}

/// The same of a float16.
bool is_half_id(const char* bytes, int64_t vocabulary) {
  constexpr int kNotFinite = 31;  // and above, with the sign
  uint16_t read = 0;
  std::memcpy(&read, bytes, sizeof(read));
  const int exponent = read >> 10U, fraction = read & 1023;
  if (exponent >= kNotFinite) return false;
  const double number =
      std::ldexp((exponent > 0 ? 1024 : 0) + fraction, std::max(exponent, 1) - 25);
  return number < static_cast<double>(vocabulary) && number == std::trunc(number);
}

/// A type that other programs write ids in.
struct NumberType {
  std::string_view name;
  size_t width;
  bool (*is_id)(const char*, int64_t);
};
constexpr auto kNumberTypes = std::to_array<NumberType>({{"int64", 8, is_id<int64_t>},
                                                         {"float64", 8, is_id<double>},
                                                         {"float32", 4, is_id<float>},
                                                         {"uint32", 4, is_id<uint32_t>},
                                                         {"float16", 2, is_half_id}});

/// Whether all numbers are ids. The bytes of a piece that are no whole number are left out.
bool are_ids(std::span<const char> bytes, const NumberType& type, int64_t vocabulary) {
  for (size_t at = 0; at + type.width <= bytes.size(); at += type.width)
    if (!type.is_id(&bytes[at], vocabulary)) return false;
  return true;
}

/// How often each byte stands at even and at odd places.
using ByteCounts = std::array<std::array<int64_t, 256>, 2>;

void count_bytes(std::span<const char> bytes, ByteCounts& counts) {
  for (size_t at = 0; at < bytes.size(); ++at)
    ++counts[at % 2][static_cast<unsigned char>(bytes[at])];
}

/// Whether every byte looks like a token: both places have one distribution, as the low and the
/// high bytes of uint16 ids have not, unless they are noise.
bool look_like_tokens(const ByteCounts& counts) {
  constexpr int64_t kTelling = 2048, kFewest = 16, kMost = 200;  // pairs; different bytes
  constexpr double kApart = 0.15;                                // total variation
  int64_t pairs = 0, apart = 0, different = 0;
  for (size_t byte = 0; byte < counts[0].size(); ++byte) {
    const auto even = counts[0][byte], odd = counts[1][byte];
    pairs += even;
    apart += std::abs(even - odd);
    different += even + odd > 0 ? 1 : 0;
  }
  return pairs >= kTelling && different >= kFewest && different <= kMost &&
         static_cast<double>(apart) < 2 * kApart * static_cast<double>(pairs);
}

/// Whether every number is a multiple of 256: an id whose bytes stand the other way round.
bool begin_with_zero(std::span<const char> bytes, int64_t width) {
  for (size_t at = 0; at < bytes.size(); at += static_cast<size_t>(width))
    if (bytes[at] != 0) return false;
  return true;
}

}  // namespace

TokenFile::TokenFile(const std::filesystem::path& path, std::optional<TokenType> type)
    : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat status {};
  if (file_ < 0 || ::fstat(file_, &status) != 0)
    fail("cannot be opened: " + std::generic_category().message(errno));
  bytes_ = status.st_size;
  try {
    if (!S_ISREG(status.st_mode)) fail("is no regular file");
    read_header(type);
    if (size_ == 0) fail("has no tokens");
    if (start_ == 0) check_form();
  } catch (...) {
    ::close(file_);
    throw;
  }
}

TokenFile::~TokenFile() { ::close(file_); }

void TokenFile::read_header(std::optional<TokenType> type) {
  std::array<char, kHeaderBytes> bytes{};
  read_bytes(0, std::span(bytes).first(static_cast<size_t>(std::min(bytes_, kHeaderBytes))));
  const auto header = numbers_in(bytes, 4);
  const auto* form = std::ranges::find(kForms, header[0], &Form::magic);
  width_ = width_of(form == kForms.end() ? type.value_or(TokenType::uint16) : form->type);
  assumed_ = form == kForms.end() && !type;
  if (form == kForms.end()) {
    size_ = bytes_ / width_;
    if (bytes_ % width_ != 0)
      fail(fmt::format("has {} bytes, which is no whole number of {} tokens", bytes_,
                       name_of(type.value_or(TokenType::uint16))));
    return;
  }
  if (header[1] != form->version)
    fail(fmt::format("has a header of version {}; with the magic number {} version {} is read",
                     header[1], header[0], form->version));
  if (type && *type != form->type)
    fail(fmt::format("holds {} tokens by its header, and data.dtype is {}; leave data.dtype out",
                     name_of(form->type), name_of(*type)));
  start_ = kHeaderBytes;
  size_ = header[2];
  if (bytes_ != start_ + size_ * width_)
    fail(fmt::format("has {} bytes, and {} tokens, of which its header speaks, take {}", bytes_,
                     size_, start_ + size_ * width_));
}

void TokenFile::check_form() const {
  constexpr int64_t kTelling = 16, kLooked = 4096;
  std::vector<char> bytes(static_cast<size_t>(std::min(bytes_, kLooked)));
  read_bytes(0, bytes);
  const std::string_view first(bytes.data(), bytes.size());
  if (const auto form = foreign_form(first); !form.empty()) fail(form);
  if (bytes_ >= kTelling && is_text(first))
    fail(
        "is text and holds no tokens; write them with `ablate data tokens`, or train on the text "
        "with data.task: language");
}

void TokenFile::check_type(int64_t vocabulary) const {
  constexpr int64_t kTelling = 32, kNarrow = 65'536;  // bytes, ids of uint16
  if (start_ > 0) return;
  std::vector<NumberType> possible;
  const char* own = name_of(width_ == 2 ? TokenType::uint16 : TokenType::uint32);
  for (const auto& type : kNumberTypes)
    if (bytes_ >= kTelling && std::cmp_greater_equal(type.width, width_) && type.name != own)
      possible.push_back(type);
  bool only_zeros = true, big_endian = bytes_ >= kTelling;
  ByteCounts counts{};
  for (const auto begin : pieces()) {
    if (possible.empty() && !big_endian && !assumed_) break;
    std::vector<char> bytes(static_cast<size_t>(std::min(kPiece, size_ - begin) * width_));
    read_bytes(offset_of(begin), bytes);
    only_zeros = only_zeros && std::ranges::all_of(bytes, [](char c) { return c == 0; });
    big_endian = big_endian && begin_with_zero(bytes, width_);
    if (assumed_) count_bytes(bytes, counts);
    std::erase_if(possible, [&](const auto& type) { return !are_ids(bytes, type, vocabulary); });
  }
  if (!possible.empty() && !only_zeros) {
    const auto name = possible.front().name;
    const auto conversion =
        name == name_of(TokenType::uint32)
            ? ""
            : fmt::format("numpy.fromfile(FILE, '{}').astype('uint32').tofile(...), and ", name);
    fail(
        fmt::format("holds {0} numbers, not {1}: read as {0}, all are ids below {2}; {3}write "
                    "data.dtype: uint32",
                    name, own, vocabulary, conversion));
  }
  if (big_endian && !only_zeros)
    fail(fmt::format(
        "holds big-endian numbers: read as {}, all are multiples of 256; write it little-endian, "
        "with numpy.fromfile(FILE, '>u2' or '>u4').astype('uint32').tofile(...), and write "
        "data.dtype: uint32",
        own));
  if (assumed_ && look_like_tokens(counts))
    fail(
        "looks like uint8 numbers, not uint16: bytes at even and at odd places are distributed "
        "alike; numpy.fromfile(FILE, 'uint8').astype('uint16').tofile(...), or write data.dtype: "
        "uint16 if that is what it holds");
  if (assumed_ && vocabulary > kNarrow)
    fail(
        fmt::format("has no header, and uint16, as which it would be read, is too narrow for ids "
                    "below {}; write data.dtype: uint32, or uint16 if all its ids are below 65536",
                    vocabulary));
}

void TokenFile::fail(const std::string& why) const { throw DataError(path_.string() + " " + why); }

void TokenFile::read_bytes(int64_t offset, std::span<char> bytes) const {
  while (!bytes.empty()) {
    const auto got = ::pread(file_, bytes.data(), bytes.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot be read: " + std::generic_category().message(errno));
    if (got == 0) fail("has become shorter since it was opened");
    bytes = bytes.subspan(static_cast<size_t>(got));
    offset += got;
  }
}

std::vector<uint32_t> TokenFile::read(int64_t begin, int64_t count) const {
  std::vector<char> bytes(static_cast<size_t>(count * width_));
  read_bytes(offset_of(begin), bytes);
  return numbers_in(bytes, static_cast<size_t>(width_));
}

std::vector<int64_t> TokenFile::pieces() const {
  const int64_t all = (size_ + kPiece - 1) / kPiece, count = std::min(all, kMostPieces);
  std::vector<int64_t> begins;
  for (int64_t i = 0; i < count; ++i)
    begins.push_back((count == 1 ? 0 : i * (all - 1) / (count - 1)) * kPiece);
  return begins;
}

std::string TokenFile::sha256() const {
  tokenizer::Digest digest;
  digest.add(fmt::format("{} tokens\n", size_));
  std::vector<char> bytes;
  for (const auto begin : pieces()) {
    bytes.resize(static_cast<size_t>(std::min(kPiece, size_ - begin) * width_));
    read_bytes(offset_of(begin), bytes);
    digest.add({bytes.data(), bytes.size()});
  }
  return digest.sha256();
}

std::string token_header(TokenType type, int64_t tokens) {
  const auto& form = *std::ranges::find(kForms, type, &Form::type);
  std::string bytes;
  for (const auto number : {form.magic, form.version, static_cast<uint32_t>(tokens)})
    for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(number >> shift);
  bytes.resize(kHeaderBytes);
  return bytes;
}

FileText::FileText(std::shared_ptr<const TokenFile> file, std::vector<int32_t> ids)
    : file_(std::move(file)), ids_(std::move(ids)) {
  file_->check_type(std::ssize(ids_));
  for (const auto begin : file_->pieces()) read(begin, std::min(TokenFile::kPiece, size() - begin));
}

std::vector<int32_t> FileText::read(int64_t begin, int64_t count) const {
  const auto theirs = file_->read(begin, count);
  std::vector<int32_t> ours(theirs.size());
  for (size_t i = 0; i < theirs.size(); ++i) {
    ours[i] = theirs[i] < ids_.size() ? ids_[theirs[i]] : -1;
    if (ours[i] >= 0) continue;
    const auto token = begin + static_cast<int64_t>(i);
    throw DataError(fmt::format(
        "{}: token {} (byte {}) is {}, which is no token of the vocabulary of {}; check the "
        "vocabulary and data.dtype",
        file_->path().string(), token, file_->offset_of(token), theirs[i], ids_.size()));
  }
  return ours;
}

}  // namespace ablate::data

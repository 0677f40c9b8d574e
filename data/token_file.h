#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/data_options.h"

namespace ablate::data {

/// Ids of tokens as other programs write them: raw little-endian numbers (nanoGPT), or behind a
/// header of 256 32-bit numbers that begins with a magic number, a version and the number of
/// tokens (llm.c, modded-nanogpt: uint16; llm.c for Llama 3: uint32). Ids stay in the file until
/// read() asks for them.
class TokenFile {
 public:
  /// Throws DataError if the file cannot be opened, its header has another version or `type`, it
  /// has more or fewer bytes than the header says, or no whole number of tokens, or it is text or
  /// of a form with a magic number of its own. Without `type` and header, tokens are uint16.
  explicit TokenFile(const std::filesystem::path& path, std::optional<TokenType> type = {});
  ~TokenFile();
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;

  /// Throws DataError if the bytes behind no header are numbers of another type: read as these, all
  /// in pieces() are ids below `vocabulary`; or if nothing says the type and it looks like uint8,
  /// or uint16 is too narrow for the vocabulary.
  void check_type(int64_t vocabulary) const;

  const std::filesystem::path& path() const { return path_; }
  int64_t size() const { return size_; }  // tokens
  /// The ids from `begin` on, as the file has them. Throws DataError if they cannot be read.
  std::vector<uint32_t> read(int64_t begin, int64_t count) const;
  /// Byte at which a token begins.
  int64_t offset_of(int64_t token) const { return start_ + token * width_; }
  /// The first tokens of evenly spaced pieces of 32,768 tokens. There are at most 1,024, so that
  /// they cover a file of up to 33,554,432 tokens and are a sample of a larger one.
  std::vector<int64_t> pieces() const;
  static constexpr int64_t kPiece = 32'768;
  /// SHA-256 of the number of tokens and of the tokens in pieces().
  std::string sha256() const;

 private:
  void read_header(std::optional<TokenType> type);
  void check_form() const;
  void read_bytes(int64_t offset, std::span<char> bytes) const;
  [[noreturn]] void fail(const std::string& why) const;

  std::filesystem::path path_;
  int file_;
  bool assumed_ = false;                      // neither `type` nor a header says the type
  int64_t bytes_ = 0;                         // of the whole file
  int64_t start_ = 0, width_ = 2, size_ = 0;  // bytes before the tokens, of each, their number
};

/// The header of llm.c before `tokens` ids of this type. REQUIRES: at most 2^31 - 1 tokens.
std::string token_header(TokenType type, int64_t tokens);

/// Running text in a file of tokens, under the ids of a vocabulary.
class FileText {
 public:
  /// ids[token] is the vocabulary's id of a token of the file, or negative if the vocabulary lacks
  /// it. Throws DataError as check_type(), and if the vocabulary lacks a token in one of the file's
  /// pieces().
  FileText(std::shared_ptr<const TokenFile> file, std::vector<int32_t> ids);

  int64_t size() const { return file_->size(); }
  /// Throws DataError with file and place for a token that is not in the vocabulary.
  std::vector<int32_t> read(int64_t begin, int64_t count) const;

 private:
  std::shared_ptr<const TokenFile> file_;
  std::vector<int32_t> ids_;
};

}  // namespace ablate::data

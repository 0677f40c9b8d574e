#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <iostream>
#include <limits>
#include <memory>

#include "data/text_file.h"
#include "data/token_file.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/flags.h"
#include "experiments/commands/lines.h"
#include "experiments/commands/number_flags.h"
#include "experiments/schedule/study_status.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/tokenizer.h"
#include "training/inference/length_check.h"
#include "training/process/interrupt.h"
#include "training/process/machine.h"
#include "training/storage/durable_file.h"

namespace ablate::commands {
namespace {

struct TokensRequest {
  std::string input, tokenizer, output;
  std::optional<int64_t> jobs;
  bool raw = false;
};

/// Lines that one thread writes as tokens.
using Piece = std::vector<std::string>;

/// Up to `most` pieces, fewer at the end. Throws DataError for a line that is not valid text.
std::vector<Piece> read_pieces(data::LineReader& reader, size_t most) {
  constexpr size_t kPieceBytes = 262'144;
  std::vector<Piece> pieces;
  for (size_t bytes = kPieceBytes; auto line = reader.next();) {
    if (!line->fault.empty()) throw data::DataError(reader.place() + ": " + line->fault);
    if (bytes >= kPieceBytes) pieces.emplace_back();
    bytes = (bytes >= kPieceBytes ? 0 : bytes) + line->text.size() + 1;
    pieces.back().push_back(std::move(line->text));
    if (pieces.size() == most && bytes >= kPieceBytes) break;
  }
  return pieces;
}

/// The ids of lines, each closed by the end token, as little-endian numbers.
std::string written_tokens(const Piece& lines, const tokenizer::Tokenizer& tokenizer,
                           size_t width) {
  std::string bytes;
  const auto add = [&](int32_t own) {
    const auto theirs = tokenizer.ids().theirs(own);
    if (!theirs)
      throw data::DataError("the tokenizer's file has no token " + tokenizer.token(own) +
                            ", which this text needs");
    const auto id = *theirs;
    for (size_t byte = 0; byte < width; ++byte) bytes += static_cast<char>(id >> (8 * byte));
  };
  for (const auto& line : lines) {
    std::ranges::for_each(tokenizer.encode(line), add);
    add(tokenizer::kEos);
  }
  return bytes;
}

/// How far the file has been written: on a terminal one line that is redrawn.
class TokenProgress {
 public:
  /// `bytes` of the input; 0: not known.
  explicit TokenProgress(uint64_t bytes) : bytes_(static_cast<double>(bytes)) {}
  ~TokenProgress() { clear(); }
  TokenProgress(const TokenProgress&) = delete;
  TokenProgress& operator=(const TokenProgress&) = delete;

  void at(const std::vector<Piece>& pieces, int64_t tokens) {
    for (const auto& piece : pieces)
      for (const auto& line : piece) read_ += static_cast<double>(line.size() + 1);
    if (isatty(STDERR_FILENO) == 0) return;
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    auto text = fmt::format("{} tokens, {:.1f} MB/s, {}", tokens, read_ / seconds / 1e6,
                            schedule::clock_text(seconds));
    if (bytes_ > 0)
      text = fmt::format("{:3.0f}%  {}<{}", 100 * read_ / bytes_, text,
                         schedule::clock_text(seconds * (bytes_ / read_ - 1)));
    clear();
    std::cerr << text << std::flush;
    drawn_ = true;
  }

 private:
  using Clock = std::chrono::steady_clock;

  void clear() const {
    if (drawn_) std::cerr << "\r\033[K" << std::flush;
  }

  Clock::time_point start_ = Clock::now();
  double bytes_, read_ = 0;
  bool drawn_ = false;
};

/// Writes the lines of `reader` with `write`, and returns the number of tokens.
int64_t write_tokens(data::LineReader& reader, const TokensRequest& request,
                     const training::WriteAt& write) {
  const auto tokenizer = tokenizer::Tokenizer::load(request.tokenizer);
  const auto type = tokenizer.vocabulary_size() <= std::numeric_limits<uint16_t>::max() + 1
                        ? data::TokenType::uint16
                        : data::TokenType::uint32;
  const size_t width = type == data::TokenType::uint16 ? 2 : 4;
  const auto jobs = request.jobs.value_or(training::available_cores());
  const auto read = [&] { return read_pieces(reader, 4 * static_cast<size_t>(jobs)); };
  std::error_code unknown;
  const bool packed = request.input.ends_with(".gz");
  TokenProgress progress(packed ? 0 : std::filesystem::file_size(request.input, unknown));
  const auto start = request.raw ? 0 : std::ssize(data::token_header(type, 0));
  int64_t tokens = 0;
  auto next = std::async(std::launch::async, read);
  for (auto pieces = next.get(); !pieces.empty(); pieces = next.get()) {
    next = std::async(std::launch::async, read);
    std::vector<std::string> written(pieces.size());
    training::in_parallel(pieces.size(), jobs, [&](size_t i) {
      written[i] = written_tokens(pieces[i], tokenizer, width);
    });
    for (const auto& bytes : written) {
      write(start + tokens * static_cast<int64_t>(width), bytes);
      tokens += std::ssize(bytes) / static_cast<int64_t>(width);
    }
    progress.at(pieces, tokens);
    if (training::stop_requested()) throw training::Interrupted("stopped; nothing was written");
  }
  if (tokens == 0) throw data::DataError(request.input + ": the file is empty");
  if (!request.raw && tokens > std::numeric_limits<int32_t>::max())
    throw data::DataError(fmt::format(
        "{} tokens are more than the header of llm.c can count; write them with --raw, or divide "
        "{} into several files",
        tokens, request.input));
  if (!request.raw) write(0, data::token_header(type, tokens));
  return tokens;
}

void tokenize_file(const TokensRequest& request) {
  const training::StopRequests requests;
  require_lines(request.input);
  data::LineReader reader(data::GzipFile(request.input), kLongestLine);
  int64_t tokens = 0;
  training::write_durably(request.output, [&](const training::WriteAt& write) {
    tokens = write_tokens(reader, request, write);
  });
  std::cerr << fmt::format("{}: {} tokens\n", request.output, tokens);
}

}  // namespace

void add_data_tokens(CLI::App& data) {
  auto request = std::make_shared<TokensRequest>();
  auto* verb = data.add_subcommand("tokens", "Write a text as a file of tokens");
  verb->add_option("input", request->input, "Text file, plain or gzip")->required();
  verb->add_option("--tokenizer", request->tokenizer, "The tokenizer's model file")->required();
  verb->add_option("--to", request->output, "The file to write")->required();
  verb->add_flag("--raw", request->raw,
                 "Without the header of llm.c and modded-nanogpt, as nanoGPT reads it");
  verb->add_option("--jobs", request->jobs, "Threads; absent: one for each core")
      ->check(between(1, 1024));
  verb->footer(
      "Every line is closed by the end token. Ids are uint16, or uint32 in a vocabulary of more "
      "than 65536. The file appears whole or not at all.\n"
      "Example:\n  ablate data tokens captions.en --tokenizer joint.model --to captions.bin");
  verb->callback([request] { tokenize_file(*request); });
}

}  // namespace ablate::commands

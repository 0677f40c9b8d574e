#include "experiments/commands/lines.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <iostream>
#include <string_view>
#include <utility>

#include "data/corpus.h"
#include "data/foreign_form.h"
#include "training/storage/errors.h"

namespace ablate::commands {
namespace {

[[noreturn]] void fail(const data::LineReader& reader, const data::Line& line) {
  throw data::DataError(fmt::format("{}: {}; fix the line", reader.place(), line.fault));
}

}  // namespace

std::optional<std::string> InputLines::next() {
  auto line = reader_.next();
  if (!line) return {};
  if (line->cut) fail(reader_, *line);
  if (!line->fault.empty() && !std::exchange(noted_, true))
    std::cerr << fmt::format("note: {}: {}, and is read all the same\n", reader_.place(),
                             line->fault);
  return std::move(line->text);
}

std::vector<std::string> InputLines::group(size_t most) {
  std::vector<std::string> lines;
  while (lines.size() < most && (lines.empty() || !pauses())) {
    auto line = next();
    if (!line) break;
    lines.push_back(std::move(*line));
  }
  return lines;
}

void require_lines(const std::string& file) {
  data::require_plain_name(file, "write its texts into a file, one on each line");
}

std::vector<std::string> read_text(const std::string& file) {
  require_lines(file);
  data::LineReader reader(file == "-" ? data::GzipFile::standard_input() : data::GzipFile(file),
                          kLongestLine);
  std::vector<std::string> lines;
  while (auto line = reader.next()) {
    if (!line->fault.empty()) fail(reader, *line);
    lines.push_back(std::move(line->text));
  }
  return lines;
}

namespace {

/// Writes all of `text`, waiting if another program made the output non-blocking.
void write_all(std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd wanted{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
      poll(&wanted, 1, -1);
    } else if (errno == EPIPE) {
      throw OutputClosed();
    } else if (errno != EINTR) {
      throw training::io_error("write", "standard output", errno);
    }
  }
}

}  // namespace

CheckedOutput::CheckedOutput() : before_(std::cout.rdbuf(this)) {
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  std::cout.exceptions(std::ios::badbit);
  if (isatty(STDOUT_FILENO) != 0) std::cout << std::unitbuf;
}

CheckedOutput::~CheckedOutput() {
  std::cout.exceptions(std::ios::goodbit);
  std::cout.flush();
  std::cout.rdbuf(before_);
}

CheckedOutput::int_type CheckedOutput::overflow(int_type character) {
  sync();
  if (traits_type::eq_int_type(character, traits_type::eof()))
    return traits_type::not_eof(character);
  return sputc(traits_type::to_char_type(character));
}

int CheckedOutput::sync() {
  const std::string_view text(pbase(), static_cast<size_t>(pptr() - pbase()));
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  write_all(text);
  return 0;
}

std::string unknown_text(double share) {
  return share > 0 ? fmt::format("{:.3g} % of the target tokens unknown", 100 * share) : "";
}

std::string score_line(const records::TestScores& scores) {
  std::string text;
  for (const auto& metric : config::metrics_on(scores.compared))
    if (const double value = records::value_of(scores, metric);
        metric.in_tables && !std::isnan(value))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", metric.label,
                          config::number_text(value, metric.digits));
  std::string facts = scores.compared == data::Compared::tokens
                          ? fmt::format("{} tokens", scores.tokens)
                          : fmt::format("{} examples", scores.examples);
  if (const auto unknown = unknown_text(scores.unknown_targets); !unknown.empty())
    facts += ", " + unknown;
  const auto add = [&](int64_t count, const char* what) {
    if (count > 0) facts += fmt::format(", {} {}", count, what);
  };
  add(scores.cut_outputs, "outputs cut at the greatest length");
  add(scores.altered_references, "references that the tokenizer alters");
  add(scores.unwritable_references, "that it cannot write");
  return fmt::format("{}{}: {} ({})", scores.name, scores.extrapolates ? " (beyond)" : "", text,
                     facts);
}

}  // namespace ablate::commands

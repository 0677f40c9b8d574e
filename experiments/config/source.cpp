#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "experiments/config/document.h"
#include "experiments/config/printable.h"

namespace ablate::config {
namespace {

constexpr size_t kMostBytes = 1 << 20;

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& message) {
  throw ConfigError({{.file = file.string(), .message = message}});
}

std::optional<Problem> bad_character(const Mark& mark, std::string_view line) {
  bool indentation = true;
  for (size_t i = 0; i < line.size();) {
    const auto at = [&](std::string message) {
      return problem_at({mark.source, mark.line, static_cast<int>(i)}, std::move(message));
    };
    const auto byte = static_cast<unsigned char>(line[i]);
    if (byte == '\t' && indentation) return at("tab in the indentation; use spaces");
    if ((byte < 0x20 && byte != '\t') || byte == 0x7F)
      return at(fmt::format("control character 0x{:02X}", byte));
    indentation = indentation && byte == ' ';
    const size_t length = utf8_length(line.substr(i));
    if (length == 0)
      return at(fmt::format("byte 0x{:02X} is not UTF-8; save the file as UTF-8", byte));
    i += length;
  }
  return {};
}

}  // namespace

std::shared_ptr<const Source> read_source(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) fail(file, "is a folder, not a file");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail(file, fmt::format("cannot be read: {}", std::strerror(errno)));
  std::string text;
  for (std::array<char, 16'384> part; stream && text.size() <= kMostBytes;) {
    stream.read(part.data(), part.size());
    text.append(part.data(), static_cast<size_t>(stream.gcount()));
  }
  if (stream.bad()) fail(file, fmt::format("cannot be read: {}", std::strerror(errno)));
  if (text.size() > kMostBytes) fail(file, "is larger than 1 MiB, the limit of a configuration");
  auto source = std::make_shared<const Source>(file.string(), std::move(text));
  check_text(source);
  return source;
}

void check_text(const std::shared_ptr<const Source>& source) {
  if (source->text.starts_with("\xEF\xBB\xBF"))
    throw ConfigError({{.file = source->name,
                        .message = "begins with a byte order mark; save it as UTF-8 without BOM"}});
  for (size_t line = 0; line < source->lines.size(); ++line)
    if (const auto bad = bad_character({source, static_cast<int>(line), 0}, source->lines[line]))
      throw ConfigError({*bad});
}

}  // namespace ablate::config

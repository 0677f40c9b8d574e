#include "experiments/corpora/text/catalogue.h"

#include <fmt/format.h>
#include <unicode/regex.h>

#include <cstring>
#include <memory>

#include "data/corpus.h"
#include "experiments/corpora/text/text.h"

namespace ablate::corpora {
namespace {

constexpr uint32_t kMagic =
    0x950412de;  // of the byte order of this machine and every .mo of Debian's

/// A regular expression whose matches are removed.
class Removal {
 public:
  explicit Removal(const char16_t* pattern) {
    UErrorCode status = U_ZERO_ERROR;
    matcher_ = std::make_unique<icu::RegexMatcher>(icu::UnicodeString(pattern), 0, status);
  }
  std::string of(const std::string& text) const {
    UErrorCode status = U_ZERO_ERROR;
    const auto unicode = icu::UnicodeString::fromUTF8(text);
    matcher_->reset(unicode);
    std::string utf8;
    return matcher_->replaceAll(icu::UnicodeString(), status).toUTF8String(utf8);
  }

 private:
  std::unique_ptr<icu::RegexMatcher> matcher_;
};

std::string without_shortcut(const std::string& text) {
  static const Removal kMarks(u"(?<!\\w)[_~&](?=\\w)|(?<=\\w)[_~](?=\\w)");
  return normalized(kMarks.of(text));
}

std::string without_remarks(const std::string& text) {
  static const Removal kRemarks(u"\\{[^}]*\\}|\\[[^\\]]*\\]|\\([^)]*\\)|<[^>]*>|/[^/ ]*/");
  const auto first = normalized(kRemarks.of(text));
  return normalized(first.substr(0, first.find(';')));
}

/// The strings of a catalogue, of which a table at `table` tells length and place.
class Strings {
 public:
  Strings(std::string_view bytes, uint32_t table) : bytes_(bytes), table_(table) {}
  std::string_view at(uint32_t index) const {
    const auto length = number(bytes_, table_ + 8 * index);
    const auto place = number(bytes_, table_ + 8 * index + 4);
    if (place > bytes_.size() || length > bytes_.size() - place) damaged();
    return bytes_.substr(place, length);
  }
  static uint32_t number(std::string_view bytes, size_t place) {
    uint32_t value = 0;
    if (bytes.size() < sizeof value || place > bytes.size() - sizeof value) damaged();
    std::memcpy(&value, bytes.data() + place, sizeof value);
    return value;
  }

 private:
  [[noreturn]] static void damaged() {
    throw data::DataError("a catalogue of messages is damaged");
  }

  std::string_view bytes_;
  uint32_t table_;
};

std::string first_form(std::string_view text) {
  return std::string(text.substr(0, text.find('\0')));
}

std::vector<std::string> divided(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + separator.size();
  }
  return parts;
}

void add_entry(std::vector<Pair>& pairs, const std::string& line) {
  const auto sides = line.find("::");
  if (line.starts_with('#') || sides == std::string::npos) return;
  const auto german = divided(line.substr(0, sides), "|");
  const auto english = divided(line.substr(sides + 2), "|");
  if (german.size() != english.size()) return;
  for (size_t i = 0; i < german.size(); ++i) {
    Pair pair{"ding/" + line, without_remarks(english[i]), without_remarks(german[i])};
    if (!pair.source.empty() && !pair.target.empty() && pair.source != pair.target)
      pairs.push_back(std::move(pair));
  }
}

}  // namespace

std::vector<Pair> messages_in(const std::string& name, std::string_view catalogue) {
  if (Strings::number(catalogue, 0) != kMagic)
    throw data::DataError("'" + name + "' is no catalogue of messages");
  const auto count = Strings::number(catalogue, 8);
  const Strings sources(catalogue, Strings::number(catalogue, 12));
  const Strings targets(catalogue, Strings::number(catalogue, 16));
  std::vector<Pair> pairs;
  for (uint32_t i = 0; i < count; ++i) {
    auto source = first_form(sources.at(i));
    if (const auto context = source.find('\4'); context != std::string::npos)
      source.erase(0, context + 1);
    source = without_shortcut(source);
    const auto target = without_shortcut(first_form(targets.at(i)));
    if (!source.empty() && !target.empty() && source != target)
      pairs.push_back({fmt::format("{}/{}", name, source), source, target});
  }
  return pairs;
}

std::vector<Pair> dictionary_entries(std::string_view dictionary) {
  std::vector<Pair> pairs;
  for (const auto& line : divided(std::string(dictionary), "\n")) add_entry(pairs, line);
  return pairs;
}

}  // namespace ablate::corpora

#include "experiments/corpora/text/man_page.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "experiments/corpora/text/text.h"

namespace ablate::corpora {
namespace {

using Names = std::set<std::string, std::less<>>;

/// A line of troff that is no text: ".BR name (1)".
struct TroffLine {
  std::string name;
  std::string arguments;
};

TroffLine parsed_line(const std::string& line) {
  const auto is_letter = [](unsigned char letter) { return std::isalnum(letter) != 0; };
  const auto begin = std::min(line.find_first_not_of(' ', 1), line.size());
  const auto end = static_cast<size_t>(
      std::find_if_not(line.begin() + static_cast<std::ptrdiff_t>(begin), line.end(), is_letter) -
      line.begin());
  return {line.substr(begin, end - begin), line.substr(end)};
}

/// A character by its name of two letters, as in \(em; empty where it is not known.
std::string_view special_character(std::string_view name) {
  static const std::map<std::string_view, std::string_view> kCharacters{
      {"aq", "'"}, {"dq", "\""}, {"co", "©"}, {"lq", "\""}, {"rq", "\""}, {"ti", "~"},
      {"ha", "^"}, {"bu", "•"},  {"Bq", "„"}, {"em", "—"},  {"en", "–"}};
  const auto found = kCharacters.find(name);
  return found == kCharacters.end() ? std::string_view() : found->second;
}

/// What an escape stands for, and how many bytes it has.
struct Escape {
  std::string_view text;
  size_t bytes = 0;
};

/// Of the text after a backslash. One that is not known stands for itself.
Escape escape_at(std::string_view after) {
  if (after.empty()) return {"\\", 0};
  switch (after[0]) {
    case '&':
    case '/':
    case ',':
    case 'c':
      return {"", 1};
    case '-':
      return {"-", 1};
    case ' ':
    case '~':
      return {" ", 1};
    case 'e':
      return {"\\", 1};
    case 'f':
      if (after.size() > 3 && after[1] == '(') return {"", 4};
      return after.size() > 1 ? Escape{"", 2} : Escape{"\\", 0};
    case '(':
      if (const auto character = special_character(after.substr(1, 2)); !character.empty())
        return {character, 3};
      return {"\\", 0};
    case '[':
      if (const auto character = special_character(after.substr(1, after.find(']') - 1));
          !character.empty())
        return {character, after.find(']') + 1};
      return {"\\", 0};
    default:
      return {"\\", 0};
  }
}

std::string without_escapes(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      result += text[i];
      continue;
    }
    const auto escape = escape_at(text.substr(i + 1));
    result += escape.text;
    i += escape.bytes;
  }
  return normalized(result);
}

/// Words, or what stands in quotation marks, joined by `between`.
std::string joined_arguments(std::string_view text, std::string_view between) {
  std::string result;
  bool first = true;
  for (size_t i = text.find_first_not_of(' '); i < text.size();
       i = text.find_first_not_of(' ', i)) {
    const bool quoted = text[i] == '"';
    const auto begin = quoted ? i + 1 : i;
    const auto end = std::min(text.find(quoted ? '"' : ' ', begin), text.size());
    result += (first ? "" : std::string(between)) + std::string(text.substr(begin, end - begin));
    first = false;
    i = end + (quoted ? 1 : 0);
  }
  return result;
}

/// Divides a page into blocks, line by line.
class ManReader {
 public:
  void add(const std::string& line) {
    static const Names kDividing{"SH", "SS", "PP", "P",  "LP", "TP", "IP", "HP", "RS",
                                 "RE", "nf", "fi", "EX", "EE", "TH", "sp", "br", "in",
                                 "ad", "hy", "TS", "TE", "ti", "ta", "ft", "so"};
    if (line.starts_with('\'') || line.starts_with(".\\\"")) return;
    const auto request = line.starts_with('.') ? parsed_line(line) : TroffLine{};
    if (kDividing.contains(request.name))
      divide(request);
    else if (!example_ && !table_)
      add_text(line, request);
  }
  std::vector<ManBlock> take() {
    flush();
    return std::move(blocks_);
  }

 private:
  void divide(const TroffLine& request) {
    static const Names kSilent{"br", "ad", "hy", "in", "ta", "TH", "fi", "nf"};
    flush();
    const auto& name = request.name;
    if (name == "EX" || name == "nf") example_ = true;
    if (name == "EE" || name == "fi") example_ = false;
    if (name == "TS" || name == "TE") table_ = name == "TS";
    if (kSilent.contains(name)) return;
    const bool heading = name == "SH" || name == "SS";
    blocks_.push_back(
        {"." + name, heading ? without_escapes(joined_arguments(request.arguments, " ")) : ""});
  }

  void add_text(const std::string& line, const TroffLine& request) {
    static const Names kSpaced{"B", "I", "SM", "R"};
    static const Names kJoined{"BR", "RB", "IR", "RI", "BI", "IB", "SB"};
    if (kSpaced.contains(request.name))
      text_ += " " + joined_arguments(request.arguments, " ");
    else if (kJoined.contains(request.name))
      text_ += " " + joined_arguments(request.arguments, "");
    else if (line.find_first_not_of(" \t") == std::string::npos)
      flush();
    else if (!line.starts_with('.'))
      text_ += " " + line;
  }

  void flush() {
    if (auto text = without_escapes(text_); !text.empty()) blocks_.push_back({"", std::move(text)});
    text_.clear();
  }

  std::vector<ManBlock> blocks_;
  std::string text_;
  bool example_ = false, table_ = false;
};

/// Removes the section `heading` with what follows, and requests at the end.
void cut_end(std::vector<ManBlock>& blocks, const std::string& heading) {
  const auto section =
      std::ranges::find_if(blocks, [&](const ManBlock& block) { return block.text == heading; });
  blocks.erase(section, blocks.end());
  while (!blocks.empty() && blocks.back().text.empty()) blocks.pop_back();
}

}  // namespace

std::vector<ManBlock> man_blocks(const std::string& page) {
  ManReader reader;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) reader.add(line);
  return reader.take();
}

std::vector<Pair> man_pairs(const std::string& document, const std::string& page,
                            const std::string& translation, const Language& language) {
  auto sources = man_blocks(page), targets = man_blocks(translation);
  cut_end(sources, language.translators_section);
  cut_end(targets, language.translators_section);
  std::vector<Pair> pairs;
  if (!std::ranges::equal(sources, targets, {}, &ManBlock::request, &ManBlock::request)) return {};
  for (size_t i = 0; i < sources.size(); ++i)
    if (!sources[i].text.empty())
      add_sentences(pairs, {document, sources[i].text, targets[i].text});
  return pairs;
}

}  // namespace ablate::corpora

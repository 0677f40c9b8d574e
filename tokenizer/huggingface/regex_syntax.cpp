#include <algorithm>
#include <array>
#include <cctype>

#include "tokenizer/huggingface/regex.h"

namespace ablate::tokenizer::huggingface {
namespace {

// The classes of Oniguruma 6.9, as members of a class of PCRE2.
constexpr std::string_view kSpace =
    "\\x{9}-\\x{d} \\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}"
    "\\x{3000}";
constexpr std::string_view kWord =
    "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}";
constexpr std::string_view kDigit = "\\p{Nd}";
constexpr std::string_view kHexDigit = "0-9A-Fa-f";

struct Name {
  std::string_view theirs, ours;
};

constexpr std::array<Name, 38> kCategories = {{{"letter", "L"},
                                               {"uppercaseletter", "Lu"},
                                               {"lowercaseletter", "Ll"},
                                               {"titlecaseletter", "Lt"},
                                               {"casedletter", "L&"},
                                               {"modifierletter", "Lm"},
                                               {"otherletter", "Lo"},
                                               {"mark", "M"},
                                               {"combiningmark", "M"},
                                               {"nonspacingmark", "Mn"},
                                               {"spacingmark", "Mc"},
                                               {"enclosingmark", "Me"},
                                               {"number", "N"},
                                               {"decimalnumber", "Nd"},
                                               {"letternumber", "Nl"},
                                               {"othernumber", "No"},
                                               {"punctuation", "P"},
                                               {"connectorpunctuation", "Pc"},
                                               {"dashpunctuation", "Pd"},
                                               {"openpunctuation", "Ps"},
                                               {"closepunctuation", "Pe"},
                                               {"initialpunctuation", "Pi"},
                                               {"finalpunctuation", "Pf"},
                                               {"otherpunctuation", "Po"},
                                               {"symbol", "S"},
                                               {"mathsymbol", "Sm"},
                                               {"currencysymbol", "Sc"},
                                               {"modifiersymbol", "Sk"},
                                               {"othersymbol", "So"},
                                               {"separator", "Z"},
                                               {"spaceseparator", "Zs"},
                                               {"lineseparator", "Zl"},
                                               {"paragraphseparator", "Zp"},
                                               {"other", "C"},
                                               {"control", "Cc"},
                                               {"format", "Cf"},
                                               {"privateuse", "Co"},
                                               {"unassigned", "Cn"}}};

constexpr std::array<std::string_view, 9> kBinaryProperties = {
    "alphabetic", "uppercase", "lowercase", "whitespace",          "ideographic",
    "emoji",      "any",       "ascii",     "extendedpictographic"};

[[noreturn]] void refuse(const std::string& part) {
  throw TokenizerError("is a regular expression with " + part + ", which is not supported");
}

/// Reads Oniguruma's syntax from left to right. What both mean alike is copied; PCRE2 itself
/// refuses what is no expression in either.
class Translation {
 public:
  explicit Translation(std::string_view pattern) : in_(pattern) {}

  std::string result() {
    while (at_ < in_.size()) item();
    return std::move(out_);
  }

 private:
  char next(size_t ahead = 0) const { return at_ + ahead < in_.size() ? in_[at_ + ahead] : '\0'; }
  bool begins(std::string_view text) const { return in_.substr(at_).starts_with(text); }
  void copy(size_t count) {
    out_ += in_.substr(at_, count);
    at_ = std::min(at_ + count, in_.size());
  }

  void item() {
    const char c = next();
    if (c == '(') return open_group();
    if (c == ')') return close_group();
    if (c == '{') return interval();
    if (c == '*' || c == '+' || c == '?') return repeat();
    if (c == '|') return copy(1);
    atom_ = out_.size();
    if (c == '[') return bracket();
    if (c == '\\') return escape();
    copy(1);
    while ((static_cast<unsigned char>(next()) & 0xc0U) == 0x80) copy(1);
  }

  void open_group() {
    if (begins("(*")) refuse("'(*'");
    groups_.push_back(out_.size());
    if (!begins("(?")) return copy(1);
    if (next(2) == '-' || std::isalpha(static_cast<unsigned char>(next(2))) != 0) return options();
    constexpr std::array<std::string_view, 7> kAlike = {"(?:",  "(?=",  "(?!", "(?>",
                                                        "(?<=", "(?<!", "(?<"};
    const auto known =
        std::ranges::find_if(kAlike, [&](std::string_view start) { return begins(start); });
    if (known == kAlike.end()) refuse("'" + std::string(in_.substr(at_, 3)) + "'");
    copy(known->size());
  }

  /// (?i) and the like: Oniguruma's m lets a dot match the end of a line, which is s here.
  void options() {
    const auto end = in_.find_first_of(":)", at_);
    if (end == std::string_view::npos) refuse("an unfinished '(?'");
    const bool alone = in_[end] == ')';
    if (alone && at_ > 0) refuse("options that begin in its middle");
    for (; at_ <= end; ++at_) {
      if (std::string_view("(?:)-imx").find(in_[at_]) == std::string_view::npos)
        refuse("the option '" + std::string(1, in_[at_]) + "'");
      out_ += in_[at_] == 'm' ? 's' : in_[at_];
    }
    if (alone) groups_.pop_back();
  }

  void close_group() {
    if (groups_.empty()) refuse("a ')' without its '('");
    atom_ = groups_.back();
    groups_.pop_back();
    copy(1);
  }

  void repeat() {
    copy(1);
    if (next() == '+' || next() == '?') copy(1);
  }

  /// {low,high}, which a plus behind it does not make possessive here, but repeats.
  void interval() {
    const auto end = in_.find('}', at_);
    const auto inside = in_.substr(at_ + 1, end == std::string_view::npos ? 0 : end - at_ - 1);
    const bool valid = !inside.empty() && inside != "," &&
                       inside.find_first_not_of("0123456789,") == std::string_view::npos &&
                       std::ranges::count(inside, ',') <= 1;
    if (!valid) {
      atom_ = out_.size();
      out_ += "\\{";
      ++at_;
      return;
    }
    out_ +=
        inside.front() == ',' ? "{0" + std::string(inside) + "}" : "{" + std::string(inside) + "}";
    at_ = end + 1;
    const bool exact = inside.find(',') == std::string_view::npos;
    if (next() == '+' || (next() == '?' && exact)) {
      out_.insert(atom_, "(?:");
      out_ += ")";
      copy(1);
    } else if (next() == '?') {
      copy(1);
    }
  }

  void escape() {
    const char c = next(1);
    const auto members = class_of(c);
    if (!members.empty()) {
      const bool others = std::isupper(static_cast<unsigned char>(c)) != 0;
      out_ += (others ? "[^" : "[") + std::string(members) + "]";
      at_ += 2;
    } else if (c == 'b' || c == 'B') {
      word_boundary(c == 'b');
    } else if ((c == 'k' && next(2) == '<') ||
               (c != '\0' &&
                std::string_view("AzZRXK123456789").find(c) != std::string_view::npos)) {
      copy(2);
    } else {
      character();
    }
  }

  static std::string_view class_of(char letter) {
    switch (letter) {
      case 's':
      case 'S':
        return kSpace;
      case 'w':
      case 'W':
        return kWord;
      case 'd':
      case 'D':
        return kDigit;
      case 'h':
      case 'H':
        return kHexDigit;
      default:
        return {};
    }
  }

  void word_boundary(bool wanted) {
    const auto word = "[" + std::string(kWord) + "]";
    out_ += wanted ? "(?:(?<=" + word + ")(?!" + word + ")|(?<!" + word + ")(?=" + word + "))"
                   : "(?:(?<=" + word + ")(?=" + word + ")|(?<!" + word + ")(?!" + word + "))";
    at_ += 2;
  }

  /// An escape that stands for a character or a property, within brackets or not.
  void character() {
    const char c = next(1);
    if (c == 'p' || c == 'P') return property();
    if (c == 'u') return code_point();
    if (c == 'x') return hexadecimal();
    if (c == 'v') {
      out_ += "\\x{b}";
      at_ += 2;
    } else if (c != '\0' && std::isalnum(static_cast<unsigned char>(c)) != 0 &&
               std::string_view("tnrfae").find(c) == std::string_view::npos) {
      refuse("'\\" + std::string(1, c) + "'");
    } else {
      copy(1);
      copy(1);
      while ((static_cast<unsigned char>(next()) & 0xc0U) == 0x80) copy(1);
    }
  }

  std::string_view hex_digits(size_t from, size_t most) const {
    const auto rest = in_.substr(std::min(from, in_.size()), most);
    return rest.substr(0, std::min(rest.find_first_not_of("0123456789abcdefABCDEF"), rest.size()));
  }

  void code_point() {
    const auto digits = hex_digits(at_ + 2, 4);
    if (digits.size() != 4) refuse("'\\u' without four digits");
    out_ += "\\x{" + std::string(digits) + "}";
    at_ += 6;
  }

  void hexadecimal() {
    const auto end = in_.find('}', at_);
    if (next(2) == '{' && end != std::string_view::npos) return copy(end + 1 - at_);
    const auto digits = hex_digits(at_ + 2, 2);
    if (digits.empty() || (digits.size() == 2 && digits[0] > '7')) refuse("a byte after '\\x'");
    out_ += "\\x{" + std::string(digits) + "}";
    at_ += 2 + digits.size();
  }

  /// \p{Name}: a general category, one of a few binary properties or else a script.
  void property() {
    const auto end = in_.find('}', at_);
    if (next(2) != '{' || end == std::string_view::npos) refuse("'\\p' without braces");
    std::string name;
    for (const char c : in_.substr(at_ + 3, end - at_ - 3))
      if (c != ' ' && c != '_' && c != '-')
        name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const bool inverse = name.starts_with('^');
    if (inverse) name.erase(0, 1);
    out_ += (next(1) == 'P') != inverse ? "\\P{" : "\\p{";
    const auto category = std::ranges::find(kCategories, name, &Name::theirs);
    if (category != kCategories.end())
      out_ += category->ours;
    else if (name.size() <= 2 ||
             std::ranges::find(kBinaryProperties, name) != kBinaryProperties.end())
      out_ += name;
    else
      out_ += "sc:" + name;
    out_ += "}";
    at_ = end + 1;
  }

  void bracket() {
    copy(1);
    if (next() == '^') copy(1);
    for (bool first = true; at_ < in_.size() && (first || next() != ']'); first = false)
      member(first);
    copy(1);
  }

  void member(bool first) {
    const char c = next();
    if (begins("&&")) refuse("'&&'");
    if (c == '[') refuse("brackets within brackets");
    if (c == ']' && first) {
      out_ += "\\]";
      ++at_;
    } else if (c == '\\') {
      member_escape();
    } else {
      copy(1);
    }
  }

  void member_escape() {
    const char c = next(1);
    const auto members = class_of(c);
    if (members.empty()) {
      if (c == 'b') refuse("'\\b' within brackets");
      return character();
    }
    if (c == 'S')
      out_ += "\\S";
    else if (c == 'D')
      out_ += "\\P{Nd}";
    else if (std::isupper(static_cast<unsigned char>(c)) != 0)
      refuse("'\\" + std::string(1, c) + "' within brackets");
    else
      out_ += members;
    at_ += 2;
  }

  std::string_view in_;
  size_t at_ = 0;
  std::string out_;
  std::vector<size_t> groups_;  // where the open ones begin in out_
  size_t atom_ = 0;             // where what a quantifier repeats begins in out_
};

}  // namespace

std::string pcre2_syntax(std::string_view oniguruma) { return Translation(oniguruma).result(); }

}  // namespace ablate::tokenizer::huggingface

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/analysis/statistics/estimates.h"

namespace ablate::report {

/// Part of a page that is well-formed as HTML and as XML. Text of users is always escaped: only the
/// functions below make a Markup.
class Markup {
 public:
  Markup() = default;
  const std::string& html() const { return html_; }
  bool empty() const { return html_.empty(); }
  bool operator==(const Markup&) const = default;
  Markup& operator+=(const Markup& more) {
    html_ += more.html_;
    return *this;
  }
  friend Markup operator+(Markup left, const Markup& right) { return left += right; }

 private:
  friend Markup text(std::string_view);
  friend Markup element(const char*, const std::vector<struct Attribute>&, const Markup&);
  friend Markup style_element(std::string_view);
  explicit Markup(std::string html) : html_(std::move(html)) {}

  std::string html_;
};

struct Attribute {
  const char* name;
  std::string value;
};

/// The text itself. Bytes that are no UTF-8, control characters, those that turn the direction of
/// writing and non-characters become visible signs.
Markup text(std::string_view text);

/// <name attributes>content</name>, attribute values escaped as text is.
Markup element(const char* name, const std::vector<Attribute>& attributes = {},
               const Markup& content = {});

/// A style sheet of the program's own. REQUIRES: no "<", "&" or "]]>" in it.
Markup style_element(std::string_view sheet);

/// Text as `text` shows it, before escaping, and at most `most` characters of it, the last an
/// ellipsis if some are left out.
std::string shown(std::string_view text, size_t most = std::string_view::npos);

/// Its letters: a multi-byte sign counts once.
size_t width(std::string_view text);

// Numbers as the page shows them: figures of analysis/figure.h with true minus signs, and a dash if
// there is no number.

/// A figure, or several in a text, with its hyphens as minus signs; "-" alone is a dash.
std::string typeset(const std::string& figures);

std::string score(double value, const std::string& metric);
/// A number with its sign, beside its interval: "+0.012", "\u22120.012".
std::string difference(double value, const std::optional<statistics::Interval>& interval,
                       const std::string& metric);
/// "[0.984, 1.000]"; empty if there is none.
std::string interval(const std::optional<statistics::Interval>& interval,
                     const std::string& metric);

std::string fixed(double number, int decimals);
/// Four significant digits: "0.7391", "12.35".
std::string plain(double number);
/// Three digits and a unit: "1.06 M", "235 k", "12.4".
std::string large(double number);

}  // namespace ablate::report

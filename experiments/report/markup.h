#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ablate::report {

/// Part of a page that is well-formed as HTML and as XML. Whatever a user wrote stands in it as
/// text alone: only the functions below make one.
class Markup {
 public:
  Markup() = default;
  const std::string& html() const { return html_; }
  bool empty() const { return html_.empty(); }
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
/// ellipsis where some are left out.
std::string shown(std::string_view text, size_t most = std::string_view::npos);

}  // namespace ablate::report

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ablate::corpora {

/// A node of a page: text, or an element with what it holds.
struct Markup {
  std::string name;  // of the element, without a prefix; empty: text
  std::string text;
  std::map<std::string, std::string> attributes;
  std::vector<Markup> children;

  /// The value of an attribute; empty where there is none.
  std::string attribute(const std::string& key) const;
  /// All text in it.
  std::string content() const;
};

/// The root element of an HTML page, as a browser would repair it. Throws DataError where there is
/// none.
Markup read_html(const std::string& page);

/// The same of XML. A reference to an entity that the page does not define is left out.
Markup read_xml(const std::string& page);

}  // namespace ablate::corpora

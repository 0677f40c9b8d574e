#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace ablate::report {

/// Known attacks on a page whose escaping has a hole, and broken UTF-8.
inline const std::vector<std::string> kHostileFragments = {
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "</style><b>",
    "</title><i>",
    "</svg><u>",
    "<svg onload=alert(1)><animate href=\"#x\" attributeName=\"href\"/></svg>",
    "<math><mtext></p><style><!--</style><img title=\"--&gt;\">",
    "<![CDATA[<b>]]>",
    "]]>",
    "<!--",
    "-->",
    "<?xml version=\"1.0\"?>",
    "<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]>&e;",
    "\" onmouseover=\"alert(1)",
    "' onfocus='alert(1)' autofocus='",
    "`\"'><x y=z>",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "&lt;script&gt;",
    "&#60;b&#62;",
    "&amp;amp;",
    "&#0;",
    "&",
    "<",
    ">",
    "\"",
    "'",
    "<a href=\"javascript:alert(1)\">x</a>",
    "<table><tr><td>",
    "</td></tr></table>",
    "<base href=\"//example.org/\">",
    "<meta http-equiv=refresh content=\"0;url=//example.org\">",
    "<link rel=stylesheet href=//example.org>",
    "url(//example.org)",
    "expression(alert(1))",
    "}*{display:none}",
    "\\u003cscript\\u003e",
    "{{constructor.constructor('alert(1)')()}}",
    "%3Cscript%3E",
    std::string(1, '\0'),
    "\x01\x02\x1b[31m\x7f",
    "\r\n\t",
    "\xc0\xbc"
    "script\xc0\xbe",  // overlong "<" and ">"
    "\xe0\x80\xbc",
    "\xff\xfe\xfd",
    "\xed\xa0\x80",              // half of a surrogate pair
    "\xf4\x90\x80\x80",          // beyond Unicode
    "\xe2\x82",                  // cut
    "\xef\xbf\xbe\xef\xbf\xbf",  // non-characters
    "\xe2\x80\xae"
    "txt.exe\xe2\x80\xac",  // turned from right to left
    "\xe2\x81\xa7\xe2\x80\x8f\xd7\x90",
    "\xc2\x85\xc2\x9b",
    std::string(3000, 'w'),
    "a b"};

/// Strings that would break out of a page whose escaping has a hole, the same ones for a count on
/// every machine: the fragments above, and several of them put together by a fixed
/// generator. Every one holds something that a page must not take for its own.
inline std::vector<std::string> hostile_strings(size_t count) {
  std::mt19937 random(20240701);  // its numbers are fixed by the standard
  std::vector<std::string> strings(kHostileFragments.begin(), kHostileFragments.end());
  while (strings.size() < count) {
    std::string text;
    const auto fragments = 1 + random() % 4;
    for (uint32_t i = 0; i < fragments; ++i)
      text += kHostileFragments[random() % kHostileFragments.size()];
    if (random() % 3 == 0)
      for (int i = 0; i < 4; ++i) text[random() % text.size()] = static_cast<char>(random());
    strings.push_back(text);
  }
  strings.resize(count);
  return strings;
}

}  // namespace ablate::report

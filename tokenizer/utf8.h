#pragma once

#include <string_view>

namespace ablate::tokenizer {

/// Whether `text` is well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates, at most
/// U+10FFFF).
bool valid_utf8(std::string_view text);

}  // namespace ablate::tokenizer

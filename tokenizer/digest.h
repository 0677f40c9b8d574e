#pragma once

#include <string>
#include <string_view>

namespace ablate::tokenizer {

/// SHA-256 of `bytes` as 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace ablate::tokenizer

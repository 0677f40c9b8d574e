#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace ablate::data {

/// What the magic number at the beginning of a file says that it is, where text or raw tokens are
/// wanted, and the remedy: "is packed by zstd; unpack it with unzstd". Empty if it has none. No
/// magic number of two bytes counts, since two bytes are also a token.
std::string foreign_form(std::string_view first);

/// The same for what only texts can be told from: UTF-16 and UTF-32, with a byte order mark or
/// without.
std::string foreign_encoding(std::string_view first);

/// Whether the bytes are text: valid UTF-8 without control characters, apart from the last
/// character, which may be cut off.
bool is_text(std::string_view first);

/// What to do with a file that by its name has named columns: "give data.format: csv". Empty for
/// other names.
std::string remedy_for_name(const std::filesystem::path& file);

/// Throws DataError if remedy_for_name() knows that the file is not plain text.
void require_plain_name(const std::filesystem::path& file);

}  // namespace ablate::data

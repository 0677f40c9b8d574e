#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace ablate::data {

/// The format of a file that is neither text nor raw tokens, by the magic number at its beginning,
/// and the remedy: "is packed by zstd; unpack it with unzstd". Empty if no known magic number is
/// there. Magic numbers of two bytes are not looked for, since two bytes may be a token.
std::string foreign_form(std::string_view first);

/// The encoding of a text in UTF-16 or UTF-32, with or without a byte order mark, and the remedy.
/// Empty for other bytes. Raw tokens may look alike, so this is only for files of text.
std::string foreign_encoding(std::string_view first);

/// Whether the bytes are text: valid UTF-8 without control characters, apart from the last
/// character, which may be cut off.
bool is_text(std::string_view first);

/// The remedy if the name of a file says that it has named columns: "give data.format: csv". Empty
/// for other names.
std::string remedy_for_name(const std::filesystem::path& file);

/// Throws DataError if remedy_for_name() knows that the file is not plain text; `remedy` is advised
/// in place of its own, for a reader that knows no columns.
void require_plain_name(const std::filesystem::path& file, const std::string& remedy = {});

}  // namespace ablate::data

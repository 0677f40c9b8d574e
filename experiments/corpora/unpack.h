#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace ablate::corpora {

/// Bytes of files by their names.
using Files = std::map<std::string, std::string>;

/// The regular files of a zip, tar or ar archive, compressed or not, whose names `wanted` accepts.
/// Throws DataError where the archive is damaged or unpacks to more than 200 times its size.
Files files_in(std::string_view archive, const std::function<bool(std::string_view)>& wanted);

/// The same of what a Debian package installs: names as in "usr/share/man/man1/ls.1.gz".
Files files_in_package(std::string_view package,
                       const std::function<bool(std::string_view)>& wanted);

/// What a gzip, bzip2 or xz file holds. Throws DataError where it is damaged or unpacks to more
/// than 200 times its size.
std::string unpacked(std::string_view compressed);

}  // namespace ablate::corpora

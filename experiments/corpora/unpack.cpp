#include "experiments/corpora/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <array>
#include <memory>

#include "data/corpus.h"
#include "data/gzip_file.h"
#include "experiments/corpora/shared_library.h"

namespace ablate::corpora {
namespace {

/// The functions of libarchive that are used.
struct Libarchive {
  decltype(&archive_read_new) create;
  decltype(&archive_read_free) free;
  decltype(&archive_read_support_filter_all) all_filters;
  decltype(&archive_read_support_format_ar) ar;
  decltype(&archive_read_support_format_tar) tar;
  decltype(&archive_read_support_format_zip) zip;
  decltype(&archive_read_support_format_raw) raw;
  decltype(&archive_read_open_memory) open;
  decltype(&archive_read_next_header) next;
  decltype(&archive_read_data) read;
  decltype(&archive_error_string) reason;
  decltype(&archive_entry_pathname) name;
  decltype(&archive_entry_filetype) type;

  Libarchive() {
    const SharedLibrary library(ABLATE_LIBARCHIVE, "libarchive13");
    library.bind(create, "archive_read_new");
    library.bind(free, "archive_read_free");
    library.bind(all_filters, "archive_read_support_filter_all");
    library.bind(ar, "archive_read_support_format_ar");
    library.bind(tar, "archive_read_support_format_tar");
    library.bind(zip, "archive_read_support_format_zip");
    library.bind(raw, "archive_read_support_format_raw");
    library.bind(open, "archive_read_open_memory");
    library.bind(next, "archive_read_next_header");
    library.bind(read, "archive_read_data");
    library.bind(reason, "archive_error_string");
    library.bind(name, "archive_entry_pathname");
    library.bind(type, "archive_entry_filetype");
  }
};

const Libarchive& libarchive() {
  static const Libarchive kLibarchive;
  return kLibarchive;
}

/// An archive in memory, read entry by entry. Throws DataError.
class Reader {
 public:
  enum class Format { archive, single };

  Reader(std::string_view bytes, Format format)
      : archive_(libarchive().create()), packed_(bytes.size()) {
    const auto& use = libarchive();
    use.all_filters(archive_.get());
    if (format == Format::single) {
      use.raw(archive_.get());
    } else {
      use.ar(archive_.get());
      use.tar(archive_.get());
      use.zip(archive_.get());
    }
    check(use.open(archive_.get(), bytes.data(), bytes.size()));
  }

  /// The next regular file's name; false at the end.
  bool next(std::string& name) {
    archive_entry* entry = nullptr;
    for (;;) {
      const int status = libarchive().next(archive_.get(), &entry);
      if (status == ARCHIVE_EOF) return false;
      check(status);
      const char* path = libarchive().name(entry);
      const auto type = libarchive().type(entry);  // none: some programs write ar archives so
      if (path == nullptr || (type != AE_IFREG && type != 0)) continue;
      name = path;
      if (name.starts_with("./")) name.erase(0, 2);
      return true;
    }
  }

  /// The bytes of the file that next() named.
  std::string read() {
    std::string bytes;
    std::array<char, 1 << 16> buffer{};
    for (;;) {
      const auto got = libarchive().read(archive_.get(), buffer.data(), buffer.size());
      if (got < 0) check(static_cast<int>(got));
      if (got <= 0) return bytes;
      unpacked_ += static_cast<size_t>(got);
      if (data::is_bomb(unpacked_, packed_))
        throw data::DataError("the archive unpacks to more than 200 times its size");
      bytes.append(buffer.data(), static_cast<size_t>(got));
    }
  }

 private:
  struct Free {
    void operator()(archive* opened) const { libarchive().free(opened); }
  };

  void check(int status) {
    if (status == ARCHIVE_OK || status == ARCHIVE_WARN) return;
    const char* reason = libarchive().reason(archive_.get());
    throw data::DataError(
        fmt::format("the archive cannot be unpacked: {}", reason == nullptr ? "?" : reason));
  }

  std::unique_ptr<archive, Free> archive_;
  size_t packed_;
  size_t unpacked_ = 0;  // of all files so far
};

}  // namespace

Files files_in(std::string_view archive, const std::function<bool(std::string_view)>& wanted) {
  Files files;
  Reader reader(archive, Reader::Format::archive);
  for (std::string name; reader.next(name);)
    if (wanted(name)) files[name] = reader.read();
  return files;
}

Files files_in_package(std::string_view package,
                       const std::function<bool(std::string_view)>& wanted) {
  const auto members =
      files_in(package, [](std::string_view name) { return name.starts_with("data.tar"); });
  if (members.size() != 1) throw data::DataError("the archive is no Debian package");
  return files_in(members.begin()->second, wanted);
}

std::string unpacked(std::string_view compressed) {
  Reader reader(compressed, Reader::Format::single);
  std::string name;
  return reader.next(name) ? reader.read() : std::string();
}

}  // namespace ablate::corpora

#include "data/foreign_form.h"

#include <algorithm>
#include <array>

#include "data/corpus.h"
#include "tokenizer/text/unicode.h"

namespace ablate::data {
namespace {

using namespace std::string_view_literals;

/// A magic number and its offset.
struct Mark {
  size_t at;
  std::string_view bytes;
  const char* what;
};

constexpr const char* kConvert =
    "write it as JSON Lines, as docs/data.md shows, and give data.format: jsonl";

constexpr auto kPacked = std::to_array<Mark>({
    {0, "\x1f\x8b\x08"sv, "is packed by gzip; unpack it with gunzip"},
    {4, "1AY&SY"sv, "is packed by bzip2; unpack it with bunzip2"},
    {1, "7zXZ\0"sv, "is packed by xz; unpack it with unxz"},
    {0, "\x28\xb5\x2f\xfd"sv, "is packed by zstd; unpack it with unzstd"},
    {0, "\x04\x22\x4d\x18"sv, "is packed by lz4; unpack it with unlz4"},
    {0, "PK\x03\x04"sv, "is a zip archive; unpack it with unzip"},
    {0, "7z\xbc\xaf\x27\x1c"sv, "is a 7z archive; unpack it with 7z x"},
    {0, "Rar!\x1a\x07"sv, "is a RAR archive; unpack it with unrar x"},
    {257, "ustar"sv, "is a tar archive; unpack it with tar -xf"},
    {0, "\x93NUMPY"sv,
     "is an array of NumPy (.npy), which has a header; write its numbers alone: "
     "numpy.load(FILE).astype('uint16').tofile(...), or 'uint32' if they reach 65536"},
    {0, "\x80\x04\x95"sv, "is a pickle of Python; write its data as text or as raw tokens"},
    {0, "\x89HDF\r\n\x1a\n"sv, "is an HDF5 file; write its data as text or as raw tokens"},
    {5, "\0\0\0{\""sv, "is a safetensors file; write its data as text or as raw tokens"},
    {0, "MMIDIDX\0\0"sv, "is the index of Megatron's tokens; name the .bin file beside it"},
});

constexpr auto kTables = std::to_array<Mark>({
    {0, "PAR1"sv, "is a Parquet file"},
    {0, "ARROW1"sv, "is an Arrow file"},
    {0, "FEA1"sv, "is a Feather file"},
    {0, "Obj\x01"sv, "is an Avro file"},
    {0, "SQLite format 3\0"sv, "is a database of SQLite"},
    {0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, "is a document of Office"},
    {0, "%PDF-"sv, "is a PDF file"},
});

/// The stream that `datasets` of Hugging Face keeps: a mark, and a length of less than 65,536
/// bytes.
constexpr Mark kArrowMark{0, "\xff\xff\xff\xff"sv, "is a stream of Arrow"};
constexpr Mark kArrowLength{6, "\0\0"sv, ""};

bool has(std::string_view first, const Mark& mark) {
  return first.size() > mark.at && first.substr(mark.at).starts_with(mark.bytes);
}

}  // namespace

std::string foreign_form(std::string_view first) {
  for (const auto& mark : kPacked)
    if (has(first, mark)) return mark.what;
  for (const auto& mark : kTables)
    if (has(first, mark)) return std::string(mark.what) + "; " + kConvert;
  if (has(first, kArrowMark) && has(first, kArrowLength))
    return std::string(kArrowMark.what) + "; " + kConvert;
  return {};
}

std::string foreign_encoding(std::string_view first) {
  const auto is = [](const char* name) {
    return std::string("is ") + name + "; convert it with iconv -f " + name + " -t UTF-8";
  };
  if (first.starts_with("\xff\xfe\0\0"sv) || first.starts_with("\0\0\xfe\xff"sv))
    return is("UTF-32");
  if (first.starts_with("\xff\xfe") || first.starts_with("\xfe\xff")) return is("UTF-16");
  if (first.size() < 4) return {};
  const auto nul = [&](size_t at) { return first[at] == '\0'; };
  if (!nul(0) && nul(1) && !nul(2) && nul(3)) return is("UTF-16LE");
  if (nul(0) && !nul(1) && nul(2) && !nul(3)) return is("UTF-16BE");
  return {};
}

bool is_text(std::string_view first) {
  constexpr size_t kLongest = 4;  // bytes of a character
  const auto control = [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n' && c != '\r';
  };
  if (std::ranges::any_of(first, control)) return false;
  for (size_t cut = 0; cut < kLongest && cut < first.size(); ++cut)
    if (tokenizer::valid_utf8(first.substr(0, first.size() - cut))) return true;
  return false;
}

std::string remedy_for_name(const std::filesystem::path& file) {
  const auto plain = file.extension() == ".gz" ? file.stem() : file;
  const auto form = plain.extension();
  if (form == ".csv") return "give data.format: csv";
  if (form == ".jsonl" || form == ".ndjson") return "give data.format: jsonl";
  if (form == ".json" || form == ".parquet") return kConvert;
  return {};
}

void require_plain_name(const std::filesystem::path& file, const std::string& remedy) {
  const auto own = remedy_for_name(file);
  if (!own.empty())
    throw DataError(file.string() + " is no plain text by its name; " +
                    (remedy.empty() ? own : remedy) + ", or rename it if its lines are the text");
}

}  // namespace ablate::data

#include "data/foreign_form.h"

#include "data/read_corpus.h"
#include "data/text_file.h"
#include "data/token_file.h"
#include "tests/data/folder_test_case.h"

namespace ablate::data {
namespace {

struct Form {
  std::string bytes, words;
};

std::string after(size_t size, const std::string& bytes) { return std::string(size, 'x') + bytes; }

const std::vector<Form>& forms() {
  static const std::vector<Form> kForms{
      {"BZh91AY&SY", "is packed by bzip2; unpack it with bunzip2"},
      {std::string("\xfd\x37zXZ\0", 6), "is packed by xz; unpack it with unxz"},
      {"\x28\xb5\x2f\xfd", "is packed by zstd; unpack it with unzstd"},
      {"\x04\x22\x4d\x18", "is packed by lz4; unpack it with unlz4"},
      {"PK\x03\x04", "is a zip archive; unpack it with unzip"},
      {"7z\xbc\xaf\x27\x1c", "is a 7z archive"},
      {"Rar!\x1a\x07", "is a RAR archive"},
      {after(257, "ustar"), "is a tar archive"},
      {"\x93NUMPY\x01", "is an array of NumPy (.npy), which has a header"},
      {"\x80\x04\x95", "is a pickle of Python"},
      {"\x89HDF\r\n\x1a\n", "is an HDF5 file"},
      {std::string("\x50\0\0\0\0\0\0\0{\"a\"", 12), "is a safetensors file"},
      {std::string("MMIDIDX\0\0", 9), "is the index of Megatron's tokens"},
      {"PAR1\x15", "is a Parquet file; write it as JSON Lines, as docs/data.md shows"},
      {"ARROW1", "is an Arrow file; write it as JSON Lines"},
      {std::string("\xff\xff\xff\xff\x10\x01\0\0", 8), "is a stream of Arrow"},
      {"FEA1", "is a Feather file"},
      {"Obj\x01", "is an Avro file"},
      {std::string("SQLite format 3\0", 16), "is a database of SQLite"},
      {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is a document of Office"},
      {"%PDF-1.7", "is a PDF file"},
  };
  return kForms;
}

class ForeignForms : public FolderTestCase {};

TEST_F(ForeignForms, AreNamedWhereTextIsRead) {
  for (const auto& [bytes, words] : forms()) {
    const auto file = write("a", bytes + "\n");
    EXPECT_EQ(message_of([&] { read_lines(file, 1000); }).find("a: " + words), 0U) << words;
  }
  EXPECT_EQ(foreign_form("A text. PAR1"), "");
}

TEST_F(ForeignForms, AreNamedWhereTokensAreRead) {
  for (const auto& [bytes, words] : forms()) {
    const auto file = write("a", bytes + std::string(bytes.size() % 2 + 300, '\1'));
    EXPECT_EQ(message_of([&] { TokenFile{file}; }).find("a " + words), 0U) << words;
  }
  EXPECT_EQ(message_of([&] {
              TokenFile{write_gzip("b", "some text that is packed")};
            }).find("b is packed by gzip; unpack it with gunzip"),
            0U);
}

/// Two bytes with a value each per character, or four.
TEST_F(ForeignForms, OfTextAreItsEncodings) {
  const auto message = [&](const std::string& bytes) {
    const auto file = write("a", bytes);
    return message_of([&] { read_lines(file, 1000); });
  };
  EXPECT_EQ(message("\xff\xfe\x01"), "a: is UTF-16; convert it with iconv -f UTF-16 -t UTF-8");
  EXPECT_EQ(message(std::string("\xff\xfe\0\0a\0\0\0", 8)),
            "a: is UTF-32; convert it with iconv -f UTF-32 -t UTF-8");
  EXPECT_EQ(message(std::string("a\0b\0\n\0", 6)),
            "a: is UTF-16LE; convert it with iconv -f UTF-16LE -t UTF-8");
  EXPECT_EQ(message(std::string("\0a\0b\0\n", 6)),
            "a: is UTF-16BE; convert it with iconv -f UTF-16BE -t UTF-8");
}

TEST_F(ForeignForms, OfTokensIsText) {
  const std::string words =
      "a is text and holds no tokens; write them with `ablate data tokens`, or train on the text "
      "with data.task: language";
  for (const std::string text :
       {"[1, 2, 3, 4, 5, 6]\n", "Grüße an den Rest der Welt", "1\n22\n333\n4444\n55555\n"}) {
    const auto file = write("a", text + (text.size() % 2 == 1 ? "\n" : ""));
    EXPECT_EQ(message_of([&] { TokenFile{file}; }), words) << text;
  }
}

/// What is learned of such a file is its commas and quotes.
TEST_F(ForeignForms, ByTheirNameAreNoPlainText) {
  for (const std::string name : {"a.csv", "a.jsonl", "a.jsonl.gz", "a.ndjson"}) {
    write(name, "{\"text\": \"one\"}\n{\"text\": \"two\"}\n");
    const auto words = name + " is no plain text by its name; give data.format: " +
                       (name == "a.csv" ? "csv" : "jsonl") +
                       ", or rename it if its lines are the text";
    const Language language{.train = name};
    EXPECT_EQ(message_of([&] { read_language(language, folder_); }), words);
    EXPECT_EQ(message_of([&] { check_beginning(language, folder_ / name); }), words);
    const Text text{.train = {name, name}, .validation = {name, name}, .test = {name, name}};
    EXPECT_EQ(message_of([&] { read_text(text, folder_); }), words);
  }
}

TEST_F(ForeignForms, AreFoundBeforeARun) {
  write("a.txt", "one\ntwo\n");
  write("b.txt", "PAR1");
  const auto message = [&](const auto& options, const char* name) {
    return message_of([&] { check_beginning(options, folder_ / name); });
  };
  EXPECT_EQ(message(Language(), "a.txt"), "no error");
  EXPECT_EQ(message(Language(), "b.txt").find("b.txt: is a Parquet file"), 0U);
  write("a.txt", std::string(100, 'x'));
  EXPECT_EQ(message(Tokens{.vocabulary = 100}, "a.txt").find("a.txt is text"), 0U);
  write("c", "{\"body\": \"one\"}\n");
  EXPECT_EQ(message(Language{.format = TableFormat::jsonl}, "c"),
            "c:1: the object has no 'text'; see data.columns");
}

}  // namespace
}  // namespace ablate::data

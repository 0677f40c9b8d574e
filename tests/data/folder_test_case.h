#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "data/corpus.h"
#include "tests/folder.h"
#include "tests/says.h"

namespace ablate::data {

/// A test with an empty folder of its own.
class FolderTestCase : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }
  std::filesystem::path write_gzip(const std::string& name, const std::string& bytes) {
    const auto file = folder_ / name;
    gzFile stream = gzopen(file.c_str(), "wb");
    gzwrite(stream, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(stream);
    return file;
  }
  /// What the DataError of `action` says, without the folder; "no error" where none is thrown.
  template <class Action>
  std::string message_of(Action action) {
    auto what = refusal_of<DataError>(action, "no error");
    for (size_t at; (at = what.find(folder_.string() + "/")) != std::string::npos;)
      what.erase(at, folder_.string().size() + 1);
    return what;
  }

  const Folder own_;
  const std::filesystem::path folder_ = own_.path;
};

}  // namespace ablate::data

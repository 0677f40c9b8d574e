#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace ablate::training {

/// A test with an empty folder of its own.
class FolderTestCase : public testing::Test {
 protected:
  FolderTestCase() {
    std::string pattern = testing::TempDir() + "ablate-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~FolderTestCase() override { std::filesystem::remove_all(folder_); }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace ablate::training

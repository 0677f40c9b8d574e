#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/folder.h"

namespace ablate::training {

/// A test with an empty folder of its own.
class FolderTestCase : public testing::Test {
 protected:
  const std::filesystem::path& folder() const { return own_.path; }

 private:
  const Folder own_;
};

}  // namespace ablate::training

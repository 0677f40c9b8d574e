#include "experiments/corpora/text/package_index.h"

#include <gtest/gtest.h>

namespace ablate::corpora {
namespace {

const char* const kIndex =
    "Package: ls\n"
    "Description-md5: 1\n"
    "Description-en: lists   files\n"
    " It lists\n"
    " files: all of them.\n"
    " .\n"
    " It can:\n"
    "  * sort them\n"
    "    by name;\n"
    "  - count them.\n"
    "\n"
    "Package: ls-doc\n"
    "Description-md5: 1\n"
    "Description-en: the same digest\n"
    "\n"
    "Package: cat\n"
    "Description-md5: 2\n"
    "Description-en: shows files\n";

TEST(PackageIndex, HoldsTitlesAndParagraphs) {
  const auto found = descriptions_in(kIndex);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].package, "ls");
  EXPECT_EQ(found[0].digest, "1");
  EXPECT_EQ(found[0].title, "lists files");
  EXPECT_EQ(found[0].paragraphs,
            (std::vector<std::string>{"It lists files: all of them.",
                                      "It can:", "sort them by name;", "count them."}));
  EXPECT_EQ(found[1].title, "shows files");
  EXPECT_TRUE(found[1].paragraphs.empty());
}

TEST(PackageIndex, APackageWithoutASourceIsItsOwn) {
  const auto packages = packages_in(
      "Package: libc6\nSource: glibc (2.36-9)\nSection: libs\nDescription: C\n"
      "\nPackage: bash\nSection: shells\n");
  EXPECT_EQ(packages.at("libc6").source, "glibc");
  EXPECT_EQ(packages.at("libc6").section, "libs");
  EXPECT_EQ(packages.at("bash").source, "bash");
}

TEST(PackageIndex, OfNothingIsEmpty) {
  EXPECT_TRUE(descriptions_in("").empty());
  EXPECT_TRUE(packages_in("").empty());
}

}  // namespace
}  // namespace ablate::corpora

#include "experiments/corpora/unpack.h"

#include "data/corpus.h"
#include "tests/experiments/program.h"

namespace ablate::corpora {
namespace {

/// Archives as the usual programs make them.
class Unpack : public ProgramTest {
 protected:
  std::string made_by(const std::string& command, const std::string& archive) {
    const auto outcome = shell("cd " + folder_.string() +
                               " && mkdir -p in/sub && printf one > in/a.txt && printf two > "
                               "in/sub/b.txt && ln -sf a.txt in/link && " +
                               command + " 2>&1");
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    return read_file(folder_ / archive);
  }
};

bool any(std::string_view) { return true; }

TEST_F(Unpack, RegularFilesOfATarArchiveThatAreWanted) {
  const auto archive = made_by("tar -C in -cJf x.tar.xz .", "x.tar.xz");
  EXPECT_EQ(files_in(archive, any), (Files{{"a.txt", "one"}, {"sub/b.txt", "two"}}));
  EXPECT_EQ(files_in(archive, [](std::string_view name) { return name.ends_with("b.txt"); }),
            (Files{{"sub/b.txt", "two"}}));
}

TEST_F(Unpack, AZipArchive) {
  const auto archive = made_by("(cd in && python3 -m zipfile -c ../x.zip a.txt)", "x.zip");
  EXPECT_EQ(files_in(archive, any), (Files{{"a.txt", "one"}}));
}

TEST_F(Unpack, ADebianPackage) {
  const auto package = made_by(
      "tar -C in -cJf data.tar.xz ./a.txt && printf 2.0 > debian-binary && printf x > "
      "control.tar.xz && ar rc x.deb debian-binary control.tar.xz data.tar.xz",
      "x.deb");
  EXPECT_EQ(files_in_package(package, any), (Files{{"a.txt", "one"}}));
  const auto other = made_by("ar rc y.deb debian-binary", "y.deb");
  EXPECT_THROW(files_in_package(other, any), data::DataError);
}

TEST_F(Unpack, ASingleCompressedFile) {
  EXPECT_EQ(unpacked(made_by("gzip -k in/a.txt", "in/a.txt.gz")), "one");
  EXPECT_EQ(unpacked(made_by("xz -k in/sub/b.txt", "in/sub/b.txt.xz")), "two");
  EXPECT_EQ(unpacked(made_by("bzip2 -kf in/a.txt", "in/a.txt.bz2")), "one");
}

TEST_F(Unpack, WhatUnpacksToFarMoreThanTextIsRefused) {
  const std::string zeros = "head -c 20000000 /dev/zero | ";
  EXPECT_THROW(unpacked(made_by(zeros + "xz -0 > z.xz", "z.xz")), data::DataError);
  EXPECT_THROW(unpacked(made_by(zeros + "bzip2 | bzip2 > z.bz2", "z.bz2")), data::DataError);
  const auto archive =
      made_by(zeros + "cat > in/z && tar -C in -cJf z.tar.xz . && rm in/z", "z.tar.xz");
  EXPECT_THROW(files_in(archive, any), data::DataError);
}

TEST_F(Unpack, WhatIsDamagedIsRefused) {
  const auto archive = made_by("tar -C in -cJf x.tar.xz .", "x.tar.xz");
  EXPECT_THROW(files_in(archive.substr(0, archive.size() / 2), any), data::DataError);
  EXPECT_THROW(files_in("no archive", any), data::DataError);
  auto packed = made_by("xz -k in/sub/b.txt", "in/sub/b.txt.xz");
  EXPECT_THROW(unpacked(packed.substr(0, packed.size() - 8)), data::DataError);
}

}  // namespace
}  // namespace ablate::corpora

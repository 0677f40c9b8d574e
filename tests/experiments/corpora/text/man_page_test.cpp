#include "experiments/corpora/text/man_page.h"

#include <gtest/gtest.h>

namespace ablate::corpora {
namespace {

using Blocks = std::vector<ManBlock>;

TEST(ManPage, IsDividedIntoHeadingsAndParagraphs) {
  EXPECT_EQ(
      man_blocks(".\\\" a comment\n.TH LS 1\n.SH \"SEE ALSO\"\nOne\ntwo.\n\nThree.\n.PP\nFour.\n"),
      (Blocks{{".SH", "SEE ALSO"}, {"", "One two."}, {"", "Three."}, {".PP", ""}, {"", "Four."}}));
}

TEST(ManPage, ChangesOfTheFontAreNoBoundaries) {
  EXPECT_EQ(man_blocks("See\n.BR ls (1)\nand\n.B \"a b\" c\n.IR file s .\n"),
            (Blocks{{"", "See ls(1) and a b c files."}}));
}

TEST(ManPage, EscapesBecomeWhatTheyShow) {
  EXPECT_EQ(man_blocks("\\fBa\\fP\\-b \\f(CWc\\fR\\&. \\(aqd\\(aq \\[ha]e \\(em f\\eg \\*h\\~i\n"),
            (Blocks{{"", "a-b c. 'd' ^e — f\\g \\*h i"}}));
}

TEST(ManPage, ExamplesAndTablesAreLeftOut) {
  EXPECT_EQ(man_blocks("A.\n.EX\nint x;\n.EE\n.nf\n  y\n.fi\n.TS\nl l\n.TE\nB.\n"),
            (Blocks{{"", "A."}, {".EX", ""}, {".EE", ""}, {".TS", ""}, {".TE", ""}, {"", "B."}}));
}

TEST(ManPage, PagesOfTheSameStructureAreParallel) {
  const std::string page = ".SH NAME\nls \\- list files\n.PP\nIt lists. It sorts.\n";
  const std::string translation =
      ".SH BEZEICHNUNG\nls \\- listet Dateien\n.PP\nEs listet. Es sortiert.\n"
      ".PP\n.SH ÜBERSETZUNG\nVon jemandem.\n";
  EXPECT_EQ(man_pairs("ls.1", page, translation, german()),
            (std::vector<Pair>{{"ls.1", "NAME", "BEZEICHNUNG"},
                               {"ls.1", "ls - list files", "ls - listet Dateien"},
                               {"ls.1", "It lists.", "Es listet."},
                               {"ls.1", "It sorts.", "Es sortiert."}}));
  EXPECT_TRUE(man_pairs("ls.1", page + ".TP\nMore.\n", translation, german()).empty());
}

}  // namespace
}  // namespace ablate::corpora

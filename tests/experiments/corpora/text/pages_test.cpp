#include "experiments/corpora/text/pages.h"

#include <gtest/gtest.h>

#include "data/corpus.h"
#include "experiments/corpora/text/markup_tree.h"

namespace ablate::corpora {
namespace {

std::string help(const std::string& body) {
  return "<!DOCTYPE html><html><head><title>Not this</title></head><body><p>Nor this</p>"
         "<div id=\"DisplayArea\">" +
         body + "</div></body></html>";
}

TEST(HelpPages, BlocksOfTheTopicAreParallel) {
  EXPECT_EQ(help_pairs("p",
                       help("<h1 id=\"h\">Printing</h1><p id=\"a\">Choose <b>File</b>.<br>Then "
                            "print.</p>"),
                       help("<h1 id=\"h\">Drucken</h1><p id=\"a\">Wählen Sie <b>Datei</b>.<br>Dann "
                            "drucken.</p>")),
            (std::vector<Pair>{{"p", "Printing", "Drucken"},
                               {"p", "Choose File.", "Wählen Sie Datei."},
                               {"p", "Then print.", "Dann drucken."}}));
}

TEST(HelpPages, WhatOtherSystemsShowIsLeftOut) {
  const auto page = help(
      "<p id=\"a\">Press <span id=\"MAC\" hidden=\"\">Command</span><span id=\"defaultWIN\" "
      "hidden=\"\">Ctrl</span>.</p><script>var x;</script>");
  const auto pairs = help_pairs("p", page, help("<p id=\"a\">Drücken Sie Strg.</p>"));
  EXPECT_EQ(pairs, (std::vector<Pair>{{"p", "Press Ctrl.", "Drücken Sie Strg."}}));
}

TEST(HelpPages, OtherBlocksAreFoundByTheirIds) {
  EXPECT_EQ(help_pairs("p", help("<p id=\"a\">First</p><p>Without id</p><p id=\"b\">Second</p>"),
                       help("<p id=\"b\">Zweitens</p><p id=\"c\">Neu</p>")),
            (std::vector<Pair>{{"p", "Second", "Zweitens"}}));
}

std::string mallard(const std::string& body) {
  return "<?xml version=\"1.0\"?><page xmlns=\"http://projectmallard.org/1.0/\">" + body +
         "</page>";
}

TEST(MallardPages, ParagraphsTitlesAndDescriptionsAreParallel) {
  EXPECT_EQ(mallard_pairs("p",
                          mallard("<info><desc>Change it.</desc></info><title>Sound</title>"
                                  "<p>Open <gui>Settings</gui> &amp; <em>wait</em>.</p>"),
                          mallard("<info><desc>Es ändern.</desc></info><title>Klang</title>"
                                  "<p><gui>Einstellungen</gui> öffnen &amp; warten.</p>")),
            (std::vector<Pair>{{"p", "Change it.", "Es ändern."},
                               {"p", "Sound", "Klang"},
                               {"p", "Open Settings & wait.", "Einstellungen öffnen & warten."}}));
}

TEST(MallardPages, OfOtherStructureHaveNoPairs) {
  EXPECT_TRUE(mallard_pairs("p", mallard("<p>One</p><p>Two</p>"), mallard("<p>Eins</p>")).empty());
  EXPECT_TRUE(mallard_pairs("p", mallard("<p>One</p>"), mallard("<title>Eins</title>")).empty());
}

TEST(Markup, OfNothingIsRefused) { EXPECT_THROW(read_xml(""), data::DataError); }

}  // namespace
}  // namespace ablate::corpora

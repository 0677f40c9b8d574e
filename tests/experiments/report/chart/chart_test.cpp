#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <regex>
#include <set>

#include "experiments/report/chart/heat_map.h"
#include "experiments/report/chart/line_chart.h"
#include "experiments/report/chart/png.h"
#include "experiments/report/chart/scale.h"
#include "experiments/report/chart/scatter.h"
#include "experiments/report/chart/strip.h"
#include "experiments/report/markup.h"
#include "experiments/report/page/parts.h"
#include "tests/says.h"

namespace ablate::report {
namespace {

using namespace std::string_literals;

TEST(Markup, TextStandsForItselfInTextAndAttributes) {
  EXPECT_EQ(text("<a & 'b' \"c\">").html(), "&lt;a &amp; &#39;b&#39; &quot;c&quot;&gt;");
  EXPECT_EQ(element("p", {{"title", "\"><b>"}}, text("x")).html(),
            "<p title=\"&quot;&gt;&lt;b&gt;\">x</p>");
}

TEST(Markup, WhatIsNoCharacterOfTextBecomesAVisibleSign) {
  EXPECT_EQ(shown("a\0b\x1b\x7f"s), "a\u2400b\u241b\u2421");
  EXPECT_EQ(shown("\xc0\xbc|\xed\xa0\x80|\xff|\xef\xbf\xbf"),
            "\ufffd\ufffd|\ufffd\ufffd\ufffd|\ufffd|\ufffd");
  EXPECT_EQ(shown("a\u202eb"), "a\ufffdb");  // would turn what follows around
  EXPECT_EQ(shown("\u05d0 \u00fc \U0001F600\n"), "\u05d0 \u00fc \U0001F600\n");
}

TEST(Markup, ShorteningCutsBetweenCharacters) {
  EXPECT_EQ(shown("\u00fc\u00fc\u00fc", 3), "\u00fc\u00fc\u00fc");
  EXPECT_EQ(shown("\u00fc\u00fc\u00fc\u00fc", 3), "\u00fc\u00fc\u2026");
}

TEST(Number, HasATrueMinusAndADashWhereThereIsNone) {
  EXPECT_EQ(score(0.98765, "exact_match"), "0.988");
  EXPECT_EQ(score(12.34, "bleu"), "12.3");
  EXPECT_EQ(score(NAN, "bleu"), "\u2013");
  EXPECT_EQ(difference(-0.25, {}, "exact_match"), "\u22120.250");
  EXPECT_EQ(difference(0.25, {}, "exact_match"), "+0.250");
  EXPECT_EQ(difference(0.0002, {}, "exact_match"), "0.000");
  EXPECT_EQ(difference(0.0002, statistics::Interval{0.0001, 0.0003}, "exact_match"), "+0.0002");
  EXPECT_EQ(interval(statistics::Interval{-0.5, 0.375}, "exact_match"), "[\u22120.500, 0.375]");
  EXPECT_EQ(plain(-0.0), "0");
  EXPECT_EQ(plain(-1234.56), "\u22121235");
  EXPECT_EQ(large(1'064'960), "1.06 M");
  EXPECT_EQ(large(11'342.6), "11.3 k");
  EXPECT_EQ(large(999.9), "1.00 k");
  EXPECT_EQ(large(12), "12");
  EXPECT_EQ(large(999e15), "999 P");
  EXPECT_EQ(large(1e300), "1e+300");
}

TEST(Thinned, KeepsFewPointsAsTheyAre) {
  const std::vector<Point> points{{1, 5}, {2, NAN}, {3, 4}};
  EXPECT_EQ(thinned(points, 4), (std::vector<Point>{{1, 5}, {3, 4}}));
}

TEST(Thinned, KeepsEndsOrderAndEveryExtreme) {
  std::mt19937 random(7);
  std::vector<Point> points;
  for (int i = 0; i < 10'000; ++i) points.push_back({double(i), double(random() % 1000)});
  points[1234].y = 5000;  // spikes of one point
  points[8765].y = -5000;
  const auto kept = thinned(points, 500);
  EXPECT_LE(kept.size(), 500U);
  EXPECT_GE(kept.size(), 400U);
  EXPECT_EQ(kept.front(), points.front());
  EXPECT_EQ(kept.back(), points.back());
  EXPECT_TRUE(std::ranges::is_sorted(kept, {}, &Point::x));
  EXPECT_NE(std::ranges::find(kept, points[1234]), kept.end());
  EXPECT_NE(std::ranges::find(kept, points[8765]), kept.end());
}

/// A chart of one line.
LineChart chart_of(const std::vector<Point>& points) {
  return {.title = "t",
          .x_label = "x",
          .y_label = "y",
          .lines = {{.name = "arm", .look = {}, .points = points}}};
}

std::vector<std::string> texts_with(const std::string& html, const std::string& kind) {
  const std::regex sought("<text class=\"" + kind + "\"[^>]*>([^<]*)<");
  std::vector<std::string> all;
  for (std::sregex_iterator at(html.begin(), html.end(), sought), end; at != end; ++at)
    all.push_back((*at)[1]);
  return all;
}

TEST(LineChart, HasALogarithmicAxisAndARingIfItIsAskedFor) {
  auto chart = chart_of({{0.001, 1}, {0.01, 2}, {0.1, 1}});
  const auto middle_of = [&] {
    const auto html = draw(chart).html();
    std::smatch path;
    EXPECT_TRUE(std::regex_search(
        html, path,
        std::regex("class=\"line\"[^>]*d=\"M([0-9.]+) [0-9.]+L([0-9.]+) [0-9.]+L([0-9.]+) ")));
    const double first = std::stod(path[1]), last = std::stod(path[3]);
    return (std::stod(path[2]) - first) / (last - first);
  };
  EXPECT_NEAR(middle_of(), 0.009 / 0.099, 0.01);
  chart.logarithmic_x = true;
  EXPECT_NEAR(middle_of(), 0.5, 0.01);
  EXPECT_FALSE(says(draw(chart).html(), "ring"));
  chart.lines[0].ringed = Point{0.01, 2};
  EXPECT_TRUE(says(draw(chart).html(), "<circle class=\"ring\""));
}

TEST(LineChart, TicksAreWhereTheyAreAskedForAndTheirNumbersDoNotTouch) {
  auto chart = chart_of({{32, 1}, {64, 2}, {128, 3}});
  chart.x_label = "block";
  chart.y_label = "loss";
  chart.logarithmic_x = true;
  const auto numbers = [&] { return texts_with(draw(chart).html(), "tick middle"); };
  EXPECT_EQ(numbers(), (std::vector<std::string>{"50", "100"}));
  chart.x_ticks = {32, 64, 128};
  EXPECT_EQ(numbers(), (std::vector<std::string>{"32", "64", "128"}));
  EXPECT_TRUE(says(draw(chart).html(), ">block, logarithmic<"));
  EXPECT_TRUE(says(draw(chart).html(), ">loss<"));
  chart.x_ticks = {32, 33, 64, 128};
  EXPECT_EQ(numbers(), (std::vector<std::string>{"32", "64", "128"})) << "33 would touch 32";
}

TEST(LineChart, LongNumbersOnTheYAxisHaveRoomBesideItsLabel) {
  const auto left = [](double low) {
    const auto html = draw(chart_of({{0, low}, {1, 0}})).html();
    std::smatch grid;
    EXPECT_TRUE(std::regex_search(html, grid, std::regex("class=\"grid\" d=\"M([0-9.]+) ")));
    return std::stod(grid[1]);
  };
  EXPECT_LT(left(-1), 60);
  EXPECT_GT(left(-0.0123), 70) << "of \u22120.0125 and the label before it";
}

/// A chart of two arms that cost nearly the same.
Scatter scatter_over(double cost, double more) {
  return {.title = "t",
          .x_label = "parameters",
          .y_label = "loss",
          .clouds = {{.name = "a", .points = {{cost, 1}}, .mean = {cost, 1}},
                     {.name = "b", .points = {{cost + more, 2}}, .mean = {cost + more, 2}}}};
}

TEST(Scatter, TicksOfNearlyEqualNumbersAreTrueAndDiffer) {
  const auto ticks = [](double cost, double more) {
    return texts_with(draw(scatter_over(cost, more)).html(), "tick middle");
  };
  EXPECT_EQ(ticks(1408, 2), (std::vector<std::string>{"1408", "1409", "1410"}));
  EXPECT_EQ(ticks(73'612'000'000, 20'000'000),
            (std::vector<std::string>{"73.615 G", "73.625 G"}));  // those between have no room
  EXPECT_EQ(ticks(0.5, 1.25), (std::vector<std::string>{"0.5", "1", "1.5"}));
}

TEST(Look, MarkerAndDashTellThirtyTwoArmsApartWithoutColour) {
  std::set<std::pair<size_t, std::string>> seen;
  for (size_t arm = 0; arm < 32; ++arm) {
    const Look look{arm};
    EXPECT_TRUE(seen.emplace(look.marker(), look.dashes()).second) << arm;
  }
}

TEST(Look, ArmsOfOneColourDifferInTheirMarkers) {
  std::set<std::pair<std::string, size_t>> seen;
  for (size_t arm = 0; arm < 16; ++arm)
    EXPECT_TRUE(seen.emplace(Look{arm}.colour_class(), Look{arm}.marker()).second) << arm;
}

TEST(Scale, TicksAreRoundAndInside) {
  EXPECT_EQ(Scale(0, 10).ticks(5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(Scale(-0.02, 1.02).ticks(5).size(), 6U);
  EXPECT_EQ(Scale(0.5, 200, true).ticks(5),
            (std::vector<double>{0.5, 1, 2, 5, 10, 20, 50, 100, 200}));
  EXPECT_EQ(Scale(0.5, 2000, true).ticks(5), (std::vector<double>{1, 10, 100, 1000}));
  EXPECT_EQ(Scale(1, 4, true).over(0, 100).place(2), 50);
}

/// Places and titles of the markers in a picture.
struct Marked {
  std::vector<Point> places;
  std::vector<std::string> titles;
};

Marked markers_of(const std::string& html) {
  static const std::regex kMarker(
      "translate\\(([-0-9.]+) ([-0-9.]+)\\)\" d=\"[^\"]*\"><title>([^<]*)</title>");
  Marked marked;
  for (std::sregex_iterator found(html.begin(), html.end(), kMarker), end; found != end; ++found) {
    marked.places.push_back({std::stod((*found)[1]), std::stod((*found)[2])});
    marked.titles.push_back((*found)[3]);
  }
  return marked;
}

TEST(Extent, NumbersThatDifferByRoundingAreOne) {
  for (const double number : {1.0, -2.5763862739175054, 1e300}) {
    Extent extent;
    extent.take(number);
    extent.take(std::nextafter(number, 1e308));
    const auto ticks = extent.padded(0.05).ticks(5);
    EXPECT_GE(ticks.size(), 3U) << number;
    EXPECT_LE(ticks.size(), 11U) << number;
  }
}

TEST(LineChart, PointsLieWhereTheirNumbersSay) {
  const std::vector<Point> points{{0, 0.2}, {10, 1.0}, {20, 0.4}, {40, 0.6}};
  auto chart = chart_of(points);
  chart.x_label = "step";
  auto marked = markers_of(draw(chart).html());
  std::ranges::reverse(marked.places);  // drawn from the last
  ASSERT_EQ(marked.places.size(), 4U);
  const auto& first = marked.places[0];
  const double per_x = (marked.places[3].x - first.x) / 40;
  const double per_y = (marked.places[1].y - first.y) / 0.8;
  EXPECT_GT(per_x, 0);
  EXPECT_LT(per_y, 0);  // more is higher on the paper
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_NEAR(marked.places[i].x, first.x + per_x * points[i].x, 0.2);
    EXPECT_NEAR(marked.places[i].y, first.y + per_y * (points[i].y - 0.2), 0.2);
  }
  EXPECT_EQ(marked.titles.back(), "arm: 0.2 at step 0");
}

TEST(LineChart, AWideRangeOfPositiveNumbersIsDrawnByItsLogarithm) {
  const auto chart = chart_of({{0, 100}, {1, 10}, {2, 1}});
  ASSERT_TRUE(chart.logarithmic());
  const auto places = markers_of(draw(chart).html()).places;
  EXPECT_NEAR(places[0].y - places[1].y, places[1].y - places[2].y, 0.2);
}

TEST(LineChart, LabelsAtTheEndsNeverTouch) {
  LineChart chart{.title = "t", .x_label = "x", .y_label = "y"};
  for (size_t i = 0; i < 12; ++i)
    chart.lines.push_back({.name = "arm " + std::to_string(i),
                           .look = {i},
                           .points = {{0, 1}, {1, 0.001 * double(i)}}});
  static const std::regex kLabel("class=\"name\" x=\"[0-9.]+\" y=\"([0-9.]+)\"");
  const auto html = draw(chart).html();
  std::vector<double> heights;
  for (std::sregex_iterator found(html.begin(), html.end(), kLabel), end; found != end; ++found)
    heights.push_back(std::stod((*found)[1]));
  ASSERT_EQ(heights.size(), 12U);
  std::ranges::sort(heights);
  for (size_t i = 1; i < heights.size(); ++i) EXPECT_GE(heights[i] - heights[i - 1], 13.8);
}

TEST(LineChart, TheTableHoldsTheSameNumbers) {
  const LineChart chart{.title = "t",
                        .x_label = "step",
                        .y_label = "y",
                        .lines = {{.name = "a", .look = {}, .points = {{1, 0.5}, {2, 0.25}}},
                                  {.name = "b", .look = {1}, .points = {{2, 0.75}}}}};
  EXPECT_EQ(
      table_of(chart).html(),
      "<table><thead><tr><th scope=\"col\">step</th><th scope=\"col\">a</th>"
      "<th scope=\"col\">b</th></tr></thead><tbody>"
      "<tr><th scope=\"row\">1</th><td class=\"number\">0.5</td><td class=\"number\"></td></tr>"
      "<tr><th scope=\"row\">2</th><td class=\"number\">0.25</td>"
      "<td class=\"number\">0.75</td></tr></tbody></table>");
}

TEST(Strip, DotsLieInProportionAndSayTheirValues) {
  const Strip strip{.look = {},
                    .values = {0, NAN, 0.5, 1},
                    .names = {"seed 1", "seed 2", "seed 3", "seed 4"},
                    .mean = 0.5,
                    .interval = {},
                    .metric = "exact_match"};
  Extent extent;
  take(extent, strip);
  const auto html = draw(strip, extent).html();
  static const std::regex kDot("cx=\"([0-9.]+)\"[^>]*><title>([^<]*)</title>");
  std::vector<double> places;
  std::vector<std::string> titles;
  for (std::sregex_iterator found(html.begin(), html.end(), kDot), end; found != end; ++found) {
    places.push_back(std::stod((*found)[1]));
    titles.push_back((*found)[2]);
  }
  ASSERT_EQ(titles, (std::vector<std::string>{"seed 1: 0.000", "seed 3: 0.500", "seed 4: 1.000"}));
  EXPECT_GT(places[1] - places[0], 10);
  EXPECT_NEAR(places[1] - places[0], places[2] - places[1], 0.15);
}

TEST(Png, HoldsItsPixelsAndRightChecksums) {
  const Image image{
      .width = 3, .height = 2, .palette = {{0, 0, 0}, {255, 0, 1}}, .pixels = {0, 1, 0, 1, 1, 0}};
  const auto bytes = png(image);
  ASSERT_EQ(bytes.substr(0, 8), "\x89PNG\r\n\x1a\n");
  std::vector<std::string> kinds;
  std::string packed;
  const auto number = [&](size_t at) {
    uint32_t n = 0;
    for (size_t i = 0; i < 4; ++i) n = n << 8 | static_cast<uint8_t>(bytes[at + i]);
    return n;
  };
  for (size_t at = 8; at < bytes.size();) {
    const auto length = number(at);
    const auto body = bytes.substr(at + 4, 4 + length);
    EXPECT_EQ(number(at + 8 + length), crc32(0, reinterpret_cast<const Bytef*>(body.data()),
                                             static_cast<uInt>(body.size())));
    kinds.push_back(body.substr(0, 4));
    if (kinds.back() == "IDAT") packed = body.substr(4);
    at += 12 + length;
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"IHDR", "PLTE", "IDAT", "IEND"}));
  std::string rows(8, '?');
  uLongf size = rows.size();
  ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(rows.data()), &size,
                       reinterpret_cast<const Bytef*>(packed.data()), packed.size()),
            Z_OK);
  EXPECT_EQ(rows, "\0\0\1\0\0\1\1\0"s);
}

}  // namespace
}  // namespace ablate::report

#include "options/record.h"

#include <gtest/gtest.h>

#include "options/enumeration.h"
#include "options/members.h"

namespace ablate::options {
namespace {

ABLATE_ENUM(Colour, red, dark_green, blue);
constexpr auto abouts(Colour) {
  return std::to_array<std::string_view>({"of blood", "of leaves", "of the sky"});
}

struct Round {
  static constexpr std::string_view name = "round";
  static constexpr std::string_view about = "one line without corners";
  double radius = 1;

  static void fields(auto& o, auto&& visit) {
    visit("radius", o.radius, "half the width", above(0, 10));
  }
};

struct Square {
  static constexpr std::string_view name = "square";
  static constexpr std::string_view about = "four equal sides";

  static void fields(auto&, auto&&) {}
};

struct Shape {
  std::string name = "shape";
  Colour colour = Colour::blue;
  std::variant<Square, Round> form = Round{.radius = 2};
  std::optional<int64_t> corners;
  std::vector<double> weights = {1, 2};
  std::array<int64_t, 2> place = {3, 4};

  static void fields(auto& o, auto&& visit) {
    visit("name", o.name, "what it is called");
    visit("colour", o.colour, "what it looks like");
    visit("form", o.form, "its outline");
    visit("corners", o.corners, "how many it has", from(3, 100));
    visit("weights", o.weights, "of its parts", at_least(0));
    visit("place", o.place, "where it is");
  }
  static void rules(const Shape& o, auto&& require) {
    require(!o.corners || std::holds_alternative<Square>(o.form), "corners",
            "must be absent unless it is square");
  }
};

const Field& field(std::string_view key) { return *record_of<Shape>().find(key); }

TEST(Enumeration, HasItsEnumeratorsAsWords) {
  const auto all = names(Colour{});
  ASSERT_EQ(all.size(), 3);
  EXPECT_EQ(all[0], std::pair(Colour::red, std::string_view("red")));
  EXPECT_EQ(all[1], std::pair(Colour::dark_green, std::string_view("dark_green")));
  EXPECT_EQ(all[2], std::pair(Colour::blue, std::string_view("blue")));
}

TEST(Record, ListsItsMembersWithTheirTypes) {
  using Kind = Type::Kind;
  std::vector<std::pair<std::string_view, Kind>> found;
  for (const auto& one : record_of<Shape>().fields) found.emplace_back(one.name, one.type->kind);
  const std::vector<std::pair<std::string_view, Kind>> wanted{
      {"name", Kind::text},        {"colour", Kind::choice}, {"form", Kind::variant},
      {"corners", Kind::optional}, {"weights", Kind::list},  {"place", Kind::list}};
  EXPECT_EQ(found, wanted);
  EXPECT_EQ(field("place").type->length, 2);
  EXPECT_EQ(field("form").type->words, (std::vector<std::string_view>{"square", "round"}));
  EXPECT_EQ(record_of<Shape>().name, "") << "a member is not the name of an alternative";
  EXPECT_EQ(record_of<Round>().name, "round");
}

TEST(Record, KindsAndWordsHaveTheirSentences) {
  EXPECT_EQ(field("form").type->abouts,
            (std::vector<std::string_view>{"four equal sides", "one line without corners"}));
  EXPECT_EQ(field("colour").type->abouts,
            (std::vector<std::string_view>{"of blood", "of leaves", "of the sky"}));
  EXPECT_EQ(record_of<Round>().about, "one line without corners");
  EXPECT_TRUE(field("weights").type->abouts.empty());
  static_assert(!detail::distinct(Round::about, Square::about, Round::about));
}

TEST(Record, ReadsAndSetsMembers) {
  Shape shape;
  const auto slot = slot_of(shape);
  const auto& colour = field("colour");
  EXPECT_EQ(colour.type->index(slot.at(colour)), 2);
  colour.type->select(slot.at(colour), 1);
  EXPECT_EQ(shape.colour, Colour::dark_green);
  const auto& corners = field("corners");
  corners.type->resize(slot.at(corners), 1);
  *static_cast<int64_t*>(corners.type->at(slot.at(corners), 0)) = 7;
  EXPECT_EQ(shape.corners, 7);
  const auto& form = field("form");
  EXPECT_EQ(held(*form.type, slot.at(form)).record, &record_of<Round>());
  form.type->select(slot.at(form), 0);
  EXPECT_TRUE(std::holds_alternative<Square>(shape.form));
}

TEST(Record, IsEqualIfAllMembersAre) {
  const auto same = [](const Shape& left, const Shape& right) {
    return equal(record_of<Shape>(), &left, &right);
  };
  EXPECT_TRUE(same({}, {}));
  EXPECT_FALSE(same({.colour = Colour::red}, {}));
  EXPECT_FALSE(same({.form = Square{}}, {}));
  EXPECT_FALSE(same({.form = Round{.radius = 3}}, {}));
  EXPECT_FALSE(same({.corners = 4}, {}));
  EXPECT_FALSE(same({.weights = {1}}, {}));
  EXPECT_FALSE(same({.place = {3, 5}}, {}));
}

std::vector<std::string> complaints(const Shape& shape) {
  std::vector<std::string> found;
  check(slot_of(shape), [&](bool holds, std::string_view key, std::string_view why) {
    if (!holds) found.push_back(std::string(key) + " " + std::string(why));
  });
  return found;
}

TEST(Record, ChecksBoundsBeforeRules) {
  EXPECT_TRUE(complaints({}).empty());
  EXPECT_TRUE(complaints({.form = Square{}, .corners = 4}).empty());
  EXPECT_EQ(complaints({.corners = 2, .weights = {1, -1}}),
            (std::vector<std::string>{"corners must be from 3 to 100", "weights must be at least 0",
                                      "corners must be absent unless it is square"}));
}

TEST(Bounds, AreWordedAndHold) {
  EXPECT_EQ(text_of(from(1, 65'536)), "from 1 to 65536");
  EXPECT_EQ(text_of(from(0.5, 1)), "from 0.5 to 1");
  EXPECT_EQ(text_of(from_below(0, 1)), "at least 0 and below 1");
  EXPECT_EQ(text_of(between(0, 1)), "above 0 and below 1");
  EXPECT_EQ(text_of(above(0)), "above 0");
  EXPECT_EQ(text_of(above(0, 1e6)), "above 0 and at most 1000000");
  EXPECT_EQ(text_of(at_least(2)), "at least 2");
  EXPECT_TRUE(from(0, 1).hold(1) && from(0, 1).hold(0));
  EXPECT_FALSE(from_below(0, 1).hold(1) || above(0).hold(0) || at_least(0).hold(-1));
  EXPECT_FALSE(at_least(0).hold(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(Bounds().given());
}

struct Many {
  int64_t a = 1, b = 2, c = 3;
  ABLATE_FIELDS(a, b, c)
};

TEST(Members, AreVisitedByName) {
  std::vector<std::pair<std::string, int64_t>> found;
  Many many;
  Many::fields(many, [&](const char* name, int64_t value) { found.emplace_back(name, value); });
  EXPECT_EQ(found, (std::vector<std::pair<std::string, int64_t>>{{"a", 1}, {"b", 2}, {"c", 3}}));
}

}  // namespace
}  // namespace ablate::options

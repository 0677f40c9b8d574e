#include "tokenizer/huggingface/node.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "tokenizer/text/unicode.h"

namespace ablate::tokenizer::huggingface {
namespace {

using nlohmann::json;

constexpr size_t kLargestFile = size_t{128} << 20U;
constexpr int kDeepest = 64;

[[noreturn]] void refuse_file(const std::string& reason) {
  throw TokenizerError("not a usable tokenizer.json: " + reason);
}

/// Keeps the whole document, but refuses what a parsed value would hide.
class Watch {
 public:
  bool operator()(int depth, json::parse_event_t event, json& parsed) {
    if (depth > kDeepest) refuse_file("it is nested deeper than 64");
    if (event == json::parse_event_t::object_start) {
      keys_.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      keys_.pop_back();
    } else if (event == json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second)
        refuse_file("the key '" + key + "' stands twice in one object");
    }
    return true;
  }

 private:
  std::vector<std::unordered_set<std::string>> keys_;
};

}  // namespace

void Node::refuse(const std::string& reason) const {
  refuse_file((place_.empty() ? "it" : place_) + " " + reason);
}

std::optional<Node> Node::find(const char* key) const {
  if (!value_->is_object()) refuse("must be an object");
  const auto found = value_->find(key);
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return Node(*found, place_.empty() ? key : place_ + "." + key);
}

Node Node::at(const char* key) const {
  auto found = find(key);
  if (!found) refuse("lacks '" + std::string(key) + "'");
  return *std::move(found);
}

void Node::allow(std::initializer_list<std::string_view> keys) const {
  for (const auto& [key, value] : members())
    if (key != "type" && std::ranges::find(keys, key) == keys.end())
      refuse("has the key '" + key + "', which is not supported");
}

std::string Node::type() const {
  const auto found = find("type");
  return found ? found->text() : "";
}

bool Node::is_list() const { return value_->is_array(); }

std::string Node::text() const {
  if (!value_->is_string()) refuse("must be a string");
  return value_->get<std::string>();
}

bool Node::flag() const {
  if (!value_->is_boolean()) refuse("must be true or false");
  return value_->get<bool>();
}

bool Node::flag(const char* key, bool otherwise) const {
  const auto found = find(key);
  return found ? found->flag() : otherwise;
}

double Node::number() const {
  if (!value_->is_number() || !std::isfinite(value_->get<double>())) refuse("must be a number");
  return value_->get<double>();
}

int64_t Node::count(int64_t most) const {
  if (!value_->is_number_unsigned() || value_->get<uint64_t>() > static_cast<uint64_t>(most))
    refuse("must be a whole number from 0 to " + std::to_string(most));
  return value_->get<int64_t>();
}

char32_t Node::character() const {
  const auto points = code_points(text());
  if (points.size() != 1) refuse("must be one character");
  return points.front();
}

std::vector<Node> Node::list() const {
  if (!value_->is_array()) refuse("must be a list");
  std::vector<Node> nodes;
  for (size_t i = 0; i < value_->size(); ++i)
    nodes.emplace_back((*value_)[i], place_ + "[" + std::to_string(i) + "]");
  return nodes;
}

std::vector<std::pair<std::string, Node>> Node::members() const {
  if (!value_->is_object()) refuse("must be an object");
  std::vector<std::pair<std::string, Node>> nodes;
  for (const auto& [key, value] : value_->items())
    nodes.emplace_back(key, Node(value, place_.empty() ? key : place_ + "." + key));
  return nodes;
}

json read_document(std::string_view text) {
  if (text.size() > kLargestFile) refuse_file("it is larger than 128 MiB");
  Watch watch;
  try {
    auto document = json::parse(text, std::ref(watch));
    if (!document.is_object()) refuse_file("it must be an object");
    return document;
  } catch (const json::parse_error& error) {
    refuse_file("it is cut off or no JSON, at byte " + std::to_string(error.byte));
  } catch (const json::exception&) {
    refuse_file("it has a number that is too large");
  }
}

}  // namespace ablate::tokenizer::huggingface

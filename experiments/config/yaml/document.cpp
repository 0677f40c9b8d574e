#include "experiments/config/yaml/document.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "experiments/config/yaml/problem.h"
#include "tokenizer/text/unicode.h"

namespace ablate::config {
namespace {

constexpr size_t kMostLevels = 64;
constexpr size_t kMostNodes = 20'000;

size_t levels(const Value& value) {
  size_t deepest = 0;
  for (const auto& item : value.items) deepest = std::max(deepest, levels(item));
  for (const auto& entry : value.entries) deepest = std::max(deepest, levels(entry.value));
  return deepest + 1;
}

size_t nodes(const Value& value) {
  size_t count = 1;
  for (const auto& item : value.items) count += nodes(item);
  for (const auto& entry : value.entries) count += 1 + nodes(entry.value);
  return count;
}

/// Builds a Value from yaml-cpp's events and checks the limits on size and depth while it grows.
class Builder : public YAML::EventHandler {
 public:
  Builder(std::shared_ptr<const Source> source, ProblemList& problems)
      : source_(std::move(source)), problems_(problems) {
    root.mark = {source_, 0, 0};
  }

  Value root;

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (started_) fail(at(mark), "a second document begins; a file holds one");
    started_ = true;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    finish({.mark = at(mark)}, anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    reject_tag(mark, tag);
    finish({.type = Value::Type::scalar, .scalar = text, .quoted = tag == "!", .mark = at(mark)},
           anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto& target = anchors_[anchor];
    if (!target) fail(at(mark), "the alias refers to the value that contains it");
    Value copy = *target;
    count(nodes(copy), at(mark));
    check_depth(open_.size() + levels(copy), at(mark));
    attach(std::move(copy), at(mark));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Value::Type::list, mark, {tag, anchor});
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Value::Type::mapping, mark, {tag, anchor});
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Label {
    const std::string& tag;
    YAML::anchor_t anchor;
  };
  struct Open {
    Value value;
    YAML::anchor_t anchor;
    std::optional<Entry> key;  // waits for its value
  };

  Mark at(const YAML::Mark& mark) const { return {source_, mark.line, mark.column}; }

  [[noreturn]] void fail(const Mark& mark, std::string message) const {
    throw ConfigError({problem_at(mark, std::move(message))});
  }

  void reject_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!")
      fail(at(mark), fmt::format("tag '{}' is not supported; write the plain value", tag));
  }

  void count(size_t more, const Mark& mark) {
    count_ += more;
    if (count_ > kMostNodes)
      fail(mark, fmt::format("more than {} values, aliases included", kMostNodes));
  }

  void check_depth(size_t depth, const Mark& mark) const {
    if (depth > kMostLevels) fail(mark, fmt::format("nested deeper than {} levels", kMostLevels));
  }

  void open(Value::Type type, const YAML::Mark& mark, const Label& label) {
    reject_tag(mark, label.tag);
    check_depth(open_.size() + 1, at(mark));
    open_.push_back({{.type = type, .mark = at(mark)}, label.anchor, {}});
    anchors_[label.anchor].reset();
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    finish(std::move(done.value), done.anchor);
  }

  void finish(Value value, YAML::anchor_t anchor) {
    count(1, value.mark);
    if (anchor != YAML::NullAnchor) anchors_[anchor] = value;
    const Mark mark = value.mark;
    attach(std::move(value), mark);
  }

  void attach(Value value, const Mark& mark) {
    if (open_.empty()) {
      root = std::move(value);
    } else if (open_.back().value.type == Value::Type::list) {
      open_.back().value.items.push_back(std::move(value));
    } else if (auto& key = open_.back().key; !key) {
      key = key_of(value, mark);
    } else {
      key->value = std::move(value);
      // yaml-cpp gives a missing value the position of the next token.
      if (key->value.type == Value::Type::empty) key->value.mark = key->mark;
      add_entry(open_.back().value, std::move(*key));
      key.reset();
    }
  }

  Entry key_of(const Value& value, const Mark& mark) const {
    if (value.type != Value::Type::scalar) fail(mark, "a key must be a word");
    if (value.scalar == "<<" && !value.quoted)
      fail(mark, "merge keys '<<' are not supported; write the keys out");
    return {value.scalar, mark, {}};
  }

  void add_entry(Value& mapping, Entry entry) {
    if (const Entry* first = mapping.find(entry.key))
      problems_.add(entry.mark, fmt::format("duplicate key '{}'; first given in line {}", entry.key,
                                            first->mark.line + 1));
    else
      mapping.entries.push_back(std::move(entry));
  }

  std::shared_ptr<const Source> source_;
  ProblemList& problems_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, std::optional<Value>> anchors_;
  size_t count_ = 0;
  bool started_ = false;
};

/// The parser's message; for an unknown anchor only the part that all versions of yaml-cpp share.
std::string reason_of(const YAML::Exception& error) {
  constexpr std::string_view kUnknownAnchor = "the referenced anchor is not defined";
  return error.msg.starts_with(kUnknownAnchor) ? std::string(kUnknownAnchor) : error.msg;
}

}  // namespace

Value parse_document(const std::shared_ptr<const Source>& source, ProblemList& problems) {
  std::istringstream stream(source->text);
  Builder builder(source, problems);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    throw ConfigError(
        {problem_at({source, std::max(error.mark.line, 0), std::max(error.mark.column, 0)},
                    "not valid YAML: " + reason_of(error))});
  }
  return std::move(builder.root);
}

Value parse_mapping(const std::shared_ptr<const Source>& source, ProblemList& problems) {
  Value document = parse_document(source, problems);
  if (document.type == Value::Type::mapping) return document;
  if (document.type == Value::Type::empty)
    throw ConfigError({{.file = source->name, .message = "is empty"}});
  throw ConfigError({problem_at(
      document.mark, fmt::format("a configuration is a mapping of keys to values, not {}",
                                 type_name(document.type)))});
}

namespace {

constexpr size_t kMostBytes = 1 << 20;

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& message) {
  throw ConfigError({{.file = file.string(), .message = message}});
}

std::optional<Problem> bad_character(const Mark& mark, std::string_view line) {
  bool indentation = true;
  for (size_t i = 0, end = 0; i < line.size(); i = end) {
    const auto at = [&](std::string message) {
      return problem_at({mark.source, mark.line, static_cast<int>(i)}, std::move(message));
    };
    const auto byte = static_cast<unsigned char>(line[i]);
    if (byte == '\t' && indentation) return at("tab in the indentation; use spaces");
    if ((byte < 0x20 && byte != '\t') || byte == 0x7F)
      return at(fmt::format("control character 0x{:02X}", byte));
    indentation = indentation && byte == ' ';
    tokenizer::next_code_point(line, end);
    if (!tokenizer::valid_utf8(line.substr(i, end - i)))
      return at(fmt::format("byte 0x{:02X} is not UTF-8; save the file as UTF-8", byte));
  }
  return {};
}

}  // namespace

std::shared_ptr<const Source> read_source(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) fail(file, "is a folder, not a file");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail(file, fmt::format("cannot be read: {}", std::strerror(errno)));
  std::string text;
  for (std::array<char, 16'384> part; stream && text.size() <= kMostBytes;) {
    stream.read(part.data(), part.size());
    text.append(part.data(), static_cast<size_t>(stream.gcount()));
  }
  if (stream.bad()) fail(file, fmt::format("cannot be read: {}", std::strerror(errno)));
  if (text.size() > kMostBytes) fail(file, "is larger than 1 MiB, the limit of a configuration");
  auto source = std::make_shared<const Source>(file.string(), std::move(text));
  check_text(source);
  return source;
}

void check_text(const std::shared_ptr<const Source>& source) {
  if (source->text.starts_with("\xEF\xBB\xBF"))
    throw ConfigError({{.file = source->name,
                        .message = "begins with a byte order mark; save it as UTF-8 without BOM"}});
  for (size_t line = 0; line < source->lines.size(); ++line)
    if (const auto bad = bad_character({source, static_cast<int>(line), 0}, source->lines[line]))
      throw ConfigError({*bad});
}

}  // namespace ablate::config

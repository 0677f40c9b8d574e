#include "experiments/config/study/extends.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "experiments/config/schema/option.h"
#include "experiments/config/yaml/document.h"

namespace ablate::config {
namespace {

using std::filesystem::path;

/// The same for every spelling of a path; the path itself if nothing stands there, as in memory.
path identity_of(const path& file) {
  std::error_code nowhere;
  auto found = std::filesystem::weakly_canonical(file, nowhere);
  return nowhere ? file : found;
}

/// The file that the document extends; null if it extends none or a problem is reported. `files`
/// are those that were read.
std::shared_ptr<const Source> extended(const Value& document, std::vector<path>& files,
                                       ProblemList& problems) {
  const auto* entry = document.find("extends");
  if (entry == nullptr || entry->value.type != Value::Type::scalar) return nullptr;
  const auto& value = entry->value;
  const auto file =
      (path(entry->mark.source->name).parent_path() / value.scalar).lexically_normal();
  const auto refuse = [&](const std::string& why) {
    problems.add(value.mark, "extends: " + why);
    return nullptr;
  };
  std::error_code unreadable;
  if (!std::filesystem::exists(file, unreadable))
    return refuse(
        fmt::format("there is no {}; the path starts at the folder of the file that "
                    "names it",
                    file.string()));
  files.push_back(identity_of(file));
  if (std::ranges::count(files, files.back()) == 1) return read_source(file);
  std::vector<std::string> circle;
  for (const auto& one : files) circle.push_back(one.filename().string());
  return refuse(
      fmt::format("the files extend each other in a circle: {}", fmt::join(circle, ", ")));
}

/// Whether YAML takes the word for a missing value, which cannot be a key.
bool is_null(const std::string& text) { return text == "null" || text == "Null" || text == "NULL"; }

/// The word as it was written, or in quotes if it could be read as anything else.
std::string word(const std::string& text, bool quoted) {
  const auto plain = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_' || letter == '.' ||
           letter == '/' || letter == '+' || letter == '-';
  };
  const bool named = std::ranges::any_of(
      text, [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)); });
  const bool bare = !quoted && named && !is_null(text);
  return bare && std::ranges::all_of(text, plain) ? text : quoted_yaml(text);
}

std::string flow(const Value& value) {
  std::vector<std::string> parts;
  for (const auto& item : value.items) parts.push_back(flow(item));
  for (const auto& [key, mark, item] : value.entries)
    parts.push_back(fmt::format("{}: {}", word(key, false), flow(item)));
  switch (value.type) {
    case Value::Type::empty:
      return "null";
    case Value::Type::scalar:
      return word(value.scalar, value.quoted);
    case Value::Type::list:
      return fmt::format("[{}]", fmt::join(parts, ", "));
    case Value::Type::mapping:
      return fmt::format("{{{}}}", fmt::join(parts, ", "));
  }
  return {};
}

void write(const Value& section, size_t depth, std::string& text) {
  constexpr size_t kPlaces = 48;
  for (const auto& [key, mark, value] : section.entries) {
    const auto line = std::string(2 * depth, ' ') + word(key, false) + ":";
    if (value.entries.empty())
      text += fmt::format("{:<{}}  # {}:{}\n", line + " " + flow(value), kPlaces,
                          path(mark.source->name).filename().string(), mark.line + 1);
    else
      text += line + "\n";
    write(value, depth + 1, text);
  }
}

}  // namespace

std::vector<Value> documents_of(const std::shared_ptr<const Source>& study, ProblemList& problems) {
  std::vector<Value> documents;
  std::vector<path> files{identity_of(study->name)};
  for (auto source = study; source != nullptr; source = extended(documents.back(), files, problems))
    documents.push_back(parse_mapping(source, problems));
  std::ranges::reverse(documents);
  return documents;
}

std::string text_with_places(const Value& mapping) {
  std::string text;
  write(mapping, 0, text);
  return text;
}

}  // namespace ablate::config

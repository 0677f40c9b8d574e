#include "experiments/study/printer.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/study/reader.h"
#include "experiments/study/schema.h"

namespace ablate::experiments {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\')
      (result += '\\') += letter;
    else if (code < 0x20)
      result += fmt::format("\\x{:02x}", code);
    else
      result += letter;
  }
  return result + "\"";
}

std::string printed(bool slot) { return slot ? "true" : "false"; }
std::string printed(int64_t slot) { return std::to_string(slot); }
std::string printed(double slot) { return fmt::format("{}", slot); }  // shortest exact form
std::string printed(const std::string& slot) { return quoted(slot); }
template <class Enum>
requires std::is_enum_v<Enum> std::string printed(Enum slot) {
  for (const auto& [choice, name] : names(slot))
    if (choice == slot) return std::string(name);
  throw std::logic_error("an enumerator without a name");
}
template <class List>
requires requires(const List& list) {
  list.begin();
} &&(!std::is_same_v<List, std::string>)std::string printed(const List& list) {
  std::string text;
  for (const auto& item : list) text += (text.empty() ? "" : ", ") + printed(item);
  return "[" + text + "]";
}

/// The values of an experiment in order: what a file must say to get them.
class Lines {
 public:
  struct Line {
    std::string path;
    std::string value;  // empty: the path is a mapping
  };

  template <class Options>
  void add(const Options& options, const std::string& path) {
    Options::fields(options, [&](std::string_view name, const auto& slot, std::string_view) {
      add_slot(slot, path.empty() ? std::string(name) : path + "." + std::string(name));
    });
  }
  std::vector<Line> lines;

 private:
  template <class... Options>
  void add_slot(const std::variant<Options...>& slot, const std::string& path) {
    const auto key = discriminator_of<std::variant_alternative_t<0, std::variant<Options...>>>();
    lines.push_back({path, ""});
    std::visit(
        [&](const auto& chosen) {
          lines.push_back({path + "." + std::string(key), std::string(chosen.name)});
          add(chosen, path);
        },
        slot);
  }
  template <detail::OptionStruct Options>
  void add_slot(const Options& slot, const std::string& path) {
    lines.push_back({path, ""});
    add(slot, path);
  }
  template <class T>
  void add_slot(const std::optional<T>& slot, const std::string& path) {
    if (slot) add_slot(*slot, path);
  }
  template <class T>
  void add_slot(const T& slot, const std::string& path) {
    lines.push_back({path, printed(slot)});
  }
};

std::vector<Lines::Line> lines_of(const Experiment& experiment) {
  Lines lines;
  lines.add(experiment, "");
  return std::move(lines.lines);
}

}  // namespace

std::string to_yaml(const Experiment& experiment,
                    const std::map<std::string, std::string>& origins) {
  std::string text;
  for (const auto& line : lines_of(experiment)) {
    const auto depth = static_cast<size_t>(std::ranges::count(line.path, '.'));
    const auto word = line.path.substr(line.path.rfind('.') + 1);
    text += std::string(2 * depth, ' ') + word + ":";
    if (!line.value.empty()) text += " " + line.value;
    const auto origin = origins.find(line.path);
    if (origin != origins.end()) text += "  # " + origin->second;
    text += "\n";
  }
  return text;
}

Experiment read_experiment(const std::filesystem::path& file) {
  Problems problems;
  auto result = read_experiment(read_document(file), problems);
  problems.check();
  return result.experiment;
}

std::vector<Difference> differences(const Experiment& left, const Experiment& right) {
  std::map<std::string, Difference> all;
  std::vector<std::string> order;
  const auto note = [&](const Experiment& side, std::string Difference::*member) {
    for (const auto& line : lines_of(side)) {
      if (line.value.empty()) continue;
      if (all.try_emplace(line.path, Difference{line.path, "", ""}).second)
        order.push_back(line.path);
      all[line.path].*member = line.value;
    }
  };
  note(left, &Difference::left);
  note(right, &Difference::right);
  std::vector<Difference> result;
  for (const auto& path : order)
    if (all[path].left != all[path].right) result.push_back(all[path]);
  return result;
}

std::string canonical(const Experiment& experiment) {
  std::string text;
  for (const auto& line : lines_of(experiment))
    if (!line.value.empty()) text += line.path + "=" + line.value + "\n";
  return text;
}

}  // namespace ablate::experiments

#include "experiments/config/study/test_set_names.h"

#include <string_view>
#include <type_traits>
#include <variant>

namespace ablate::config {

std::vector<std::string> names_of_test_sets(const data::DataOptions& data) {
  std::vector<std::string> names;
  std::visit(
      [&](const auto& task) {
        using Task = std::remove_cvref_t<decltype(task)>;
        if constexpr (std::is_base_of_v<data::SymbolTask, Task>)
          for (const auto length : task.test_length) names.push_back(Task::test_name(length));
        if constexpr (std::is_base_of_v<data::DigitTask, Task>)
          for (const auto digits : task.test_digits) names.push_back(Task::test_name(digits));
      },
      data);
  return names;
}

std::vector<std::string> names_of_all_test_sets(const data::DataOptions& data) {
  auto names = names_of_test_sets(data);
  if (!names.empty()) return names;
  if (const auto* text = std::get_if<data::Text>(&data))
    return text->test.empty() ? names : std::vector{data::Text::test_name(text->test.front())};
  if (const auto* text = std::get_if<data::Labelled>(&data))
    return {data::Text::test_name(text->test)};
  return std::visit(
      []<class Task>(const Task&) -> std::vector<std::string> {
        if constexpr (requires { std::string_view(Task::test_name); }) return {Task::test_name};
        return {};
      },
      data);
}

}  // namespace ablate::config

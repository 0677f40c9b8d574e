#include "experiments/commands/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <memory>

#include "experiments/commands/commands.h"
#include "experiments/commands/flags.h"
#include "experiments/commands/number_flags.h"
#include "experiments/config/schema/foreign_word.h"
#include "experiments/config/schema/schema.h"
#include "experiments/config/yaml/suggestion.h"
#include "experiments/errors.h"

namespace ablate::commands {
namespace {

/// "ablate config show", without the program for the program itself.
std::string path_of(const CLI::App& app) {
  if (app.get_parent() == nullptr) return {};
  const auto above = path_of(*app.get_parent());
  return above.empty() ? app.get_name() : above + " " + app.get_name();
}

/// Verbs of other toolkits, each with our verb for the same task, if the two are not spelled alike.
constexpr std::pair<std::string_view, const char*> kForeignVerbs[] = {{"plot", "report"},
                                                                      {"table", "report"},
                                                                      {"validate", "config check"},
                                                                      {"check", "config check"},
                                                                      {"compare", "report"},
                                                                      {"diff", "config diff"},
                                                                      {"explain", "config explain"},
                                                                      {"fit", "run"},
                                                                      {"finetune", "run"},
                                                                      {"summary", "inspect"},
                                                                      {"hparams", "config show"},
                                                                      {"preprocess", "data make"},
                                                                      {"sweep", "run"},
                                                                      {"resume", "run"},
                                                                      {"continue", "run"},
                                                                      {"logs", "status"},
                                                                      {"stop", "cancel"},
                                                                      {"evaluate", "eval"},
                                                                      {"test", "eval"},
                                                                      {"predict", "translate"},
                                                                      {"sample", "generate"},
                                                                      {"download", "data fetch"},
                                                                      {"convert", "export"},
                                                                      {"profile", "bench"}};

std::string hint_for_verb(const CLI::App& app, const std::string& verb) {
  if (verb.ends_with(".yaml") || verb.ends_with(".yml") || verb.find('/') != verb.npos)
    return fmt::format("; write ablate run {}", verb);
  for (const auto& [foreign, own] : kForeignVerbs)
    if (app.get_parent() == nullptr && verb == foreign)
      return fmt::format("; did you mean '{}'?", own);
  return config::did_you_mean(verb, verb_names(app));
}

/// key=value or +key=value, as Hydra takes it; folders of runs may have a = further on.
bool is_assignment(const std::string& word) {
  const auto equals = word.find('=');
  return equals != word.npos && word.find('/') > equals;
}

/// A path of keys that is given no value.
bool is_key(const std::string& word) {
  return word.find('=') == word.npos &&
         config::node_at(config::experiment_schema(), word) != nullptr;
}

/// --flag or -f, but not -1.
bool is_flag(const std::string& word) {
  const bool is_long = word.starts_with("--") && word.size() > 2;
  return is_long || (word.size() > 1 && word[0] == '-' && std::isalpha(word[1]) != 0);
}

/// The key of a study that a flag of a verb with --set is called after, as a path, in our words or
/// another toolkit's; empty if there is no such key, or if several sections have it.
std::string key_meant(const std::string& flag) {
  auto name = flag.substr(flag.find_first_not_of('-'));
  if (name.find('.') != name.npos)
    return config::node_at(config::experiment_schema(), name) != nullptr ? name : "";
  std::ranges::replace(name, '-', '_');
  if (const auto own = config::paths_of(config::experiment_schema(), name); !own.empty())
    return own.size() == 1 && std::ranges::count(own.front(), '.') == 1 ? own.front() : "";
  const auto* foreign = config::find_foreign_word(name);
  const bool is_key = foreign != nullptr && foreign->value.empty() &&
                      config::node_at(config::experiment_schema(), foreign->path) != nullptr;
  return is_key ? std::string(foreign->path) : "";
}

/// Flags of other toolkits' trainers, each with advice on `run`.
constexpr std::pair<std::string_view, std::string_view> kForeignFlags[] = {
    {"--resume", "the same command without it continues where the study stopped"},
    {"--continue", "the same command without it continues where the study stopped"},
    {"--overwrite", "a study that is to start again needs another --output"},
    {"--force", "a study that is to start again needs another --output"},
    {"--multirun", "every arm, task, size and seed of the study is run without it"},
    {"-m", "every arm, task, size and seed of the study is run without it"},
};

/// The advice on a flag of another toolkit that is no key of a study, from the table above or from
/// its word, or an empty text.
std::string remark_on_flag(const std::string& flag) {
  for (const auto& [foreign, remark] : kForeignFlags)
    if (flag == foreign) return std::string(remark);
  const auto* word = config::find_foreign_word(flag.substr(flag.find_first_not_of('-')));
  return word != nullptr && word->path.empty() ? std::string(word->remark) : "";
}

std::string unknown_flag(const CLI::App& app, const std::string& flag) {
  const auto meant = config::nearest(flag, flags_of(app));
  const auto verb = path_of(app);
  const auto key = option_named(app, "--set") != nullptr ? key_meant(flag) : "";
  const auto remark = verb == "run" ? remark_on_flag(flag) : "";
  const bool is_file = option_named(app, "study") != nullptr &&
                       (flag == "--config" || flag == "--config-name" || flag == "--study");
  const auto hint =
      is_file           ? "; the study's file stands without a flag"
      : !remark.empty() ? "; " + remark
      : !key.empty()    ? fmt::format("; keys of the study are given as --set {}=VALUE", key)
      : !meant.empty()  ? fmt::format("; did you mean '{}'?", meant)
                        : fmt::format("; see ablate {}{}--help", verb, verb.empty() ? "" : " ");
  return fmt::format("unknown flag '{}'{}{}", flag, verb.empty() ? "" : " of " + verb, hint);
}

/// Whether an item of a list is empty ("1,,2" or "1,"). CLI11 skips such items.
bool has_empty_item(const std::string& list, char delimiter) {
  const std::string twice(2, delimiter);
  return delimiter != '\0' && (list.starts_with(delimiter) || list.ends_with(delimiter) ||
                               list.find(twice) != std::string::npos);
}

/// The help of `app` and of every verb below it, each under a heading.
std::string reference_of(const CLI::App& app, const std::vector<std::string>& verbs) {
  auto help = help_of(verbs);
  help.erase(help.find_last_not_of('\n') + 1);  // versions of CLI11 end it differently
  auto text = fmt::format("\n## {}\n\n```\n{}\n```\n",
                          verbs.empty() ? "ablate" : "ablate " + path_of(app), help);
  for (const auto* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (verb->get_group().empty()) continue;
    auto below = verbs;
    below.push_back(verb->get_name());
    text += reference_of(*verb, below);
  }
  return text;
}

}  // namespace

std::unique_ptr<CLI::App> command_line(bool& debug) {
  auto app = std::make_unique<CLI::App>(
      "Ablate: trains Transformers from a YAML study, measures the effect of each part, and "
      "reports it.\nStart with: ablate run experiments/studies/quickstart.yaml\nFree software "
      "under the MIT "
      "licence.",
      "ablate");
  app->formatter(std::make_shared<HelpFormatter>());  // verbs that are added later inherit it
  app->require_subcommand(1);
  app->set_version_flag("--version", "ablate " ABLATE_VERSION);
  app->add_flag("--debug", debug, "Show the LibTorch stack trace of an internal error");
  app->fallthrough();
  add_run(*app);
  add_register(*app);
  add_train(*app);
  add_init(*app);
  add_advise(*app);
  add_status(*app);
  add_cancel(*app);
  add_report(*app);
  add_power(*app);
  add_pack(*app);
  add_eval(*app);
  add_score(*app);
  add_translate(*app);
  add_generate(*app);
  add_metrics(*app);
  add_tokenizer(*app);
  add_data(*app);
  add_config(*app);
  add_inspect(*app);
  add_bench(*app);
  add_moefy(*app);
  add_export(*app);
  add_verify(*app);
  add_import(*app);
  add_doctor(*app);
  add_completion(*app);
  add_help(*app);
  read_numbers_strictly(*app);
  refuse_wrong_paths(*app);
  return app;
}

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!verb->get_group().empty()) names.push_back(verb->get_name());
  return names;
}

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const auto* option : app.get_options())
    if (!option->get_group().empty())
      for (const auto& name : option->get_lnames()) flags.push_back("--" + name);
  if (app.get_parent() != nullptr)
    std::ranges::move(flags_of(*app.get_parent()), std::back_inserter(flags));
  return flags;
}

const CLI::App* verb_named(const CLI::App& app, const std::string& name) {
  for (const auto* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    if (verb->get_name() == name) return verb;
  return nullptr;
}

const CLI::Option* option_named(const CLI::App& app, const std::string& flag) {
  if (const auto* option = app.get_option_no_throw(flag)) return option;
  return app.get_parent() == nullptr ? nullptr : option_named(*app.get_parent(), flag);
}

bool lacks_verb(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* at = &app;
  for (const auto& word : arguments) {
    at = verb_named(*at, word);
    if (at == nullptr) return false;
  }
  return at->get_require_subcommand_min() > 0;
}

std::string help_of(const std::vector<std::string>& verbs) {
  bool debug = false;
  const auto app = command_line(debug);  // a parsed app shows the help of the parsed verb
  const CLI::App* at = app.get();
  std::string above;
  for (const auto& verb : verbs) {
    above += (above.empty() ? "" : " ") + at->get_name();
    at = at->get_subcommand(verb);
  }
  return at->help(above);
}

std::string reference_page() {
  bool debug = false;
  return "# Commands\n\nThe help of every verb, as `ablate help --all` prints it. Exit codes are "
         "explained in\n[troubleshooting.md](troubleshooting.md).\n" +
         reference_of(*command_line(debug), {});
}

std::string unknown_word(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* at = &app;
  for (size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const auto& word = arguments[i];
    if (is_flag(word)) {
      const auto flag = word.substr(0, word.find('='));
      const auto* option = option_named(*at, flag);
      if (option == nullptr) return unknown_flag(*at, flag);
      if (option->get_items_expected_min() == 0 || flag != word) continue;
      ++i;  // any value of the flag
      if (flag == "--set" && i + 1 < arguments.size() && is_key(arguments[i]))
        return fmt::format("--set: '{0}' has no value; write --set {0}=VALUE", arguments[i]);
    } else if (const auto* verb = verb_named(*at, word)) {
      at = verb;
    } else if (at->get_require_subcommand_min() > 0) {
      const auto above = path_of(*at);
      return fmt::format("unknown verb '{}'{}{}", word, above.empty() ? "" : " of " + above,
                         hint_for_verb(*at, word));
    } else if (is_assignment(word) && option_named(*at, "--set") != nullptr) {
      return fmt::format("'{}' is no argument of {}; write --set {}", word, path_of(*at),
                         word.substr(word.find_first_not_of('+')));
    }
  }
  return {};
}

std::string with_help(const CLI::App& app, const std::string& mistake) {
  const CLI::App* verb = &app;
  while (!verb->get_subcommands().empty()) verb = verb->get_subcommands().front();
  const auto words = path_of(*verb);
  return fmt::format("{}; see ablate {}{}--help", mistake, words, words.empty() ? "" : " ");
}

std::string empty_item(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* at = &app;
  for (size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const auto& word = arguments[i];
    if (!is_flag(word)) {
      if (const auto* verb = verb_named(*at, word)) at = verb;
      continue;
    }
    const auto equals = word.find('=');
    const auto flag = word.substr(0, equals);
    const auto* option = option_named(*at, flag);
    if (option == nullptr || option->get_items_expected_min() == 0) continue;
    const bool apart = equals == std::string::npos;
    if (apart && ++i == arguments.size()) break;
    const auto value = apart ? arguments[i] : word.substr(equals + 1);
    if (has_empty_item(value, option->get_delimiter()))
      return fmt::format("{}: '{}' has an empty item", flag, value);
  }
  return {};
}

void add_help(CLI::App& app) {
  auto words = std::make_shared<std::vector<std::string>>();
  auto all = std::make_shared<bool>(false);
  auto* verb = app.add_subcommand("help", "Print the help of a verb");
  verb->add_option("verb", *words, "A verb, and one of its subcommands; absent: all verbs")
      ->type_name(kVerb);
  verb->add_flag("--all", *all, "Print the help of every verb as a Markdown page");
  verb->footer("Examples:\n  ablate help run\n  ablate help config show\n  ablate help --all");
  verb->callback([&app, words, all] {
    if (*all) {
      if (!words->empty()) refuse_unread({words->front()}, "with --all");
      std::cout << reference_page();
      return;
    }
    const auto mistake = unknown_word(app, *words);
    if (!mistake.empty()) throw UsageError(mistake);
    std::cout << help_of(*words);
  });
}

}  // namespace ablate::commands

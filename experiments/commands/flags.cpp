#include "experiments/commands/flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "experiments/config/study/file_check.h"
#include "experiments/config/yaml/value.h"
#include "experiments/errors.h"

namespace ablate::commands {

void add_data_flag(CLI::App& verb, std::string& folder) {
  verb.add_option("--data", folder, "Folder of relative data paths; absent: the study's folder");
}

void add_checkpoint_flag(CLI::App& verb, std::string& checkpoint) {
  verb.add_option("--checkpoint", checkpoint,
                  "Which weights; absent: those that the run was evaluated with")
      ->type_name(kCheckpoint);
}

std::filesystem::path data_folder(const std::string& folder) {
  if (!std::filesystem::is_directory(folder))
    throw UsageError(
        fmt::format("--data: there is no folder {}{}", folder, config::without_tilde(folder)));
  return folder;
}

namespace {

constexpr const char* kSamplingSeed = "sampling.random_seed";

/// Options of sampling have no section name: sampling.top_k is --top-k.
std::string short_name(const std::string& name) {
  constexpr std::string_view kSampling = "sampling.";
  if (name == kSamplingSeed) return "seed";
  return name.starts_with(kSampling) ? name.substr(kSampling.size()) : name;
}

}  // namespace

void DecodingFlags::add(CLI::App& verb) {
  verb.add_flag("--sample", sample_,
                "Draw outputs at random instead of searching; flags of how imply it");
  section_.add(verb, "decoding", {.left_out = {"sampling.kind"}, .rename = short_name});
}

models::SearchOptions DecodingFlags::over(const config::Experiment& experiment,
                                          std::optional<int64_t> n_best) const {
  auto flags = section_;
  flags.forget(kSamplingSeed);  // which has no effect alone
  const bool random =
      sample_ || flags.given("sampling") || models::draws(experiment.decoding.sampling);
  if (!random && section_.given(kSamplingSeed))
    refuse_unread({"--seed"}, "without --sample, since nothing is drawn");
  if (random) {
    flags = section_;
    flags.set("sampling.kind", std::string(models::RandomSampling::name));
    if (!section_.given("beam")) flags.set("beam", "1");  // the run's own is for a search
  }
  const auto options = flags.over(experiment).decoding;
  if (section_.given("beam") && !random && options.beam < n_best)
    throw UsageError(
        fmt::format("--n-best {0} needs a beam that keeps as many; raise --beam {1} to {0}",
                    *n_best, options.beam));
  return options;
}

void DecodingFlags::check_read(const std::vector<std::string>& read,
                               const std::string& where) const {
  auto unread = section_.given_but(read);
  if (sample_ && std::ranges::find(read, "sampling") == read.end()) unread.push_back("--sample");
  refuse_unread(unread, where);
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  std::string text;
  if (option->get_type_size() != 0) {
    auto type = option->get_type_name();  // "INT:from 1 to 9" with a check
    std::ranges::replace(type, ':', ' ');
    text = " " + type;
    if (!option->get_default_str().empty()) text += "=" + option->get_default_str();
    if (option->get_items_expected_max() > 1) text += " ...";
    if (option->get_required()) text += " REQUIRED";
  }
  const auto list = [&](const char* title, const std::set<CLI::Option*>& others) {
    if (!others.empty()) text += std::string(" ") + title + ":";
    std::set<std::string> names;  // CLI11 orders them by their addresses
    for (const auto* other : others) names.insert(other->get_name());
    for (const auto& name : names) text += " " + name;
  };
  list("Needs", option->get_needs());
  list("Excludes", option->get_excludes());
  return text;
}

namespace {

/// Options of text that a model reads or writes, and of flags for sbatch.
constexpr std::array<std::string_view, 4> kTexts{"--text", "--target", "--prompt", "--slurm"};

/// CLI11 takes the next flag for a missing value, as of an empty variable of the shell.
std::string why_no_value(const std::string& word) {
  constexpr std::string_view kFlag = "--";
  if (!word.starts_with(kFlag) || word.size() == kFlag.size()) return {};
  return fmt::format(
      "{} stands where its value should; write ./{} for a file or folder of this name",
      config::in_quotes(word), word);
}

std::string why_no_path(const std::string& path, bool of_flag) {
  if (auto why = why_no_value(path); of_flag && !why.empty()) return why;
  const auto meant = config::without_tilde(path);
  return meant.empty() ? "" : config::in_quotes(path) + " is no path" + meant;
}

}  // namespace

void refuse_wrong_paths(CLI::App& app) {
  for (auto* option : app.get_options())
    if (option->get_type_name().starts_with("TEXT") &&
        std::ranges::find(kTexts, option->get_name()) == kTexts.end())
      option->check(CLI::Validator(
          [of_flag = !option->get_positional()](const std::string& text) {
            return why_no_path(text, of_flag);
          },
          ""));
  for (auto* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    refuse_wrong_paths(*verb);
}

void check_mode(const CLI::App& verb, const Mode& mode) {
  std::vector<std::string> unread;
  for (const auto* option : verb.get_options())
    if (option->count() > 0 && std::ranges::none_of(mode.reads, [&](const std::string& name) {
          return option->check_name(name);
        }))
      unread.push_back(option->get_name());
  refuse_unread(unread, "with " + mode.name);
}

void refuse_unread(const std::vector<std::string>& flags, const std::string& where) {
  if (flags.empty()) return;
  const bool one = flags.size() == 1;
  throw UsageError(fmt::format("{} {} no effect {}; leave {} out", fmt::join(flags, ", "),
                               one ? "has" : "have", where, one ? "it" : "them"));
}

void add_set_flag(CLI::App& verb, std::vector<std::string>& sets) {
  verb.add_option("--set", sets, "key.path=value, below base; the flag again for each key")
      ->type_name(kKeyAndValue)
      ->take_all()
      ->allow_extra_args(false);
}

}  // namespace ablate::commands

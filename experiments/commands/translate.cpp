#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>

#include "experiments/commands/commands.h"
#include "experiments/commands/flags.h"
#include "experiments/commands/lines.h"
#include "experiments/commands/number_flags.h"
#include "experiments/config/schema/option.h"
#include "experiments/errors.h"
#include "experiments/run/load_run.h"
#include "training/inference/fill_in.h"
#include "training/process/machine.h"

namespace ablate::commands {
namespace {

/// Most lines read before any is translated; long inputs stream.
constexpr size_t kGroup = 4096;
/// Fewer lines are not worth a second thread.
constexpr size_t kShared = 32;

struct TranslateRequest {
  std::vector<std::string> runs;
  std::string checkpoint, prefixes;
  std::string precision = "fp32";
  DecodingFlags decoding;
  std::optional<int64_t> threads, jobs;
  std::optional<int64_t> n_best;
  int64_t risk = 0;
  bool scores = false;
  std::string prompt;  // of generate
  bool one_line = false;
  std::optional<int64_t> passes;
};

struct Loaded {
  std::vector<training::Translator> translators;
  models::SearchOptions options;
  std::unique_ptr<models::SearchCount> count =
      std::make_unique<models::SearchCount>();  // of the whole input
};

Loaded load(const TranslateRequest& request) {
  Loaded loaded;
  for (const auto& folder : request.runs) {
    if (folder.find(' ') != folder.npos && !std::filesystem::exists(folder))
      throw UsageError(fmt::format(
          "there is no run folder '{}'; translate reads text from standard input, generate after "
          "--prompt",
          folder));
    auto run = run::load_run(folder, request.checkpoint);
    const auto options = request.decoding.over(run.experiment, request.n_best);
    if (loaded.translators.empty()) loaded.options = options;
    loaded.translators.push_back(
        run.translator(value_of<models::WeightDtype>("--precision", request.precision)));
  }
  return loaded;
}

/// One batch and one thread per core; two threads for one batch are slower.
int64_t jobs_for(const TranslateRequest& request, const Loaded& loaded, size_t lines) {
  const bool cpu = loaded.translators.front().model.device().is_cpu();
  if (!cpu || lines < kShared) return 1;
  return request.jobs.value_or(request.threads.value_or(training::available_cores()));
}

/// Batches small enough that every job gets its share.
models::SearchOptions shared_out(models::SearchOptions options, size_t lines, int64_t jobs) {
  const auto share = static_cast<int64_t>(lines + static_cast<size_t>(jobs) - 1) / jobs;
  options.batch = std::clamp<int64_t>(share, 1, options.batch);
  return options;
}

void print(const TranslateRequest& request, int64_t line,
           const std::vector<training::Translation>& found) {
  if (request.n_best) {
    for (const auto& one : found)
      std::cout << fmt::format("{} ||| {} ||| {:.6f} ||| {:.6f}\n", line, one.text, one.score,
                               one.log_probability);
    return;
  }
  const auto& chosen = found[request.risk > 0 ? training::least_risk(found) : 0];
  if (request.scores) std::cout << fmt::format("{:.6f}\t", chosen.score);
  std::cout << chosen.text << '\n';
}

/// Reports how many inputs were too long to be read whole.
void note_cut(int64_t count, const Loaded& loaded) {
  const auto& format = loaded.translators.front().format;
  if (count > 0)
    std::cerr << fmt::format(
        "{} of the inputs {} longer than the {} tokens of a prompt (training.max_length{}); only "
        "the end is read\n",
        count, count == 1 ? "is" : "are", format.longest_prompt(),
        format.fills_masks() ? ", and half of data.block" : "");
}

/// Reports how many tokens each pass wrote with drafts.
void note_draft(const Loaded& loaded) {
  if (loaded.options.draft == 0 || loaded.count->passes == 0) return;
  const auto tokens = loaded.count->tokens.load(), passes = loaded.count->passes.load();
  std::cerr << fmt::format("{} tokens in {} passes, {:.2f} in each\n", tokens, passes,
                           static_cast<double>(tokens) / static_cast<double>(passes));
}

void check(const TranslateRequest& request) {
  if (request.risk > 0 && request.n_best)
    throw UsageError("--mbr chooses one output; leave out --n-best");
  if (request.scores && request.n_best)
    throw UsageError("--n-best prints the scores anyway; leave out --scores");
}

/// The prefixes of outputs, a line for each line of the input; empty unless requested.
class Prefixes {
 public:
  explicit Prefixes(const std::string& file) : file_(file) {
    if (file == "-")
      throw UsageError("--prefixes needs a file; standard input holds the text to translate");
    if (!file.empty()) lines_ = read_text(file);
  }
  /// The prefixes of `count` lines after the first `done`.
  std::span<const std::string> of(size_t done, size_t count) const {
    if (file_.empty()) return {};
    if (done + count > lines_.size())
      throw data::DataError(fmt::format(
          "{} has {} lines, fewer than the input; give each line a prefix, which may be empty",
          file_, lines_.size()));
    return std::span(lines_).subspan(done, count);
  }
  void check_end(size_t done) const {
    if (lines_.size() > done)
      throw data::DataError(
          fmt::format("{} has {} lines and the input {}; give each line one prefix", file_,
                      lines_.size(), done));
  }

 private:
  std::string file_;
  std::vector<std::string> lines_;
};

/// A classifier answers with the likeliest class, and does not search.
void check_labels(const TranslateRequest& request, const Loaded& loaded) {
  if (!loaded.translators.front().model.labels()) return;
  const std::string where = "on a classifier";
  request.decoding.check_read({"batch"}, where);
  std::vector<std::string> unread;
  if (request.n_best) unread.emplace_back("--n-best");
  if (request.risk > 0) unread.emplace_back("--mbr");
  if (!request.prefixes.empty()) unread.emplace_back("--prefixes");
  refuse_unread(unread, where);
}

void translate_all(const TranslateRequest& request) {
  check(request);
  at::set_num_threads(static_cast<int>(request.threads.value_or(1)));
  const auto loaded = load(request);
  check_labels(request, loaded);
  const Prefixes prefixes(request.prefixes);
  int64_t cut = 0;
  size_t done = 0;
  InputLines input;
  for (auto lines = input.group(kGroup); !lines.empty(); lines = input.group(kGroup)) {
    const auto jobs = jobs_for(request, loaded, lines.size());
    const auto found =
        training::translate_all(loaded.translators,
                                {.lines = lines,
                                 .prefixes = prefixes.of(done, lines.size()),
                                 .first_line = static_cast<int64_t>(done),
                                 .n_best = std::max(request.n_best.value_or(1), request.risk),
                                 .jobs = jobs,
                                 .count = loaded.count.get()},
                                shared_out(loaded.options, lines.size(), jobs));
    for (size_t i = 0; i < found.size(); ++i) {
      if (found[i].front().read) ++cut;
      print(request, static_cast<int64_t>(done + i), found[i]);
    }
    std::cout.flush();
    done += lines.size();
  }
  prefixes.check_end(done);
  note_cut(cut, loaded);
  note_draft(loaded);
}

/// Those of masked diffusion models have one continuation, which is not searched for.
void check_filling(const TranslateRequest& request, const Loaded& loaded) {
  const auto& format = loaded.translators.front().format;
  const bool fills = format.fills_masks();
  if (!fills && request.passes)
    throw UsageError("--passes needs a masked diffusion model (data.diffusion)");
  if (!fills && !format.end_token(request.one_line))
    request.decoding.check_read({"beam", "max_length", "sampling", "batch", "draft"},
                                "where outputs have no end, only a greatest length (--max-length)");
  if (fills && (loaded.translators.size() > 1 || loaded.options.beam > 1 || request.n_best ||
                request.one_line))
    throw UsageError(
        "a masked diffusion model fills a block by itself: leave out other runs, --beam, --n-best "
        "and --one-line");
  if (fills)
    request.decoding.check_read({"beam", "max_length", "sampling"}, "on a masked diffusion model");
  if (fills && request.jobs) refuse_unread({"--jobs"}, "on a masked diffusion model");
}

std::vector<std::vector<training::Translation>> continuations(
    const TranslateRequest& request, const Loaded& loaded, const std::vector<std::string>& prompts,
    size_t done) {
  const auto first_line = static_cast<int64_t>(done);
  const auto& only = loaded.translators.front();
  if (only.format.fills_masks())
    return training::fill_in(only, prompts,
                             {.length = loaded.options.max_length,
                              .passes = request.passes,
                              .sampling = loaded.options.sampling,
                              .first_line = first_line});
  return training::translate_all(loaded.translators,
                                 {.lines = prompts,
                                  .first_line = first_line,
                                  .n_best = request.n_best.value_or(1),
                                  .jobs = jobs_for(request, loaded, prompts.size()),
                                  .one_line = request.one_line,
                                  .count = loaded.count.get()},
                                 loaded.options);
}

/// Prints the continuation of each prompt; `done` prompts came before them. Counts those that were
/// too long.
int64_t go_on(const TranslateRequest& request, const Loaded& loaded,
              const std::vector<std::string>& prompts, size_t done) {
  const auto found = continuations(request, loaded, prompts, done);
  for (size_t i = 0; i < prompts.size(); ++i)
    for (const auto& one : found[i]) {
      if (request.scores) std::cout << fmt::format("{:.6f}\t", one.log_probability);
      std::cout << one.read.value_or(prompts[i]) << one.text << '\n';
    }
  std::cout.flush();
  return std::ranges::count_if(found, [](const auto& one) { return one.front().read.has_value(); });
}

void generate(const TranslateRequest& request, bool from_input) {
  at::set_num_threads(static_cast<int>(request.threads.value_or(1)));
  const auto loaded = load(request);
  const auto& format = loaded.translators.front().format;
  if (!format.continues_text() && !format.fills_masks())
    throw UsageError(
        "generate needs a language model (data.task: language, and model.family: decoder_only or "
        "data.diffusion); use translate");
  check_filling(request, loaded);
  int64_t cut = 0;
  if (!from_input) {
    cut = go_on(request, loaded, std::vector{request.prompt}, 0);
  } else {
    size_t done = 0;
    InputLines input;
    for (auto prompts = input.group(kGroup); !prompts.empty(); prompts = input.group(kGroup)) {
      cut += go_on(request, loaded, prompts, done);
      done += prompts.size();
    }
  }
  note_cut(cut, loaded);
  note_draft(loaded);
}

void add_shared(CLI::App& verb, TranslateRequest& request) {
  verb.add_option("run", request.runs, "The run folder; several vote by their mean probability")
      ->required();
  add_checkpoint_flag(verb, request.checkpoint);
  request.decoding.add(verb);
  verb.add_option("--precision", request.precision,
                  "Type of the weights; on a CPU only of linear maps and the output, not of a "
                  "mixture's experts or an LSTM")
      ->type_name(type_of_words(config::choices_of(models::WeightDtype{})))
      ->capture_default_str();
  verb.add_option("--n-best", request.n_best,
                  "Outputs of every line, best first; the beam is at least as wide")
      ->check(between(1, 256));
  verb.add_option("--threads", request.threads, "CPU threads of one batch")
      ->check(between(1, 1024));
  verb.add_option("--jobs", request.jobs, "Batches at once; absent: one per core")
      ->check(between(1, 1024));
  verb.add_flag("--scores", request.scores, "Put the score and a tab before every output");
}

}  // namespace

void add_translate(CLI::App& app) {
  auto request = std::make_shared<TranslateRequest>();
  auto* verb =
      app.add_subcommand("translate", "Translate standard input to standard output, line by line");
  add_shared(*verb, *request);
  verb->add_option("--prefixes", request->prefixes,
                   "File with the prefix of each line's output, as many lines as the input has");
  verb->add_option("--mbr", request->risk,
                   "Choose among this many outputs the one most like all of them, by chrF (minimum "
                   "Bayes risk); usually with --sample")
      ->check(between(2, 256));
  verb->footer(
      "With --n-best each output is a line: number ||| text ||| score ||| log-probability.\n"
      "Lines are answered when the input pauses, and at most 4,096 are read before. A blank line "
      "has a blank output.\n"
      "Examples:\n"
      "  echo 'a b c d e f' | ablate translate runs/quickstart/reverse/sinusoidal/seed-1\n"
      "  ablate translate RUN --beam 8 --n-best 4 < in > out\n"
      "  ablate translate RUN --sample --temperature 0.8 --mbr 16 < in > out");
  verb->callback([request] { translate_all(*request); });
}

void add_generate(CLI::App& app) {
  auto request = std::make_shared<TranslateRequest>();
  auto* verb = app.add_subcommand("generate", "Continue prompts with a language model");
  add_shared(*verb, *request);
  auto* prompt = verb->add_option("--prompt", request->prompt,
                                  "Text to continue; absent: each line of standard input");
  verb->add_flag("--one-line", request->one_line, "Stop at the end of the line");
  verb->add_option("--passes", request->passes,
                   "Passes in which a masked diffusion model fills its block; absent: one for each "
                   "token")
      ->check(between(1, 65'536));
  verb->footer(
      "Example:\n"
      "  ablate generate runs/shakespeare/language/ours/seed-1 --prompt 'ROMEO:' --temperature 0.8 "
      "--top-k 40 --max-length 200");
  verb->callback([request, prompt] { generate(*request, prompt->count() == 0); });
}

}  // namespace ablate::commands

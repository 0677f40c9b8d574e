#include "experiments/commands/foreign_verb.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

namespace ablate::commands {
namespace {

/// A verb of another toolkit, and what to type instead: before and behind the words that follow,
/// for which `example` stands if there are none.
struct ForeignVerb {
  std::string_view verb, before, example, behind;
};

constexpr std::string_view kStudy = "STUDY.yaml", kFolder = "FOLDER", kRun = "RUN", kNone = "";

constexpr ForeignVerb kForeignVerbs[] = {
    {"plot", "report", kFolder, " writes the charts into report.html of that folder"},
    {"chart", "report", kFolder, " writes the charts into report.html of that folder"},
    {"table", "report", kFolder, ""},
    {"results", "report", kFolder, ""},
    {"check", "config check", kStudy, ""},
    {"validate", "config check", kStudy, ""},
    {"lint", "config check", kStudy, ""},
    {"show", "config show", kStudy, ""},
    {"diff", "config diff", "STUDY.yaml ARM ARM", ""},
    {"compare", "config diff", "STUDY.yaml ARM ARM", "; 'report' compares the results of a study"},
    {"explain", "config explain", "KEY", ""},
    {"fit", "run", kStudy, ""},
    {"start", "run", kStudy, ""},
    {"submit", "run", kStudy, " --launcher slurm"},
    {"sweep", "run", kStudy, ", with 'grid' or 'tune' in the study"},
    {"tune", "run", kStudy, ", with 'tune' in the study"},
    {"resume", "run", kStudy, " continues where it stopped"},
    {"continue", "run", kStudy, " continues where it stopped"},
    {"list", "run --list", kNone, ""},
    {"new", "init", kStudy, ""},
    {"create", "init", kStudy, ""},
    {"logs", "status", kFolder, ""},
    {"watch", "status --watch", kFolder, ""},
    {"stop", "cancel", kFolder, ""},
    {"evaluate", "eval", kRun, ""},
    {"test", "eval", kRun, ""},
    {"predict", "translate", kRun, " < in > out"},
    {"decode", "translate", kRun, " < in > out"},
    {"sample", "generate", kRun, ""},
    {"complete", "generate", kRun, ""},
    {"fetch", "data fetch", "NAME", ""},
    {"download", "data fetch", "NAME", ""},
    {"convert", "export", "RUN --to FILE", ""},
    {"save", "export", "RUN --to FILE", ""},
    {"load", "import", "--help", ""},
    {"profile", "bench", "--help", ""},
    {"version", "--version", kNone, ""},
};

}  // namespace

std::string hint_for_foreign_verb(const std::string& verb, const std::vector<std::string>& words) {
  for (const auto& foreign : kForeignVerbs) {
    if (foreign.verb != verb) continue;
    const auto rest = words.empty() || foreign.example.empty()
                          ? std::string(foreign.example)
                          : fmt::format("{}", fmt::join(words, " "));
    return fmt::format("; `ablate {}{}{}`{}", foreign.before, rest.empty() ? "" : " ", rest,
                       foreign.behind);
  }
  return {};
}

}  // namespace ablate::commands

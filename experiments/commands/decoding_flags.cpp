#include "experiments/commands/decoding_flags.h"

#include "experiments/exit_code.h"

namespace ablate::experiments {

void DecodingFlags::add(CLI::App& verb) {
  verb.add_option("--beam", beam_, "Hypotheses kept; absent: the study's")
      ->check(CLI::Range(1, 256));
  verb.add_option("--length-penalty", length_penalty_, "score = log-probability / length ^ penalty")
      ->check(CLI::Range(0.0, 10.0));
  verb.add_option("--coverage-penalty", coverage_penalty_,
                  "Weakens outputs that leave source pieces unread (Wu et al. 2016)")
      ->check(CLI::Range(0.0, 10.0));
  verb.add_option("--min-length", min_length_, "Fewest pieces of an output")
      ->check(CLI::Range(0, 65'535));
  verb.add_option("--max-length", max_length_, "Most pieces of an output")
      ->check(CLI::Range(1, 65'536));
  verb.add_option("--repetition-penalty", repetition_penalty_,
                  "Above 1: weakens pieces that an output has already")
      ->check(CLI::Range(1.0, 100.0));
  verb.add_option("--no-repeat-ngram", no_repeat_ngram_, "No n pieces twice in an output")
      ->check(CLI::Range(0, 1000));
  verb.add_flag("--sample", sample_, "Draw outputs at random instead of searching");
  verb.add_option("--temperature", temperature_, "Divides the log-probabilities; implies --sample")
      ->check(CLI::Range(0.01, 100.0));
  verb.add_option("--top-k", top_k_, "Draw from the likeliest pieces only; implies --sample")
      ->check(CLI::Range(0, 1'000'000));
  verb.add_option("--top-p", top_p_,
                  "Draw from the likeliest pieces of this probability; implies --sample")
      ->check(CLI::Range(0.001, 1.0));
  verb.add_option("--seed", seed_, "Of the numbers drawn; each line has its own")
      ->check(CLI::NonNegativeNumber);
  verb.add_option("--batch", batch_, "Sentences decoded together")->check(CLI::Range(1, 65'536));
}

training::DecodingOptions DecodingFlags::over(training::DecodingOptions options) const {
  options.beam = beam_.value_or(options.beam);
  options.batch = batch_.value_or(options.batch);
  options.length_penalty = length_penalty_.value_or(options.length_penalty);
  options.coverage_penalty = coverage_penalty_.value_or(options.coverage_penalty);
  options.min_length = min_length_.value_or(options.min_length);
  options.max_length = max_length_.value_or(options.max_length);
  options.repetition_penalty = repetition_penalty_.value_or(options.repetition_penalty);
  options.no_repeat_ngram = no_repeat_ngram_.value_or(options.no_repeat_ngram);
  if (options.min_length >= options.max_length)
    throw UsageError("--min-length must be below the most pieces of an output, " +
                     std::to_string(options.max_length));
  const bool random = sample_ || temperature_ || top_k_ || top_p_ ||
                      std::holds_alternative<training::RandomSampling>(options.sampling);
  if (!random) return options;
  if (beam_ && *beam_ > 1) throw UsageError("--beam searches and --sample draws; choose one");
  auto* own = std::get_if<training::RandomSampling>(&options.sampling);
  auto sampling = own == nullptr ? training::RandomSampling{} : *own;
  sampling.temperature = temperature_.value_or(sampling.temperature);
  sampling.top_k = top_k_.value_or(sampling.top_k);
  sampling.top_p = top_p_.value_or(sampling.top_p);
  sampling.random_seed = seed_.value_or(sampling.random_seed);
  options.sampling = sampling;
  return options;
}

}  // namespace ablate::experiments

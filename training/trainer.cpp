#include "training/trainer.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/random.h"
#include "training/checkpoint_selection.h"
#include "training/device.h"
#include "training/process/interrupt.h"
#include "training/schedule.h"
#include "training/storage/finite_json.h"
#include "training/update_observer.h"

namespace ablate::training {
namespace {

/// The message of an update that ran out of memory, with its largest batch.
std::string too_large(int64_t step, const std::vector<data::Batch>& batches) {
  const auto& batch = *std::ranges::max_element(batches, {}, [](const data::Batch& one) {
    return one.rows * (one.source_length + one.target_length);
  });
  return fmt::format(
      "step {}, whose batch of {} examples has up to {} source and {} target tokens in each", step,
      batch.rows, batch.source_length, batch.target_length);
}

}  // namespace

std::vector<Observation> observe_validation(models::Transformer& model, const TrainerInput& input) {
  if (input.validation.empty()) return {};
  const auto batch = observed_batch(
      {input.validation, input.options.tokens_per_batch, input.augmentation.masking});
  return observe_pass(model, batch, input.options.observe);
}

Trainer::Trainer(models::Transformer model, TrainerInput input, Progress::Options progress)
    : model_(std::move(model)),
      input_(std::move(input)),
      optimizer_(
          make_optimizer(with_scaled_decay(input_.options.optimizer, input_.options.schedule),
                         *model_, input_.options.lr_multipliers)),
      graphs_(input_.ranks.size() > 1 ? nullptr
                                      : make_graphs(model_, input_.options, input_.precision)),
      flops_(*model_),
      progress_(std::move(progress)) {
  if (input_.options.ema > 0) ema_.emplace(*model_, input_.options.ema, input_.options.lora);
}

bool Trainer::resume() {
  auto found =
      load_newest(input_.checkpoints, [&](const std::string& warning) { progress_.say(warning); });
  if (!found) return false;
  load_weights(*model_, found->model);
  const auto averages = extract_ema(found->optimizer);
  if (ema_) ema_->load(averages);
  optimizer_->load(found->optimizer);
  optimizer_->to_training();
  state_ = from_json<TrainingState>(found->state);
  train_loss_ = found->state.value("train_loss", 0.0);
  earlier_seconds_ = state_.seconds;
  saved_step_ = state_.step;
  return true;
}

bool Trainer::finished() const {
  return state_.step >= input_.options.steps || state_.stopped_early;
}

/// Ranks stop after the same update.
bool Trainer::stops() const { return input_.ranks.size() == 1 ? stop_requested() : asked_to_stop_; }

TrainingSummary Trainer::run() {
  const StopRequests requests;
  const bool resumed = resume();
  input_.ranks.agree_on(state_.step, "steps to continue from");
  if (resumed) {
    prune();  // a killed process may have left checkpoints
    progress_.say(fmt::format("continuing after step {}", state_.step));
  }
  progress_.restart(state_.step);
  if (input_.ranks.is_first()) {
    log_.emplace(input_.log, RunLog::Mark{state_.log_bytes, state_.log_sha256});
    events_.emplace(input_.folder, resumed ? state_.step + 1 : 0);
    events_->add(0, input_.session);
    if (!resumed && observes(0)) observe_model();
  }
  data::BatchStream stream(input_.train, {.tokens_per_batch = input_.options.tokens_per_batch,
                                          .seed = models::derive_seed(input_.seed, "order"),
                                          .start = {state_.epoch, state_.batch},
                                          .augmentation = input_.augmentation});
  while (!finished()) {
    train_step(stream);
    const auto& options = input_.options;
    if (options.evaluate_every > 0 && state_.step % options.evaluate_every == 0) validate();
    const bool stop = stops();
    if (stop || finished() || state_.step % options.save_every == 0) save();
    if (stop && !finished()) {
      throw Interrupted(fmt::format("stopped after step {}; saved in {}", state_.step,
                                    input_.checkpoints.string()));
    }
  }
  if (saved_step_ != state_.step) save();
  return {state_, train_loss_};
}

std::vector<data::Batch> Trainer::next_batches(data::BatchStream& stream, int64_t step) const {
  const auto& options = input_.options;
  const UpdatePlace now{step, options.steps};
  std::vector<data::Batch> batches;
  for (int64_t i = batches_at(options, now); i > 0; --i) {
    auto batch = stream.next();
    const auto length = row_length_at(options, now, batch.target_length);
    batches.push_back(data::first_targets(std::move(batch), length));
  }
  return batches;
}

void Trainer::train_step(data::BatchStream& stream) {
  const auto& options = input_.options;
  const int64_t step = state_.step + 1;
  const auto batches = next_batches(stream, step);
  auto update_options = training::update_options(options, model_->options(), step, input_.ranks);
  update_options.dropout = input_.dropout;
  update_options.dropout_seed =
      models::derive_seed(input_.seed, "dropout", static_cast<uint64_t>(step));
  update_options.precision = input_.precision;
  update_options.mixtures = options.logs(step);
  update_options.graphs = graphs_.get();
  const double rate = update_options.learning_rate;
  std::optional<UpdateObserver> observer;
  if (observes(step)) {
    progress_.pause();
    observer.emplace(model_, batches.front(), update_options, options.observe);
    progress_.resume();
  }
  const auto record = update_on(batches, update_options);
  asked_to_stop_ = record.stop;
  state_.step = step;
  state_.epoch = stream.position().epoch;
  state_.batch = stream.position().batch;
  const auto passes = static_cast<double>(passes_at(options, step));
  for (const auto& batch : batches)
    state_.flops += passes * flops_.training(extent_of(batch), update_options.ahead);
  if (record.skipped && options.not_finite == NotFinite::stop) {
    log_interval(record, rate);  // how it came to this
    throw Diverged(fmt::format(
        "step {}: the loss is {} and the gradient norm {}; lower training.schedule.peak, set "
        "training.max_grad_norm, or leave such updates out with training.not_finite: skip",
        step, unsigned_nan(record.loss), unsigned_nan(record.gradient_norm)));
  }
  if (graphs_ && !graphs_->why().empty() && warned_.insert(graphs_->why()).second)
    progress_.say("passes over some batches are no CUDA graphs: " + graphs_->why());
  if (ema_ && !record.skipped) ema_->update();
  state_.seconds = earlier_seconds_ + progress_.seconds();
  progress_.at({.step = step, .loss = record.loss, .tokens = record.tokens});
  log_step(record, rate);
  if (observer) {
    log_observations(observer->after(record));
    observe_model();
  }
}

StepRecord Trainer::update_on(const std::vector<data::Batch>& batches,
                              const UpdateOptions& options) {
  try {
    return update(model_, *optimizer_, batches, options);
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
    throw OutOfMemory(too_large(state_.step + 1, batches));
  }
}

void Trainer::log_step(const StepRecord& record, double rate) {
  if (record.skipped) {
    ++state_.skipped;
    progress_.say(fmt::format("step {} left out: loss {}, gradient norm {}", state_.step,
                              unsigned_nan(record.loss), unsigned_nan(record.gradient_norm)));
  } else {
    state_.tokens += record.tokens;
    state_.interval_tokens += record.tokens;
    state_.interval_loss += record.loss * static_cast<double>(record.tokens);
    state_.interval_nll += record.nll * static_cast<double>(record.tokens);
  }
  if (input_.options.logs(state_.step)) log_interval(record, rate);
}

void Trainer::log_interval(const StepRecord& record, double rate) {
  if (state_.interval_tokens == 0) return;
  const auto tokens = static_cast<double>(state_.interval_tokens);
  train_loss_ = state_.interval_loss / tokens;
  write_with_costs({{"loss", train_loss_},
                    {"negative_log_likelihood", state_.interval_nll / tokens},
                    {"gradient_norm", record.gradient_norm},
                    {"learning_rate", rate},
                    {"skipped", state_.skipped}});
  if (events_)
    events_->add(state_.step, std::vector<Scalar>{
                                  {"training/tokens_per_second", progress_.tokens_per_second()}});
  for (const auto& mixture : record.mixtures) log_mixture(mixture);
  state_.interval_tokens = 0;
  state_.interval_loss = state_.interval_nll = 0;
}

void Trainer::write(const nlohmann::json& line) {
  if (!log_) return;
  input_.check_owner();
  log_->append(line);
  events_->add(state_.step, scalars_of(line));
}

/// Adds what training has spent so far.
void Trainer::write_with_costs(nlohmann::json line) {
  line.update({{"step", state_.step},
               {"tokens", state_.tokens},
               {"flops", state_.flops},
               {"seconds", state_.seconds}});
  write(line);
}

void Trainer::log_mixture(const MixtureRecord& mixture) {
  write({{"step", state_.step},
         {"mixture", mixture.name},
         {"shares", mixture.shares},
         {"variation", mixture.variation()},
         {"highest", mixture.highest()},
         {"load", mixture.load},
         {"z", mixture.z},
         {"entropy", mixture.entropy},
         {"dropped", mixture.dropped},
         {"router_gradient", mixture.router_gradient}});
  if (const auto news = news_of(mixture, warned_); !news.empty())
    progress_.say(fmt::format("step {}: {}", state_.step, news));
}

/// All ranks have the same model, so the first one observes it.
bool Trainer::observes(int64_t step) const {
  const auto& options = input_.options;
  return log_ && options.observe.looks_after(step, options.steps);
}

void Trainer::log_observations(const std::vector<Observation>& observations) {
  for (const auto& one : observations) write(to_json(one, state_.step));
}

void Trainer::observe_model() {
  progress_.pause();
  const EvaluatedWeights evaluated(*optimizer_);
  const BorrowedWeights averaged(*model_, averaged_weights());
  log_observations(observe_validation(model_, input_));
  progress_.resume();
}

/// The average that is evaluated if the training ends with this step; empty without one.
Weights Trainer::averaged_weights() const {
  if (ema_) return ema_->weights();
  if (input_.options.average == 0) return {};
  return average_at(input_.checkpoints, {state_.step, weights_of(*model_)}, input_.options);
}

Likelihood Trainer::validation() {
  const EvaluatedWeights evaluated(*optimizer_);
  const BorrowedWeights averaged(*model_, averaged_weights());
  try {
    return likelihood(model_, input_.validation,
                      {input_.options.tokens_per_batch, input_.augmentation.masking, input_.ranks});
  } catch (const Diverged& error) {
    throw Diverged(fmt::format("step {}: in validation {}", state_.step, error.what()));
  }
}

void Trainer::validate() {
  progress_.pause();
  const auto scores = validation();
  write_with_costs({{"validation_loss", scores.nll},
                    {"validation_perplexity", scores.perplexity()},
                    {"validation_token_accuracy", scores.token_accuracy}});
  if (state_.best_step == 0 || scores.nll < state_.best_nll) {
    state_.best_step = state_.step;
    state_.best_nll = scores.nll;
    state_.validations_since_best = 0;
    save();
  } else if (input_.options.patience > 0 &&
             ++state_.validations_since_best >= input_.options.patience) {
    state_.stopped_early = true;
    progress_.say(
        fmt::format("stopped early after step {}: no better validation loss since step {}",
                    state_.step, state_.best_step));
  }
  progress_.resume();
}

void Trainer::save() {
  if (saved_step_ == state_.step && !state_.stopped_early) return;
  const EvaluatedWeights evaluated(*optimizer_);
  if (const auto fault = not_finite(weights_of(*model_)))
    throw Diverged(
        fmt::format("step {}: {}; lower training.schedule.peak or set training.max_grad_norm",
                    state_.step, *fault));
  saved_step_ = state_.step;
  if (!log_) return;
  input_.check_owner();
  progress_.pause();
  log_->sync();
  const auto mark = log_->mark();
  state_.log_bytes = mark.bytes;
  state_.log_sha256 = mark.sha256;
  Checkpoint checkpoint{.step = state_.step,
                        .model = weights_of(*model_),
                        .optimizer = optimizer_->state(),
                        .state = to_json(state_),
                        .files = input_.files};
  checkpoint.state["train_loss"] = train_loss_;
  if (ema_) ema_->save_to(checkpoint.optimizer);
  save_checkpoint(input_.checkpoints, checkpoint);
  prune();
  progress_.resume();
}

void Trainer::prune() const {
  if (!input_.ranks.is_first()) return;
  KeptCheckpoints kept{.newest = input_.options.keep,
                       .every = input_.options.save_every,
                       .steps = {},
                       .last = state_.step};
  if (state_.best_step > 0) {
    const auto averaged =
        averaged_steps(state_.best_step, input_.options.average, input_.options.save_every);
    kept.steps.insert(averaged.begin(), averaged.end());
    kept.steps.insert(state_.best_step);
  }
  prune_checkpoints(input_.checkpoints, kept);
}

}  // namespace ablate::training

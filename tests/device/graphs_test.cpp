#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "tests/device/counted.h"
#include "tests/device/device_models.h"
#include "tests/models/variants.h"
#include "tests/says.h"
#include "training/graphs/pass_graphs.h"
#include "training/likelihood.h"
#include "training/optimizer.h"
#include "training/update.h"
#include "training/weights.h"

namespace ablate::training {
namespace {

data::Batch batch_of(const std::vector<data::EncodedExample>& pairs) {
  std::vector<int64_t> rows(pairs.size());
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(i);
  return data::collate(pairs, rows);
}

/// Four batches of three sizes; two of one size have different tokens and padding, and the last one
/// is the longest.
std::vector<data::Batch> batches_for(const models::TransformerOptions& options) {
  std::vector<data::Batch> batches{
      batch_of({{{5, 6, 7, 2}, {7, 6, 5, 2}}, {{8, 2}, {9, 2}}, {{4, 9, 2}, {9, 4, 4, 10, 2}}}),
      batch_of({{{5, 2}, {6, 5, 2}}, {{8, 9, 2}, {9, 8, 2}}}),
      batch_of({{{4, 6, 2}, {7, 2}}, {{8, 9, 11, 2}, {9, 4, 2}}, {{4, 2}, {9, 12, 4, 10, 2}}}),
      batch_of({{{5, 6, 7, 8, 9, 2}, {7, 6, 5, 4, 4, 9, 8, 2}}})};
  if (options.family == models::Family::encoder_only)
    for (auto& batch : batches) {
      batch.target_in = batch.target_out = batch.source;
      batch.target_length = batch.source_length;
    }
  return batches;
}

struct Training {
  models::TransformerOptions model;
  OptimizerOptions optimizer = Adam{};
  LossTerms loss = {.smoothing = 0.1};
  int64_t ahead = 0;  // further heads
  Precision precision = Precision::fp32;
  size_t accumulate = 1;
  int steps = 12;              // three rounds of the batches
  int killed_after = 0;        // steps, whereupon another process goes on; 0: never
  int curvature_interval = 0;  // steps; 0: no curvature is learnt
  double ema = 0;  // decay of the average that is validated every four steps; 0: no average
};

/// The records and the weights of some updates.
struct Trained {
  std::vector<StepRecord> records;
  std::vector<double> validations;
  std::vector<torch::Tensor> weights;
  std::string why;
};

/// What a process that trains holds.
struct Process {
  Process(const Training& training, bool with_graphs)
      : model(model_of(training.model, torch::kCUDA)),
        optimizer(make_optimizer(training.optimizer, *model)) {
    if (with_graphs) graphs.emplace(model, training.loss);
    if (training.ema > 0) average.emplace(*model, training.ema);
  }
  void go_on(const Process& killed) {
    load_weights(*model, weights_of(*killed.model));
    optimizer->load(killed.optimizer->state());
    if (average) average->load(killed.average->weights());
  }
  /// The loss of the average.
  double validate() {
    const BorrowedWeights averaged(*model, average->weights());
    const std::vector<data::EncodedExample> pairs{{{5, 6, 2}, {7, 6, 5, 2}}, {{8, 2}, {9, 2}}};
    return likelihood(model, pairs, {.tokens_per_batch = 64}).nll;
  }

  models::Transformer model;
  std::unique_ptr<Optimizer> optimizer;
  std::optional<PassGraphs> graphs;
  std::optional<Ema> average;
};

Trained train(const Training& training, bool with_graphs) {
  auto process = std::make_unique<Process>(training, with_graphs);
  const auto batches = batches_for(training.model);
  Trained trained;
  size_t next = 0;
  for (int step = 0; step < training.steps; ++step) {
    if (step > 0 && step == training.killed_after) {
      const auto killed = std::exchange(process, std::make_unique<Process>(training, with_graphs));
      process->go_on(*killed);
    }
    std::vector<data::Batch> of_step;
    for (size_t i = 0; i < training.accumulate; ++i)
      of_step.push_back(batches[next++ % batches.size()]);
    trained.records.push_back(update(
        process->model, *process->optimizer, of_step,
        {.learning_rate = 1e-2 / (1 + step),
         .loss = training.loss,
         .clips = {.norm = {{.most = 0.5}}},
         .dropout = 0.2,
         .dropout_seed = static_cast<uint64_t>(step),
         .precision = training.precision,
         .ahead = training.ahead,
         .curvature = training.curvature_interval > 0 && step % training.curvature_interval == 0,
         .graphs = with_graphs ? &*process->graphs : nullptr}));
    if (!process->average) continue;
    process->average->update();
    if (step % 4 == 3) trained.validations.push_back(process->validate());
  }
  for (const auto& [name, tensor] : weights_of(*process->model))
    trained.weights.push_back(tensor.detach().cpu());
  if (with_graphs) trained.why = process->graphs->why();
  return trained;
}

void expect_near(const Trained& one, const Trained& other) {
  for (size_t i = 0; i < one.records.size(); ++i)
    EXPECT_NEAR(one.records[i].loss, other.records[i].loss, 1e-3) << "step " << i + 1;
}

void expect_equal(const Trained& one, const Trained& other) {
  for (size_t i = 0; i < one.records.size(); ++i) {
    EXPECT_EQ(one.records[i].loss, other.records[i].loss) << "step " << i + 1;
    EXPECT_EQ(one.records[i].gradient_norm, other.records[i].gradient_norm) << "step " << i + 1;
  }
  EXPECT_EQ(one.validations, other.validations);
  for (size_t i = 0; i < one.weights.size(); ++i)
    EXPECT_TRUE(torch::equal(one.weights[i], other.weights[i])) << "tensor " << i;
}

/// Expects a training with graphs, of which a process is killed after so many steps, to learn what
/// one without graphs does. Returns the former.
Trained expect_same_with_graphs(Training training, int killed_after = 5) {
  const auto without = train(training, false);
  training.killed_after = killed_after;
  auto with = train(training, true);
  EXPECT_EQ(with.why, "");
  if (adds_in_any_order(training.model) && !fake_cuda::is_present())
    expect_near(with, without);
  else
    expect_equal(with, without);
  return with;
}

/// Both on a card. The stand-in, on which a pass takes far longer, has one precision a variant in
/// turn.
std::vector<Precision> precisions_of(size_t variant) {
  if (!fake_cuda::is_present()) return {Precision::fp32, Precision::bf16};
  return {variant % 2 == 0 ? Precision::fp32 : Precision::bf16};
}

TEST(PassGraphs, EveryVariantLearnsTheSameBitForBitAcrossAKill) {
  int captured = 0;
  size_t variants = 0;
  for (const auto& [name, variant] : models::variants())
    for (const auto precision : precisions_of(variants++)) {
      const auto options = aligned(variant);
      const auto type = precision == Precision::bf16 ? torch::kBFloat16 : torch::kFloat;
      if (!can_capture(options, type)) continue;
      SCOPED_TRACE(name + (precision == Precision::bf16 ? " in bfloat16" : ""));
      // Two rounds of the batches: of a size of two of them, a graph is replayed before and after.
      expect_same_with_graphs({.model = options, .precision = precision, .steps = 8}, 3);
      ++captured;
    }
  EXPECT_GT(captured, fake_cuda::is_present() ? 50 : 100) << "most variants can be captured";
}

TEST(PassGraphs, DropoutWithinSubLayersLearnsTheSame) {
  for (const auto& position :
       std::vector<models::PositionOptions>{models::Rotary{}, models::Pope{}}) {
    Training training{.model = models::tiny()};
    training.model.layer.attention = models::MultiHead{.heads = 2, .dropout = 0.3};
    training.model.layer.feed_forward = models::DenseFeedForward{.d_hidden = 24, .dropout = 0.3};
    training.model.embedding_dropout = 0.1;
    training.model.layer.position = position;
    expect_same_with_graphs(training);
  }
}

TEST(PassGraphs, AnAverageIsValidatedBetweenReplaysTheSame) {
  for (const auto precision : {Precision::fp32, Precision::bf16}) {
    const auto with =
        expect_same_with_graphs({.model = models::tiny(), .precision = precision, .ema = 0.8});
    EXPECT_EQ(with.validations.size(), 3u);
  }
}

TEST(PassGraphs, ACurvatureFromDrawnTargetsIsLearntBetweenReplaysTheSame) {
  expect_same_with_graphs(
      {.model = models::tiny(), .optimizer = Sophia{}, .accumulate = 2, .curvature_interval = 3});
}

TEST(PassGraphs, FurtherHeadsAndAZLossLearnTheSame) {
  for (const auto family : {models::Family::encoder_decoder, models::Family::decoder_only})
    for (const auto precision : {Precision::fp32, Precision::bf16}) {
      SCOPED_TRACE(precision == Precision::bf16);
      Training training{.model = models::tiny(),
                        .loss = {.smoothing = 0.1, .z = 0.01, .ahead = 0.3},
                        .ahead = 2,
                        .precision = precision};
      training.model.family = family;
      training.model.output = models::LmHead{.ahead = 2};
      expect_same_with_graphs(training);
    }
}

TEST(PassGraphs, GradientsOfSeveralBatchesAreAddedTheSame) {
  const auto expect_same = [](Training training) {
    SCOPED_TRACE(training.accumulate);
    const auto without = train(training, false);
    for (const int killed_after : {0, 4}) {
      training.killed_after = killed_after;
      expect_equal(train(training, true), without);
    }
  };
  for (const size_t accumulate : {2, 3, 4, 7}) {
    Training training{.model = models::tiny(), .accumulate = accumulate, .steps = 6};
    expect_same(training);
    training.precision = Precision::bf16;  // without graphs, weights are cast once an update
    expect_same(training);
  }
  for (const OptimizerOptions& optimizer : std::vector<OptimizerOptions>{
           Sgd{}, AdamW{}, Muon{}, Lion{}, NorMuon{}, Soap{}, ScheduleFree{}})
    expect_same({.model = models::tiny(), .optimizer = optimizer, .accumulate = 3, .steps = 6});
}

TEST(PassGraphs, APassThatReadsFromTheDeviceIsNotCapturedAndLearnsAllTheSame) {
  auto options = models::tiny("feed_forward: {kind: moe, experts: 4, active: 2, d_hidden: 64}");
  EXPECT_FALSE(can_capture(options, torch::kFloat));
  const Training training{.model = options};
  const auto with = train(training, true);
  EXPECT_TRUE(says(with.why, "captur"));
  expect_equal(with, train(training, false));
}

TEST_F(CountedDevice, AnUpdateWithGraphsIsAFewLaunches) {
  auto model = model_of(models::tiny(), torch::kCUDA);
  const auto optimizer = make_optimizer(Adam{}, *model);
  PassGraphs graphs(model, {.smoothing = 0.1});
  const auto batch = batches_for(models::tiny()).front();
  const auto updated = [&](PassGraphs* used) {
    update(model, *optimizer, {&batch, 1},
           {.learning_rate = 1e-3,
            .loss = {.smoothing = 0.1},
            .dropout = 0,
            .dropout_seed = 1,
            .precision = Precision::fp32,
            .graphs = used});
  };
  const auto launches = [&](PassGraphs* used) {
    const auto before = fake_cuda::counts();
    updated(used);
    EXPECT_EQ(fake_cuda::counts().reads - before.reads, 1);
    EXPECT_EQ(fake_cuda::counts().writes - before.writes, 1) << "the batch";
    return fake_cuda::counts().launches - before.launches;
  };
  updated(nullptr);  // makes tables of positions
  graphs.run(batch, 1, {.training = true});
  for (auto& parameter : model->parameters()) parameter.mutable_grad().reset();
  EXPECT_LT(5 * launches(&graphs), launches(nullptr));
}

/// Graphs are limited by number because another one takes hardly any memory besides its batch.
TEST(PassGraphs, KeepTheirBatchAndTheirResultsAloneBesidesTheMemoryThatAllShare) {
  const auto allocated = [] {
    return c10::getDeviceAllocator(torch::kCUDA)->getDeviceStats(0).allocated_bytes[0].current;
  };
  PassGraphs graphs(model_of(models::tiny(), torch::kCUDA), {});
  const auto bytes_of = [&](int64_t length) {
    const std::vector<int32_t> ids(static_cast<size_t>(length), 5);
    const auto batch = batch_of({8, {ids, ids}});
    const auto before = allocated();
    EXPECT_TRUE(graphs.run(batch, 1, {.training = true, .dropout = 0.1}));
    return allocated() - before - 3 * 8 * batch.rows * batch.target_length;
  };
  bytes_of(64);  // with gradients, noise and tables of positions
  EXPECT_LT(bytes_of(60), 8192);
}

TEST_F(CountedDevice, TheGraphThatWasLongestUnusedMakesRoom) {
  auto model = model_of(models::tiny(), torch::kCUDA);
  PassGraphs graphs(model, {});
  const auto launches = [&](size_t size) {
    const std::vector<int32_t> source(1 + size % 12, 5), target(1 + size / 12, 6);
    const auto before = fake_cuda::counts().launches;
    EXPECT_TRUE(graphs.run(batch_of({{source, target}}), 1, {.training = true}));
    return fake_cuda::counts().launches - before;
  };
  for (size_t size = 0; size < PassGraphs::kMost; ++size) launches(size);
  const auto replay = launches(0);
  const auto capture = launches(PassGraphs::kMost);  // in the place of size 1
  EXPECT_LT(5 * replay, capture);
  EXPECT_EQ(launches(0), replay);
  EXPECT_LT(5 * replay, launches(1)) << "captured again";
}

}  // namespace
}  // namespace ablate::training

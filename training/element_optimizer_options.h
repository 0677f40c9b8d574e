#pragma once

#include <string_view>

#include "options/bounds.h"

namespace ablate::training {

// Optimizers that treat every element, or a row of them, by itself: as optimizer_options.h says.

/// Its constants are those of Vaswani et al. 2017, section 5.3.
struct Adam {
  static constexpr std::string_view name = "adam";
  static constexpr std::string_view about =
      "a step by the mean of the gradients, divided by the root of the mean of their squares "
      "(Kingma & Ba 2015, arXiv 1412.6980)";
  static constexpr bool averages = false;
  bool steps_have_one_size() const { return true; }
  bool carries_over_widths() const { return true; }
  double beta1 = 0.9;
  double beta2 = 0.98;
  double epsilon = 1e-9;

  static void fields(auto& o, auto&& visit) {
    visit("beta1", o.beta1, "decay of the first moment", options::from_below(0, 1));
    visit("beta2", o.beta2, "decay of the second moment", options::from_below(0, 1));
    visit("epsilon", o.epsilon, "added to the root of the second moment", options::above(0));
  }
};

/// Grokking needs a decay of 1 (Power et al. 2022).
inline constexpr auto kDecays = options::from(0, 10);

/// An independent decay is a share of the weights.
void decay_rule(const auto& o, auto& require) {
  require(!o.independent_decay || o.weight_decay < 1, "weight_decay",
          "must be below 1 if independent_decay is true: a step at the peak takes this share off");
}

/// The keys of decoupled weight decay: a step subtracts learning rate * decay * weight.
void decoupled_decay_fields(auto& o, auto& visit) {
  visit("weight_decay", o.weight_decay,
        "decoupled decay of weight matrices, embeddings and output, scaled by the schedule's "
        "learning rate without multipliers",
        kDecays);
  visit("cautious_decay", o.cautious_decay,
        "decay only the weights that the step does not move away from zero (Chen et al. 2025)");
  visit("independent_decay", o.independent_decay,
        "scale the decay by the share of the schedule's peak, so that it does not depend on the "
        "peak (Wortsman et al. 2023)");
}

struct AdamW : Adam {
  static constexpr std::string_view name = "adamw";
  static constexpr std::string_view about =
      "Adam with decoupled weight decay, which spares norms and biases (Loshchilov & Hutter 2019, "
      "arXiv 1711.05101)";
  double weight_decay = 0.01;
  bool cautious_decay = false, independent_decay = false;

  static void fields(auto& o, auto&& visit) {
    Adam::fields(o, visit);
    decoupled_decay_fields(o, visit);
  }
  static void rules(const AdamW& o, auto&& require) { decay_rule(o, require); }
};

/// As optax.nadamw writes it: the numerator of a step is the first moment of the next one, as far
/// as it is known.
struct NAdamW : AdamW {
  static constexpr std::string_view name = "nadamw";
  static constexpr std::string_view about =
      "AdamW that looks ahead along its first moment (Dozat 2016, Incorporating Nesterov Momentum "
      "into Adam)";
};

/// Algorithm 2; the elements that stay are scaled up by the share of those that are left out.
struct CautiousAdamW : AdamW {
  static constexpr std::string_view name = "cautious_adamw";
  static constexpr std::string_view about =
      "AdamW without the elements of a step that go against the gradient (Liang et al. 2024, arXiv "
      "2411.16085)";
};

/// Queries and keys have one second moment for each output, too; in the source it is one for each
/// head.
struct AdamMini : AdamW {
  static constexpr std::string_view name = "adam_mini";
  static constexpr std::string_view about =
      "AdamW with one second moment for each output of a matrix, each token and each vector (Zhang "
      "et al. 2024, arXiv 2406.16793)";
};

/// Algorithm 2 in its approximate form, MARS-AdamW: the last gradient is that of the last batch.
struct Mars : AdamW {
  static constexpr std::string_view name = "mars";
  static constexpr std::string_view about =
      "AdamW whose gradients are corrected by how they have changed since the last update (Yuan et "
      "al. 2024, arXiv 2411.10438)";
  double gamma = 0.025;

  static void fields(auto& o, auto&& visit) {
    AdamW::fields(o, visit);
    visit("gamma", o.gamma, "scale of the correction", options::from(0, 1));
  }
  static void rules(const Mars& o, auto&& require) {
    AdamW::rules(o, require);
    require(o.gamma == 0 || o.beta1 > 0, "gamma", "has no effect if beta1 is 0; set it to 0");
  }
};

/// As torch.optim.SGD writes it: v = momentum v + g, and the step is v, or g + momentum v with
/// Nesterov's look-ahead.
struct Sgd {
  static constexpr std::string_view name = "sgd";
  static constexpr std::string_view about =
      "stochastic gradient descent with momentum (Sutskever et al. 2013)";
  static constexpr bool averages = false;
  bool steps_have_one_size() const { return false; }
  bool carries_over_widths() const { return false; }
  double momentum = 0.9;
  bool nesterov = false;
  double weight_decay = 0.0;

  static void fields(auto& o, auto&& visit) {
    visit("momentum", o.momentum, "share of the last step's velocity that is kept; 0: plain SGD",
          options::from_below(0, 1));
    visit("nesterov", o.nesterov, "look ahead along the velocity (Nesterov)");
    visit("weight_decay", o.weight_decay,
          "L2 regularisation: this factor of the weight matrices is added to their gradients",
          kDecays);
  }
  static void rules(const Sgd& o, auto&& require) {
    require(!o.nesterov || o.momentum > 0, "nesterov", "needs momentum");
  }
};

/// Every element moves by exactly the learning rate, which should be 3 to 10 times smaller than
/// Adam's (algorithm 2).
struct Lion {
  static constexpr std::string_view name = "lion";
  static constexpr std::string_view about =
      "the sign of an interpolated momentum, with decoupled weight decay (Chen et al. 2023, arXiv "
      "2302.06675)";
  static constexpr bool averages = false;
  bool steps_have_one_size() const { return true; }
  bool carries_over_widths() const { return true; }
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0.0;
  bool cautious_decay = false, independent_decay = false;

  static void fields(auto& o, auto&& visit) {
    visit("beta1", o.beta1,
          "weight of the momentum, against the gradient, in the direction whose sign is the step",
          options::from_below(0, 1));
    visit("beta2", o.beta2, "decay of the momentum", options::from_below(0, 1));
    decoupled_decay_fields(o, visit);
  }
  static void rules(const Lion& o, auto&& require) { decay_rule(o, require); }
};

/// Algorithm 3, with the Gauss-Newton-Bartlett estimator of algorithm 2: the square of the gradient
/// of the same batches with targets drawn from the model, times their number.
struct Sophia {
  static constexpr std::string_view name = "sophia";
  static constexpr std::string_view about =
      "the mean of the gradients divided by an estimate of the Hessian's diagonal, each element "
      "clipped (Liu et al. 2023, arXiv 2305.14342)";
  static constexpr bool averages = false;
  bool steps_have_one_size() const { return true; }
  bool carries_over_widths() const { return false; }
  double beta1 = 0.96;
  double beta2 = 0.99;
  double gamma = 0.05;
  double epsilon = 1e-12;
  int64_t curvature_interval = 10;
  double weight_decay = 0.0;
  bool cautious_decay = false, independent_decay = false;

  static void fields(auto& o, auto&& visit) {
    visit("beta1", o.beta1, "decay of the mean of the gradients", options::from_below(0, 1));
    visit("beta2", o.beta2, "decay of the mean of the curvatures", options::from_below(0, 1));
    visit("gamma", o.gamma, "factor of the curvature that a step is divided by", options::above(0));
    visit("epsilon", o.epsilon, "least value of this product", options::above(0));
    visit("curvature_interval", o.curvature_interval,
          "updates from one estimate of the curvature to the next; each takes one more pass over "
          "the update's batches",
          options::from(1, 1'000'000));
    decoupled_decay_fields(o, visit);
  }
  static void rules(const Sophia& o, auto&& require) { decay_rule(o, require); }
};

}  // namespace ablate::training

// Compares our packed products with LibTorch's linear, on one thread, for the instruction sets that
// ATEN_CPU_CAPABILITY allows. Prints rows of a Markdown table; bench/products.sh runs it for each
// of them.

#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>

#include "models/ops/linear.h"

namespace ablate {
namespace {

struct Size {
  int64_t rows, width, outputs;
};

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The best of some rounds, each long enough for the clock.
template <class Multiply>
double gigaflops(const Size& size, Multiply&& multiply) {
  const double flops = 2.0 * static_cast<double>(size.rows * size.width * size.outputs);
  const int repeats = std::max(1, static_cast<int>(2e8 / flops));
  double best = 1e9;
  for (int round = 0; round < 30; ++round) {
    const double start = thread_seconds();
    for (int i = 0; i < repeats; ++i) multiply();
    best = std::min(best, (thread_seconds() - start) / repeats);
  }
  return flops / best / 1e9;
}

void print_row(const Size& size) {
  const auto x = torch::randn({size.rows, size.width}),
             w = torch::randn({size.outputs, size.width});
  const auto packed = [&](models::WeightDtype dtype) {
    const auto weight = models::ops::LinearWeight{.dense = w}.prepacked(dtype);
    return gigaflops(size, [&] { models::ops::linear(x, weight, {}); });
  };
  const char* capability = std::getenv("ATEN_CPU_CAPABILITY");
  fmt::print("| {} | {} x {} x {} | {:.0f} | {:.0f} | {:.0f} |\n",
             capability == nullptr ? "all" : capability, size.rows, size.width, size.outputs,
             gigaflops(size, [&] { torch::linear(x, w); }), packed(models::WeightDtype::fp32),
             packed(models::WeightDtype::bf16));
}

}  // namespace
}  // namespace ablate

int main() {
  const torch::NoGradGuard no_grad;
  at::set_num_threads(1);
  for (const auto& size :
       {ablate::Size{64, 256, 256}, ablate::Size{64, 512, 2048}, ablate::Size{64, 256, 8000},
        ablate::Size{10, 512, 512}, ablate::Size{1, 512, 512}})
    ablate::print_row(size);
}

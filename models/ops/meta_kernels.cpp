#include "models/ops/meta_kernels.h"

#include <ATen/ExpandUtils.h>
#include <torch/library.h>

#include <optional>
#include <string_view>
#include <tuple>

#include "models/libtorch.h"

namespace ablate::models::ops {
namespace {

using at::empty_like;
using at::Tensor;
using MaybeTensor = std::optional<Tensor>;

Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index) {
  auto sizes = x.sizes().vec();
  sizes.at(static_cast<size_t>(at::maybe_wrap_dim(dim, x.dim()))) = index.numel();
  return at::empty(sizes, x.options());
}

std::vector<int64_t> sizes_of_where(const Tensor& which, const Tensor& a, const Tensor& b) {
  return at::infer_size(which.sizes(), at::infer_size(a.sizes(), b.sizes()));
}

Tensor where(const Tensor& which, const Tensor& a, const Tensor& b) {
  return at::empty(sizes_of_where(which, a, b), a.options().dtype(at::result_type(a, b)));
}

Tensor& where_out(const Tensor& which, const Tensor& a, const Tensor& b, Tensor& out) {
  out.resize_(sizes_of_where(which, a, b));
  return out;
}

Tensor& like_out(const Tensor& x, Tensor& out) {
  out.resize_(x.sizes());
  return out;
}

Tensor& broadcast_out(const Tensor& a, const Tensor& b, Tensor& out) {
  out.resize_(at::infer_size(a.sizes(), b.sizes()));
  return out;
}

std::tuple<Tensor, Tensor, Tensor> batch_norm(const Tensor& x, const MaybeTensor&,
                                              const MaybeTensor&, const MaybeTensor&,
                                              const MaybeTensor&, bool, double, double) {
  const auto of_channels = at::empty({x.size(1)}, x.options());
  return {empty_like(x), of_channels, of_channels};
}

Tensor searchsorted(const Tensor&, const Tensor& x, bool, bool, std::optional<std::string_view>,
                    const MaybeTensor&) {
  return empty_like(x, at::kLong);
}

void register_all(torch::Library& kernels) {
  kernels.impl("abs.out", like_out);
  kernels.impl("flip", [](const Tensor& x, at::IntArrayRef) { return empty_like(x); });
  kernels.impl("index_select", index_select);
  kernels.impl("linalg_solve_triangular",
               [](const Tensor&, const Tensor& b, bool, bool, bool) { return empty_like(b); });
  kernels.impl("log_sigmoid_forward",
               [](const Tensor& x) { return std::make_tuple(empty_like(x), empty_like(x)); });
  kernels.impl("logical_and.out", broadcast_out);
  kernels.impl("logical_not.out", like_out);
  kernels.impl("max", [](const Tensor& x) { return at::empty({}, x.options()); });
  kernels.impl("native_batch_norm", batch_norm);
  kernels.impl("native_dropout_backward",
               [](const Tensor& x, const Tensor&, double) { return empty_like(x); });
  kernels.impl("relu", [](const Tensor& x) { return empty_like(x); });
  kernels.impl("searchsorted.Tensor", searchsorted);
  kernels.impl("where.self", where);
  kernels.impl("where.self_out", where_out);
}

}  // namespace

void register_meta_kernels() {
  static const auto kernels = [] {
    torch::Library library(torch::Library::IMPL, "aten", c10::DispatchKey::Meta, __FILE__,
                           __LINE__);
    register_all(library);
    return library;
  }();
}

}  // namespace ablate::models::ops

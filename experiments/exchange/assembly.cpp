#include "experiments/exchange/assembly.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace ablate::exchange {

Assembly::Assembly(const training::Tensors& foreign, const Origins& origins,
                   AssemblyOptions options)
    : foreign_(foreign), origins_(origins), options_(std::move(options)) {
  without_prefix_ = std::ranges::none_of(
      foreign_, [&](const auto& item) { return item.first.starts_with(options_.prefix); });
}

std::string Assembly::name_of(const std::string& name) const {
  const bool strips = without_prefix_ && name.starts_with(options_.prefix);
  return strips ? name.substr(options_.prefix.size()) : name;
}

const torch::Tensor* Assembly::given(const std::string& name) const {
  const auto found = foreign_.find(name_of(name));
  return found == foreign_.end() ? nullptr : &found->second;
}

torch::Tensor Assembly::make(const std::string& name, const torch::Tensor& like) {
  const auto found = origins_.find(name);
  const auto origin = found == origins_.end() ? Origin{.names = {name}} : found->second;
  const bool other = !origin.alternative.empty() && given(origin.names.front()) == nullptr;
  std::vector<torch::Tensor> parts;
  for (const auto& one : other ? origin.alternative : origin.names)
    parts.push_back(part(one, origin, name, like));
  const auto joins = [&](const torch::Tensor& one) {
    return one.dim() > 0 && one.dim() == like.dim() &&
           one.sizes().slice(1) == parts[0].sizes().slice(1);
  };
  if (parts.size() > 1 && !std::ranges::all_of(parts, joins)) refuse(parts, origin, name, like);
  const auto whole = parts.size() == 1 ? parts[0] : torch::cat(parts);
  if (whole.sizes() != like.sizes()) refuse(parts, origin, name, like);
  return whole.to(like.scalar_type()).contiguous();
}

const torch::Tensor& Assembly::find(const std::string& part, const std::string& name) {
  const auto own = name_of(part);
  const auto tensor = foreign_.find(own);
  if (tensor == foreign_.end())
    throw training::CheckpointError(
        fmt::format("{}: has no tensor '{}', which '{}' needs", options_.source, own, name));
  used_.insert(own);
  return tensor->second;
}

torch::Tensor Assembly::part(const std::string& part, const Origin& origin, const std::string& name,
                             const torch::Tensor& like) {
  auto x = find(part, name);
  check_type(part, x, name, like);
  if (origin.unsqueeze) {
    if (x.dim() != like.dim() + 1 || x.size(0) != 1) refuse({x}, origin, name, like);
    x = x[0];
  }
  if (origin.transpose && x.dim() != 2) refuse({x}, origin, name, like);
  if (origin.transpose) x = x.t();
  if (x.dim() == 0 || origin.skip > x.size(0)) return x;
  if (origin.skip > 0) x = x.slice(0, origin.skip);
  if (origin.by_head) {
    if (x.size(0) % (3 * options_.heads) != 0) refuse({x}, origin, name, like);
    x = x.unflatten(0, {options_.heads, 3, -1}).transpose(0, 1).flatten(0, 2);
  }
  if (origin.vocabulary && !options_.rows.empty()) x = by_token(x);
  return x;
}

torch::Tensor Assembly::by_token(const torch::Tensor& x) const {
  const auto rows = torch::tensor(options_.rows, torch::kLong);
  auto shape = std::vector<int64_t>(static_cast<size_t>(x.dim()), 1);
  shape[0] = rows.size(0);
  return x.index_select(0, rows.clamp_min(0)).masked_fill(rows.lt(0).view(shape), 0);
}

std::vector<std::string> Assembly::unused() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : foreign_)
    if (!used_.contains(name)) names.push_back(name);
  return names;
}

void Assembly::refuse(const std::vector<torch::Tensor>& parts, const Origin& origin,
                      const std::string& name, const torch::Tensor& like) const {
  std::vector<std::string> given;
  for (size_t i = 0; i < parts.size(); ++i)
    given.push_back(fmt::format("'{}' {}", origin.names[std::min(i, origin.names.size() - 1)],
                                c10::str(parts[i].sizes())));
  throw training::CheckpointError(
      fmt::format("{}: {}{} cannot make '{}', whose shape in this configuration is {}",
                  options_.source, fmt::join(given, " and "),
                  origin.transpose ? ", transposed," : "", name, c10::str(like.sizes())));
}

/// Both must have a floating type, or neither: integers are not weights, and quantised weights need
/// their scales.
void Assembly::check_type(const std::string& part, const torch::Tensor& given,
                          const std::string& name, const torch::Tensor& like) const {
  if (given.is_floating_point() != like.is_floating_point())
    throw training::CheckpointError(fmt::format(
        "{}: '{}' holds numbers of the type {}, and '{}' needs {}", options_.source, part,
        c10::toString(given.scalar_type()), name, c10::toString(like.scalar_type())));
}

}  // namespace ablate::exchange

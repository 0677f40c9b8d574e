#pragma once

#include <string>

#include "models/transformer.h"

namespace ablate::run {

/// The tree of modules with the parameters of each. Every kind of layer is listed once, with the
/// numbers of its layers, from 1 on, and the options in which it differs from the model's.
std::string module_tree(const models::TransformerImpl& model);

}  // namespace ablate::run

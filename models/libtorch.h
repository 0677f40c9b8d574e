#pragma once

// The parts of LibTorch's API that this project uses. torch/torch.h, which brings all of torch::nn,
// costs every file three seconds more even when precompiled.
#include <torch/autograd.h>
#include <torch/cuda.h>
#include <torch/nn/init.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>
#include <torch/utils.h>

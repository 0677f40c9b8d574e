#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ablate::report {

/// A picture of palette colours; row 0 is at the top.
struct Image {
  size_t width = 0, height = 0;
  std::vector<std::array<uint8_t, 3>> palette;  // red, green, blue; at most 256
  std::vector<uint8_t> pixels;                  // width x height numbers of colours, row by row
};

/// The image as a PNG file (ISO/IEC 15948). REQUIRES: width and height are at least 1.
std::string png(const Image& image);

}  // namespace ablate::report

#pragma once

#include <cstddef>
#include <string>

#include "experiments/report/markup.h"

namespace ablate::report {

/// How one arm is drawn everywhere on the page: a colour (Okabe and Ito), and a marker and a dash
/// that together no other of the first 32 arms has. Arm 0 has the colour of the text.
struct Look {
  size_t arm = 0;

  std::string colour_class() const;  // "c0" ...: sets --c
  std::string dashes() const;        // of stroke-dasharray; "none": solid
  size_t marker() const;
};

constexpr size_t kColours = 8, kMarkers = 8, kDashes = 4;

/// The style rules of the colour classes.
std::string colour_rules();

/// A marker around (x, y); `title` is shown where a pointer rests on it.
Markup marker(const Look& look, double x, double y, const std::string& title = "");

/// A short line with its marker, as in a legend.
Markup swatch(const Look& look);

/// A coordinate of a picture.
std::string at(double coordinate);

/// Text in a picture, styled by the class `kind`.
Markup words(double x, double y, const char* kind, const std::string& what);

}  // namespace ablate::report

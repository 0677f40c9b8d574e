#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ablate::experiments {

/// A study that comes with the program.
struct ShippedStudy {
  std::filesystem::path file;
  std::string question;
  std::string time;  // on two cores
};

/// The studies in experiments/studies below the working folder, or else beside the folder of the
/// program; by name. Throws UsageError where there are none.
std::vector<ShippedStudy> shipped_studies();

/// A line for each: file, question, time.
std::string to_text(const std::vector<ShippedStudy>& studies);

}  // namespace ablate::experiments

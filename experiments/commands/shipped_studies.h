#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

namespace ablate::commands {

/// A study that comes with the program.
struct ShippedStudy {
  std::filesystem::path file;
  std::string question;
  std::string time;  // on two cores
};

/// The studies that are installed with the program (experiments/studies in share/ablate beside the
/// folder it lies in), or else experiments/studies below the working folder, or else beside the
/// program's folder; by name. Says of a file that is no study why not, and leaves it out. Throws
/// UsageError where there is no such folder.
std::vector<ShippedStudy> shipped_studies(std::ostream& messages);

/// A line for each: file, question, time.
std::string to_text(const std::vector<ShippedStudy>& studies);

}  // namespace ablate::commands

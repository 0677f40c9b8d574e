#pragma once

#include "tests/experiments/program.h"

namespace ablate::exchange {

inline const std::string kSource = ABLATE_SOURCE;
inline const std::string kPython = kSource + "/.venv/bin/python";

inline bool python_has(const std::string& package) {
  return shell(kPython + " -c 'import " + package + "' 2>&1").code == 0;
}

/// A trained run, to be exported.
class ExportTest : public ProgramTest {
 protected:
  ExportTest() {
    given_runs("runs");
    write_file(folder_ / "lines", "a b c\nb\n\na a d c b a\nc d\n");
  }
  std::string file() const { return (folder_ / "model.pt").string(); }
  Outcome exported(const std::string& more = "") {
    return shell(kProgram + " export " + run("runs").string() + " --to " + file() + " " + more +
                 " 2>&1");
  }
  std::string lines() const { return (folder_ / "lines").string(); }
  std::string translated(int beams) {
    return shell(kProgram + " translate " + run("runs").string() + " --beam " +
                 std::to_string(beams) + " < " + lines())
        .output;
  }
  Outcome verified(const std::string& how = "--trust") {
    return shell(kProgram + " verify " + file() + " " + how + " 2>&1");
  }
  bool left_behind() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      if (entry.path().filename().string().find("model.pt") != std::string::npos) return true;
    return false;
  }
};

}  // namespace ablate::exchange

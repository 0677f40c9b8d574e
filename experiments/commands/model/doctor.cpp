#include <algorithm>
#include <iostream>
#include <memory>
#include <stdexcept>

#include "experiments/commands/model/machine_check.h"
#include "experiments/commands/model/model_commands.h"

namespace ablate::commands {
namespace {

struct DoctorRequest {
  std::string output = "runs";
  bool json = false;
};

void doctor(const DoctorRequest& request) {
  const auto findings = examine(request.output);
  std::cout << (request.json ? to_json_text(findings) : to_text(findings));
  const auto failed = std::ranges::count(findings, Health::fail, &Finding::health);
  if (failed > 0) throw std::runtime_error("this machine cannot run a study; see what failed");
}

}  // namespace

void add_doctor(CLI::App& app) {
  auto request = std::make_shared<DoctorRequest>();
  auto* verb = app.add_subcommand("doctor", "Check that this machine can run studies");
  verb->add_option("--output", request->output, "Folder that runs would be written to")
      ->capture_default_str();
  verb->add_flag("--json", request->json, "Print one JSON list");
  verb->footer("Examples:\n  ablate doctor\n  ablate doctor --output runs --json");
  verb->callback([request] { doctor(*request); });
}

}  // namespace ablate::commands

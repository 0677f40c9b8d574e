#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "experiments/commands/commands.h"
#include "experiments/commands/flags.h"
#include "experiments/errors.h"
#include "experiments/exchange/exchange.h"
#include "experiments/exchange/huggingface/export_huggingface.h"
#include "experiments/exchange/huggingface/import_huggingface.h"
#include "models/weight_dtype.h"
#include "tokenizer/text/digest.h"
#include "training/storage/durable_file.h"

namespace ablate::commands {
namespace {

ABLATE_ENUM(ModelFormat, torchscript, safetensors, huggingface);

struct Words {
  std::string format = "torchscript", dtype = "fp32";
};

void export_run(exchange::ExportRequest request, const Words& words) {
  if (value_of<models::WeightDtype>("--dtype", words.dtype) == models::WeightDtype::bf16)
    request.type = torch::kBFloat16;
  const auto format = value_of<ModelFormat>("--format", words.format);
  if (format == ModelFormat::huggingface) {
    const auto made = exchange::export_huggingface(request);
    std::cerr << fmt::format(
        "{}: as Transformers computes it, log-probabilities differ by at most {:.1e} of the "
        "largest logit\n",
        made.architecture, made.difference);
    for (const auto& note : made.notes) std::cerr << "note: " << note << "\n";
  } else if (format == ModelFormat::safetensors) {
    exchange::export_safetensors(request);
  } else {
    std::cerr << exchange::to_text(exchange::export_torchscript(request, std::cerr))
              << "\nSHA-256: " << tokenizer::sha256(training::read_bytes(request.to)) << "\n";
  }
  std::cerr << "written: " << request.to.string() << "\n";
}

void import_weights(const exchange::ImportRequest& request) {
  if (const auto unused = exchange::import_safetensors(request); unused > 0)
    std::cerr << fmt::format("{} tensors of the file were not asked for\n", unused);
}

void import_model(const exchange::ImportRequest& request) {
  exchange::import_huggingface(request);
  if (const auto unread = exchange::unread_generation(request.from); !unread.empty())
    std::cerr << fmt::format(
        "note: the folder says how its texts are written ({}), and the run decodes as its decoding "
        "says, by greedy search at first\n",
        unread);
}

}  // namespace

void add_export(CLI::App& app) {
  auto request = std::make_shared<exchange::ExportRequest>();
  auto words = std::make_shared<Words>();
  auto* verb = app.add_subcommand(
      "export",
      "Write a run's model as TorchScript, safetensors or for Hugging Face's Transformers");
  verb->add_option("run", request->run, "The run folder")->required();
  verb->add_option("--to", request->to, "The file, or for safetensors and huggingface the folder")
      ->required();
  verb->add_option("--format", words->format, "Format of the files")
      ->type_name(type_of_words(config::choices_of(ModelFormat{})))
      ->capture_default_str();
  verb->add_option("--dtype", words->dtype, "Of the weights")
      ->type_name(type_of_words(config::choices_of(models::WeightDtype{})))
      ->capture_default_str();
  add_checkpoint_flag(*verb, request->checkpoint);
  verb->add_option("--data", request->data,
                   "Folder of relative data paths; absent: as in training");
  verb->footer(
      "A TorchScript file is loaded again and compared with the model before it is kept.\n"
      "Example:\n  ablate export runs/multi30k/text/base/seed-1 --to model.pt");
  verb->callback([request, words, verb] {
    if (words->format != "torchscript")
      check_mode(*verb, {"--format " + words->format,
                         {"run", "--to", "--format", "--dtype", "--checkpoint"}});
    export_run(*request, *words);
  });
}

void add_verify(CLI::App& app) {
  auto request = std::make_shared<exchange::VerifyRequest>();
  auto* verb = app.add_subcommand(
      "verify", "Check an exported TorchScript file: its digest, and its outputs once more");
  verb->add_option("file", request->file, "The file that `ablate export` wrote")->required();
  verb->add_option("--sha256", request->sha256, "The digest that `ablate export` printed")
      ->transform([](const std::string& text) { return CLI::detail::to_lower(text); });
  verb->add_flag("--trust", request->trusted, "Load the file with any digest");
  verb->footer(
      "A TorchScript file is a program, so none of it is loaded without one of these two.\n"
      "Example:\n  ablate verify model.pt --trust");
  verb->callback([request] {
    std::cout << exchange::to_text(exchange::verify_torchscript(*request)) << "\n";
  });
}

void add_import(CLI::App& app) {
  auto request = std::make_shared<exchange::ImportRequest>();
  auto project = std::make_shared<std::string>();
  auto* verb = app.add_subcommand("import", "Make a run folder from safetensors weights");
  verb->add_option("weights", request->from,
                   "A folder of `ablate export --format safetensors`, a safetensors file, or with "
                   "--from the folder of a model of that project")
      ->required();
  verb->add_option("--from", *project, "huggingface: a model of its Transformers, with config.json")
      ->type_name(type_of_words({"huggingface"}));
  verb->add_option("--to", request->to, "The new run folder")->required();
  verb->add_option("--config", request->config, "Resolved configuration; absent: the folder's");
  verb->add_option("--tokenizers", request->tokenizers,
                   "Folder of joint.model, or source.model and target.model, and of a label head's "
                   "labels.txt, each with its SHA-256 beside it (joint.model.sha256); absent: the "
                   "folder's");
  verb->add_option("--names", request->names,
                   "YAML: our name -> name in the file, [names] to put one after the other, or "
                   "{name: ..., transpose: true}");
  verb->footer(
      "Example:\n"
      "  ablate import weights.safetensors --config config.yaml --tokenizers run --names "
      "names.yaml --to runs/imported\n"
      "  ablate import FOLDER --from huggingface --to runs/imported");
  verb->callback([request, project] {
    if (!project->empty() && *project != "huggingface")
      throw UsageError("--from must be huggingface");
    project->empty() ? import_weights(*request) : import_model(*request);
    std::cerr << "written: " << request->to.string() << "\n";
  });
}

}  // namespace ablate::commands

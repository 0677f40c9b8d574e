#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <vector>

namespace ablate::commands {

// The verbs that compute with a model; see commands.h.

void add_train(CLI::App& app);
void add_eval(CLI::App& app);
void add_score(CLI::App& app);
void add_translate(CLI::App& app);
void add_data(CLI::App& app);
void add_data_fetch(CLI::App& data);
void add_inspect(CLI::App& app);
void add_inspect_attention(CLI::App& inspect);
void add_bench(CLI::App& app);
void add_generate(CLI::App& app);
void add_moefy(CLI::App& app);
void add_prune(CLI::App& app);
void add_export(CLI::App& app);
void add_verify(CLI::App& app);
void add_import(CLI::App& app);
void add_doctor(CLI::App& app);

/// Where a file or folder of the source that ships with the program may be: in share/ablate beside
/// the folder that the program lies in, or else beside that folder.
std::vector<std::filesystem::path> shipped_places(const std::filesystem::path& in_source);

}  // namespace ablate::commands

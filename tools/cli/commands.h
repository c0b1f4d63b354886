#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lagtape/core/thread_pool.h"

namespace lagtape::cli {

// One file a command: each adds its options to the tool and runs when it was chosen. They throw what the
// library throws; main turns that into messages and exit codes.
void add_train(CLI::App& tool);
void add_eval(CLI::App& tool);
void add_predict(CLI::App& tool);
void add_inspect(CLI::App& tool);
void add_check(CLI::App& tool);
void add_data(CLI::App& tool);
void add_analyze(CLI::App& tool);
void add_bench(CLI::App& tool);
void add_table(CLI::App& tool);
void add_list(CLI::App& tool);

/// The experiment of a command, with what --set and --seed change.
struct ExperimentArguments {
  std::string file;
  std::vector<std::string> set;
  void add_to(CLI::App& command, const std::string& what = "experiment file (JSON)");
};

/// An option that takes an integer of at least `least`, and nothing that only begins as one.
CLI::Validator integer_from(std::int64_t least);

/// An option that takes a name, of a file or of something else: "" is none.
CLI::Validator not_empty();

/// --threads N, 1 to 1024; all the machine has unless given.
void add_threads(CLI::App& command, int& threads);

/// A command whose options live as long as the tool: `run` is called with them when the command was chosen.
template <class Options, class AddOptions, class Run>
void add_command(CLI::App& tool, const std::string& name, const std::string& about,
                 const AddOptions& add_options, Run run) {
  CLI::App* command = tool.add_subcommand(name, about);
  auto options = std::make_shared<Options>();
  add_options(*command, *options);
  command->callback([options, run] { run(*options); });
}

}  // namespace lagtape::cli

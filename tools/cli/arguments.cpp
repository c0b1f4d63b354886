#include "lagtape/tools/cli/commands.h"

namespace lagtape::cli {

void ExperimentArguments::add_to(CLI::App& command, const std::string& what) {
  command.add_option("EXPERIMENT", file, what)->required();
  command
      .add_option("--set", set, "change a value: /json/pointer=value or train.epochs=3; may be given again")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("KEY=VALUE");
}

void add_threads(CLI::App& command, int& threads) {
  constexpr int kMost = 1024;
  threads = ThreadPool::hardware_threads();
  command.add_option("--threads", threads, "worker threads; no result depends on their number")
      ->check(CLI::Range(1, kMost))
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace lagtape::cli

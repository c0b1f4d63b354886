#include <charconv>

#include "lagtape/core/error.h"
#include "lagtape/tools/cli/commands.h"

namespace lagtape::cli {

void ExperimentArguments::add_to(CLI::App& command, const std::string& what) {
  command.add_option("EXPERIMENT", file, what)->required();
  command
      .add_option("--set", set, "change a value: /json/pointer=value or train.epochs=3; may be given again")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("KEY=VALUE");
}

CLI::Validator integer_from(std::int64_t least) {
  const auto check = [least](const std::string& text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= least) return std::string();
    return text_of("expected an integer >= ", least, " and below 2^63. Got '", text.substr(0, 60), "'.");
  };
  return CLI::Validator(check, "");
}

CLI::Validator not_empty() {
  return CLI::Validator(
      [](const std::string& text) { return text.empty() ? "expected a name. Got ''." : ""; }, "");
}

void add_threads(CLI::App& command, int& threads) {
  constexpr int kMost = 1024;
  threads = ThreadPool::hardware_threads();
  command.add_option("--threads", threads, "worker threads; no result depends on their number")
      ->check(integer_from(1))
      ->check(CLI::Range(1, kMost))
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace lagtape::cli

#include "lagtape/tools/version.h"

#include "lagtape/core/json/json.h"
#include "lagtape/core/simd/level.h"
#include "lagtape/core/thread_pool.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/terminal/print.h"

namespace lagtape::cli {

namespace {

struct VersionArguments {
  bool json = false;
};

void add_options(Options& options, VersionArguments& arguments) {
  options.add("--json", &arguments.json, "print one JSON object");
}

void run(const VersionArguments& arguments) {
  Json levels = Json::array();
  for (const SimdLevel level : supported_levels()) levels.push_back(name_of(level));
  if (arguments.json) {
    const Json found = {{"version", kVersion},
                        {"simd", name_of(best_level())},
                        {"levels", levels},
                        {"threads", ThreadPool::hardware_threads()}};
    return print("{}\n", found.dump(2));
  }
  print("lagtape {}\n", kVersion);
  print("simd     {}\n", name_of(best_level()));
  print("threads  {}\n", ThreadPool::hardware_threads());
}

}  // namespace

Command version_command() {
  return make_command<VersionArguments>(
      "version", "Print the version, the vector instructions in use and the number of threads", add_options,
      run, {{"lagtape version --json", "for scripts"}});
}

}  // namespace lagtape::cli

#include "lagtape/tools/cli/common_options.h"

#include "lagtape/core/thread_pool.h"

namespace lagtape::cli {

void ExperimentArguments::add_to(Options& options, const std::string& about) {
  options.add("EXPERIMENT", &file, about).required();
  options.add("--set", &set, "change a value: /json/pointer=value or train.epochs=3; repeatable")
      .repeatable()
      .called("KEY=VALUE");
}

void add_threads(Options& options, int& threads) {
  threads = ThreadPool::hardware_threads();
  options.add("--threads", &threads, "number of threads; results do not depend on it")
      .at_least(1)
      .between(1, 1024)
      .called("N")
      .show_default();
}

}  // namespace lagtape::cli

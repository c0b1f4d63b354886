#include "lagtape/tools/cli/common_options.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "lagtape/core/error.h"
#include "lagtape/core/simd/level.h"
#include "lagtape/core/thread_pool.h"
#include "lagtape/data/formats/table_file.h"
#include "lagtape/tools/train/catalogue.h"
#include "lagtape/tools/train/run_folder.h"
#include "lagtape/tools/train/source.h"

namespace lagtape::cli {

void ExperimentArguments::add_to(Options& options, const std::string& about) {
  options.add("EXPERIMENT", &file, about).required();
  options.add("--row", &row, "row of an experiment file that has several").not_empty().called("NAME");
  add_set(options, set, "a value");
}

ExperimentFile ExperimentArguments::parse() const {
  namespace fs = std::filesystem;
  std::error_code error;
  if (is_run(file)) {
    refuse_row(file, row);
    const RunFolder run(fs::is_directory(file, error) ? fs::path(file) : fs::path(file).parent_path());
    const std::string known = run.experiment_file().string();
    throw unexpected({file}, Rule::wrong_type,
                     text_of("an experiment file",
                             fs::exists(known, error) ? text_of(", such as that of the run, ", known) : ""));
  }
  if (is_table_file(file))
    throw unexpected({file}, Rule::wrong_type, "an experiment file", {},
                     text_of("`lagtape new ", file, "` writes one for a recording."));
  return parse_experiment_file(file, row);
}

std::vector<std::string> names_in(const std::vector<std::string>& kinds) {
  std::vector<std::string> names;
  for (const CatalogueKind& kind : catalogue()) {
    if (kind.object || (!kinds.empty() && std::ranges::find(kinds, kind.name) == kinds.end())) continue;
    for (const CatalogueEntry& row : kind.entries())
      if (std::ranges::find(names, row.name) == names.end()) names.push_back(row.name);
  }
  return names;
}

void add_set(Options& options, std::vector<std::string>& set, const std::string& what) {
  options.add("--set", &set, text_of("change ", what, ": /json/pointer=value or train.epochs=3; repeatable"))
      .repeatable()
      .suggests([] {
        std::vector<std::string> settings = setting_paths();
        for (std::string& setting : settings) setting += "=";
        return settings;
      })
      .called("KEY=VALUE");
}

void add_threads(Options& options, int& threads) {
  threads = ThreadPool::hardware_threads();
  options.add("--threads", &threads, "number of threads; results do not depend on it")
      .between(1, 1024)
      .called("N")
      .show_default();
  add_simd(options);
}

void add_simd(Options& options) {
  // The choice goes into the environment, so that processes that the command starts compute at the same level.
  const Option::Action choose = [](const std::string& name) {
    level_named(name);
    ::setenv("LAGTAPE_SIMD", name.c_str(), 1);
  };
  options.add("--simd", choose, "vector instructions: generic, avx2, avx512 or neon; by default the best")
      .called("LEVEL");
}

}  // namespace lagtape::cli

#include "lagtape/tools/train/missing_data.h"

#include <filesystem>

#include "lagtape/core/error.h"
#include "lagtape/tools/train/experiment_paths.h"
#include "lagtape/tools/train/experiment_reader.h"

namespace lagtape {

namespace {

/// The setting of the first file or folder that is not there, such as "data.path.1" in a list; else "".
std::string missing_setting(const Json& experiment) {
  std::error_code error;
  for (const auto& [setting, path] : paths_of(experiment))
    if (setting.starts_with("data.") && !std::filesystem::exists(path, error)) return setting;
  return "";
}

}  // namespace

std::string advice_on_missing_data(const Json& experiment) {
  const std::string setting = missing_setting(experiment);
  if (setting.empty()) return "";
  return text_of("If the data have moved, say where they are now: train and analyze by --set ", setting,
                 "=PATH", setting == "data.path" ? ", eval by --data PATH." : ".");
}

void advise_on_missing_data(Experiment& experiment) {
  const std::string advice = advice_on_missing_data(document_of(experiment));
  if (advice.empty()) return;
  for (std::function<Task(ThreadPool&)>* load : {&experiment.data.load, &experiment.data.load_to_score}) {
    *load = [load = *load, advice](ThreadPool& pool) {
      try {
        return load(pool);
      } catch (const InputError& error) {
        throw error.with_hint(advice);
      }
    };
  }
}

}  // namespace lagtape

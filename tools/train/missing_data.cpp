#include "lagtape/tools/train/missing_data.h"

#include <filesystem>

#include "lagtape/cells/models/experiment_paths.h"
#include "lagtape/core/error.h"
#include "lagtape/tools/train/experiment_reader.h"

namespace lagtape {

namespace {

/// The setting of the first file or folder that is not there, such as "data.path.1" in a list; else "".
std::string missing_setting(const Json& experiment) {
  std::string missing;
  for (const char* key : kDataPaths) {
    Json value = at_pointer(experiment, text_of("/data/", key).c_str());
    std::size_t number = 0;
    for_each_path(value, key, [&](const std::string& path) {
      const std::string setting =
          value.is_array() ? text_of("data.", key, ".", number++) : text_of("data.", key);
      std::error_code error;
      if (missing.empty() && !path.empty() && !std::filesystem::exists(path, error)) missing = setting;
      return path;
    });
  }
  return missing;
}

}  // namespace

std::string advice_on_missing_data(const Json& experiment) {
  const std::string setting = missing_setting(experiment);
  if (setting.empty()) return "";
  return text_of("\nIf the data have moved, say where they are now: train and analyze by --set ", setting,
                 "=PATH", setting == "data.path" ? ", eval by --data PATH." : ".");
}

void advise_on_missing_data(Experiment& experiment) {
  const std::string advice = advice_on_missing_data(experiment.document->json);
  if (advice.empty()) return;
  for (std::function<Task(ThreadPool&)>* load : {&experiment.load_task, &experiment.load_to_score}) {
    *load = [load = *load, advice](ThreadPool& pool) {
      try {
        return load(pool);
      } catch (const InputError& error) {
        throw InputError(error.what() + advice);
      }
    };
  }
}

}  // namespace lagtape

#include "lagtape/tools/new/draft.h"

#include <algorithm>
#include <map>

#include "lagtape/core/error.h"
#include "lagtape/data/tasks/registry.h"

namespace lagtape {

namespace fs = std::filesystem;

TaskLoader read_data(const TaskEntry& entry, const Json& data, std::vector<OptionDoc>& options,
                     std::vector<std::string>* missing, bool real_loss) {
  JsonErrors errors;
  JsonReader reader(data, "/data", errors);
  reader.raw("task", "");
  TaskLoader loader = entry.read(reader, {.batch = 16, .every_step = true, .real_loss = real_loss});
  options = reader.documentation();
  if (missing == nullptr) return loader;
  for (const Problem& problem : errors.problems())
    for (const OptionDoc& option : options)
      if (problem.rule == Rule::missing && problem.place.pointer == reader.pointer_to(option.key))
        missing->push_back(option.key);
  return loader;
}

namespace {

/// First values of options that have no default, by their names; any other is the smallest that is allowed.
Json first_value(const OptionDoc& option, const Draft& draft, std::int64_t units) {
  const std::int64_t length = std::max<std::int64_t>(draft.shape.length, 1);
  const std::int64_t lag = draft.season > 0 ? draft.season : std::clamp<std::int64_t>(length / 20, 1, 50);
  const std::map<std::string, Json> known = {{"units", units},
                                             {"path", draft.name},
                                             {"sequence", "sequence"},
                                             {"tau", lag},
                                             {"dt", 0.1},
                                             {"gamma", 2},
                                             {"epsilon", 2},
                                             {"length", std::min<std::int64_t>(length, 65536)},
                                             {"order", 16},
                                             {"theta", length},
                                             {"rate", 0.1},
                                             {"dilations", Json::array({1, 2, 4, 8})},
                                             {"window", 100}};
  if (option.schema.contains("$ref")) return Json{{"cell", "gru"}, {"units", units}};
  const auto found = known.find(option.key);
  if (found != known.end()) return found->second;
  const std::string type = option.schema.value("type", "");
  return type == "string" ? Json(option.key) : type == "array" ? Json::array({option.key}) : Json(1);
}

/// Looks at the files of a task, which alone have some of its shapes.
void look_at_files(Draft& draft, const TaskLoader& loader, const StartingPoint& start) {
  ThreadPool pool(1);
  const Task task =
      loader.load({.base = start.base.empty() ? fs::current_path() : start.base, .seed = 0, .pool = pool});
  draft.shape = task.shape;
  draft.is_known = true;
  draft.has_valid = task.valid->size() > 0;
}

}  // namespace

Json with_required(Json object, const std::vector<OptionDoc>& options, const Draft& draft,
                   std::int64_t units) {
  for (const OptionDoc& option : options)
    if (option.fallback.empty() && !object.contains(option.key))
      object[option.key] = first_value(option, draft, units);
  return object;
}

std::string sentence_of(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text + ".";
}

std::string name_from(const fs::path& file) {
  std::string name = file.stem().string();
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-') c = '_';
  return name.empty() || name[0] == '-' ? "mine" : name.substr(0, 100);
}

std::string path_from(const StartingPoint& start, const fs::path& file) {
  const fs::path base = start.base.empty() ? fs::current_path() : fs::absolute(start.base);
  return fs::absolute(file).lexically_relative(base).string();
}

Draft draft_of_task(const TaskEntry& entry, const StartingPoint& start) {
  if (entry.name == "arrays" && !start.path.empty()) {
    Draft arrays = draft_of_arrays(start.path, start);
    arrays.name = entry.name;
    return arrays;
  }
  Draft draft;
  draft.name = entry.name;
  draft.about = entry.summary;
  std::vector<std::string> missing;
  read_data(entry, Json::object(), draft.data_options, &missing);
  draft.data = {{"task", entry.name}};
  for (const OptionDoc& option : draft.data_options)
    if (std::ranges::find(missing, option.key) != missing.end())
      draft.data[option.key] = first_value(option, draft, 1);
  if (!start.path.empty()) draft.data["path"] = start.path;
  const TaskLoader loader = read_data(entry, draft.data, draft.data_options);
  draft.is_known = loader.shape.has_value();
  draft.needs_loss = !draft.is_known;
  if (loader.shape) draft.shape = *loader.shape;
  if (!draft.is_known && !start.path.empty()) look_at_files(draft, loader, start);
  draft.fresh = loader.fresh;
  for (const OptionDoc& option : draft.data_options)
    if (option.key == "valid") draft.has_valid = draft.has_valid && option.fallback != "0";
  if (!entry.files.empty() && start.path.empty())
    draft.notes.push_back(
        text_of("`lagtape list tasks ", entry.name, "` says where its files are; `path` names them."));
  if (!draft.is_known)
    draft.notes.emplace_back(
        "Its files have the inputs and targets: give --path FOLDER, and lagtape new reads them.");
  return draft;
}

}  // namespace lagtape

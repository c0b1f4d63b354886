#include "lagtape/tools/train/run_folder.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/json/options.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/table/csv.h"
#include "lagtape/tools/train/experiment_paths.h"
#include "lagtape/tools/train/experiment_reader.h"
#include "lagtape/tools/train/files/json_lines.h"
#include "lagtape/tools/version.h"

namespace lagtape {

namespace fs = std::filesystem;

namespace {

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    throw InputError({path.string()}, Rule::not_supported,
                     text_of("cannot make this folder: ", error.message(), "."));
}

std::string content_of(const fs::path& file) {
  return fs::exists(file) ? read_file(file, Links::refused) : std::string();
}

Json json_of(const Evaluation& evaluation) {
  Json json = Json::object();
  for (const auto& [name, value] : evaluation) json[name] = value;
  return json;
}

/// The name of a key's column, in quotes if it is empty: a header may not end in nothing.
std::string column_of(const std::string& key) { return key.empty() ? "\"\"" : csv_cell(key); }

/// The bytes of a table's text before the first such character that is not in quotes.
std::size_t bytes_before(std::string_view text, char end) {
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') is_quoted = !is_quoted;
    if (text[i] == end && !is_quoted) return i;
  }
  return text.size();
}

/// The line of a row below a header; empty when the header lacks one of its keys.
std::string line_of(const Json& row, std::string_view header) {
  std::unordered_map<std::string, const Json*> values;
  for (const auto& [key, value] : row.items()) values.emplace(column_of(key), &value);
  std::string line;
  std::size_t found = 0;
  while (!header.empty()) {
    const std::string key(header.substr(0, bytes_before(header, ',')));
    header.remove_prefix(std::min(key.size() + 1, header.size()));
    if (const auto value = values.find(key); value != values.end()) {
      ++found;
      line +=
          csv_cell(value->second->is_string() ? value->second->get<std::string>() : value->second->dump());
    }
    line += header.empty() ? '\n' : ',';
  }
  return found == row.size() ? line : "";
}

/// The rows of metrics.jsonl, which is `file`. Throws InputError with the number of a line that is no JSON object.
std::vector<Json> parsed_rows(const std::string& rows, const fs::path& file) {
  std::vector<Json> parsed;
  for_each_json_line(rows, file, [&](Json row, const std::string&) { parsed.push_back(std::move(row)); });
  return parsed;
}

/// The rows of metrics.jsonl, which is `file`, as a table, a column for each key that a row has.
std::string table_of(const std::string& rows, const fs::path& file) {
  const std::vector<Json> parsed = parsed_rows(rows, file);
  std::unordered_set<std::string_view> keys;
  std::string header;
  std::size_t values = 0;
  for (const Json& row : parsed) {
    values += row.size();
    for (const auto& [key, value] : row.items())
      if (keys.insert(key).second) header += text_of(header.empty() ? "" : ",", column_of(key));
  }
  constexpr std::size_t kMostEmpty = 1'000'000, kMostForEachValue = 64;
  if (parsed.size() * keys.size() > kMostEmpty + kMostForEachValue * values) {
    throw InputError({file.string()}, Rule::conflict,
                     text_of("its ", parsed.size(), " lines have ", keys.size(),
                             " different keys, expected the same ones in most of them."));
  }
  std::string table = header + "\n";
  for (const Json& row : parsed) table += line_of(row, header);
  return parsed.empty() ? "" : table;
}

/// An experiment without the values that a resumed run may change.
Json essence(const Experiment& experiment) {
  Json json = document_of(experiment);
  if (json.contains("train")) erase_keys(json["train"], kTrainOptions, Effect::course);
  leave_out_reports(json);
  leave_names_of_files(json);  // the files may have moved; how their data are scaled is compared later
  return json;
}

void require_same(const Experiment& before, const Experiment& now, const fs::path& path) {
  Json old_values = essence(before);
  const Json new_values = essence(now);
  // A run that stops at the first such batch has skipped none yet, so it may continue as a run that skips them.
  Json& not_finite = old_values["train"]["not_finite"];
  if (not_finite == "stop") not_finite = new_values["train"]["not_finite"];
  const std::string place = old_values.first_difference(new_values);
  if (place.empty()) return;
  const auto value = [&](const Json& json) {
    const Json* found = json.find_pointer(place);
    return found != nullptr ? shortened(found->dump(), 200) : "nothing";
  };
  throw InputError({path.string()}, Rule::conflict,
                   "a resumed run may differ in epochs, steps, memory, threads, what is reported, not_finite "
                   "\"skip\" and the folders of its files only",
                   text_of(place, " ", value(new_values), ", the run has ", value(old_values)),
                   "For other settings give another folder, by --out; `lagtape train --init` begins with "
                   "this run's weights.");
}

}  // namespace

Json json_of(const RunSummary& summary) {
  Json json = {{"name", summary.name},
               {"seed", summary.seed},
               {"version", kVersion},
               {"arithmetic", kArithmetic},
               {"params", summary.params},
               {"best_epoch", summary.best_epoch},
               {"best_step", summary.best_step},
               {"valid", json_of(summary.valid)},
               {"test", json_of(summary.test)},
               {"skipped", summary.skipped},
               {"seconds", summary.seconds},
               {"us_per_step", summary.us_per_step},
               {"peak_rss_bytes", summary.peak_rss_bytes},
               {"plan", summary.plan},
               {"plan_bytes", summary.plan_bytes}};
  if (const auto& begun = summary.average_begun)
    json["average"] = {
        {"begun_epoch", begun->epoch}, {"begun_step", begun->step}, {"updates", summary.averaged}};
  if (summary.stopped_early) json["stopped_early"] = true;
  return json;
}

bool RunFolder::can_resume() const { return fs::exists(checkpoint_file()); }

void RunFolder::check(const Experiment& experiment, bool resume) const {
  std::error_code error;
  const fs::file_status status = fs::status(path_, error);
  if (fs::exists(status) && !resume) {
    throw InputError({path_.string()}, Rule::exists, "exists already.");
  }
  for (fs::path above = path_; !above.empty(); above = above.parent_path()) {
    const fs::file_status found = fs::status(above, error);
    if (fs::exists(found) && !fs::is_directory(found)) {
      throw InputError({path_.string()}, Rule::cannot_write,
                       text_of("cannot be made, ", above.string(), " is not a folder."));
    }
    if (fs::exists(found) || above == above.parent_path()) break;
  }
  if (can_resume()) {
    refuse_links();
    const std::string text = read_file(experiment_file(), Links::refused);
    const Experiment before = parse_experiment(text, experiment_file().string(), fs::absolute(path_));
    require_same(before, experiment, path_);
  } else if (fs::exists(weights_file())) {
    throw InputError({path_.string()}, Rule::missing, "has weights but no checkpoint to resume from.");
  }
}

FolderLock RunFolder::lock() const {
  if (std::optional<FolderLock> lock = FolderLock::at_once(path_)) return std::move(*lock);
  throw InputError({path_.string()}, Rule::in_use, "is in use, another training writes there.");
}

void RunFolder::refuse_links() const {
  for (const fs::path& file : {experiment_file(), metrics_file(), table_file(), weights_file(),
                               checkpoint_file().parent_path(), checkpoint_file(), summary_file()})
    refuse_link(file);
}

void RunFolder::remove_temporaries() const {
  for (const fs::path& file :
       {experiment_file(), metrics_file(), table_file(), weights_file(), checkpoint_file(), summary_file()})
    remove_temporaries_of(file);
}

FolderLock RunFolder::begin(const Experiment& experiment, const Trainer& trainer) const {
  refuse_link(checkpoint_file().parent_path());
  make_folder(path_ / "checkpoint");
  FolderLock held = lock();
  refuse_links();
  if (can_resume() || fs::exists(weights_file())) {
    throw InputError({path_.string()}, Rule::exists, "another training has begun there in the meantime.");
  }
  remove_temporaries();
  write(experiment);
  write_file_atomically(metrics_file(), "", Links::refused);
  save(trainer);
  return held;
}

FolderLock RunFolder::resume(const Experiment& experiment, Trainer& trainer) const {
  FolderLock held = lock();
  refuse_links();
  TensorReader reader(read_safetensors(checkpoint_file()), checkpoint_file().string());
  const auto length = reader.metadata().find("metrics_bytes");
  std::int64_t bytes = -1;
  if (length != reader.metadata().end()) {
    std::from_chars(length->second.data(), length->second.data() + length->second.size(), bytes);
  }
  if (bytes < 0)
    throw InputError({checkpoint_file().string()}, Rule::damaged,
                     text_of("is no checkpoint",
                             reader.metadata().contains("format") ? " but weights, which --init takes" : "",
                             "; it does not say how long metrics.jsonl was."));
  const auto trained = reader.metadata().find("experiment");
  if (trained == reader.metadata().end())
    throw InputError({checkpoint_file().string()}, Rule::damaged, "does not say which experiment it is of.");
  // The stored experiment is read again, so that options that are newer than the run get their defaults.
  const Experiment before =
      parse_experiment(trained->second, checkpoint_file().string(), fs::absolute(path_));
  require_same(before, experiment, checkpoint_file());
  std::string rows = content_of(metrics_file()).substr(0, static_cast<std::size_t>(bytes));
  rows.resize(rows.rfind('\n') + 1);
  const std::string table = table_of(rows, metrics_file());
  try {
    trainer.unpack(reader);
  } catch (const InputError& error) {
    throw error.problems().front().place.file.empty() ? error.within({checkpoint_file().string()}) : error;
  }
  remove_temporaries();
  if (!trainer.is_finished()) remove(summary_file());  // it is the summary of the shorter run
  write_file_atomically(metrics_file(), rows, Links::refused);
  write_file_atomically(table_file(), table, Links::refused);
  write(experiment);
  return held;
}

Json json_of(const EvaluationReport& report) {
  Json row = {
      {"epoch", report.position.epoch}, {"step", report.position.step}, {"train_loss", report.train_loss}};
  for (const auto& [name, value] : report.valid) row["valid_" + name] = value;
  for (const auto& [name, value] : report.test) row["test_" + name] = value;
  for (const auto& [name, value] : report.weight_norms) row["norm_" + name] = value;
  row["lr"] = report.lr;
  row["seconds"] = report.seconds;
  if (report.skipped > 0) row["skipped"] = report.skipped;
  if (report.averaged > 0) row["averaged"] = report.averaged;
  if (report.average_begins) row["average_begins"] = true;
  return row;
}

MetricsPosition metrics_position(const Json& row, const std::string& where) {
  MetricsPosition position;
  JsonErrors errors;
  JsonReader reader(row, "", errors);
  reader.optional("epoch", position.epoch, {}, "number of passes over the training set");
  reader.optional("step", position.step, {}, "number of updates");
  errors.raise(where);
  return position;
}

void RunFolder::append(const EvaluationReport& report) const {
  const Json row = json_of(report);
  append_to_file(metrics_file(), row.dump() + "\n");
  const std::string table = content_of(table_file());
  const std::string line = line_of(row, table.substr(0, bytes_before(table, '\n')));
  if (line.empty()) {
    write_file_atomically(table_file(), table_of(content_of(metrics_file()), metrics_file()), Links::refused);
  } else {
    append_to_file(table_file(), line);
  }
}

void RunFolder::save(const Trainer& trainer) const {
  SafetensorsFile file = trainer.pack();
  file.metadata["metrics_bytes"] = std::to_string(fs::file_size(metrics_file()));
  refuse_link(checkpoint_file());
  write_safetensors(checkpoint_file(), file);
}

void RunFolder::save_weights(const Model& model) const {
  refuse_link(weights_file());
  model.save(weights_file());
}

void RunFolder::write(const Experiment& experiment) const {
  const Json document = with_relative_paths(document_of(experiment), path_);
  write_file_atomically(experiment_file(), document.dump(2) + "\n", Links::refused);
}

void RunFolder::write(const Experiment& experiment, const Model& model) const {
  make_folder(path_);
  save_weights(model);
  write(experiment);
}

void RunFolder::write(const RunSummary& summary) const {
  write_file_atomically(summary_file(), json_of(summary).dump(2) + "\n", Links::refused);
}

}  // namespace lagtape

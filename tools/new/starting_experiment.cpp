#include "lagtape/tools/new/starting_experiment.h"

#include <exception>

#include "lagtape/cells/registry.h"
#include "lagtape/core/error.h"
#include "lagtape/core/io/ending.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/series/read_panel.h"
#include "lagtape/data/tasks/registry.h"
#include "lagtape/tools/new/commented_json.h"
#include "lagtape/tools/new/draft.h"
#include "lagtape/tools/train/experiment.h"
#include "lagtape/tools/train/experiment_check.h"

namespace lagtape {

namespace {

namespace fs = std::filesystem;

Json layers_of(const Draft& draft, const LayerEntry& cell, std::int64_t units, bool widened) {
  Json layers = Json::array();
  if (draft.shape.tokens > 0) {
    for (const LayerEntry& entry : sequence_layers())
      if (entry.takes_tokens) layers.push_back({{"layer", entry.name}, {"units", units}});
  }
  if (widened) layers.push_back({{"layer", "linear"}, {"units", units}});
  layers.push_back(with_required({{"cell", cell.name}}, options_of(cell), draft, units));
  return layers;
}

/// Comments from the options' own documentation, up to the first point at which it continues.
void add_comments(CommentedJson& text, const std::string& pointer, const std::vector<OptionDoc>& options) {
  for (const OptionDoc& option : options) {
    const std::string about = option.about.substr(0, option.about.find_first_of(";:"));
    if (!about.empty() && about.size() <= 90) text.behind(pointer + "/" + option.key, about);
  }
}

std::string text_of_draft(const Draft& draft, const LayerEntry& cell, std::int64_t units, bool widened) {
  const bool classes = draft.shape.classes > 0 || !draft.is_known;
  Json train = draft.fresh ? Json{{"steps", 2000}, {"evaluate_every", 100}, {"batch", 32}}
                           : Json{{"epochs", 100}, {"batch", 16}};
  if (draft.has_valid && !draft.fresh) train["patience"] = 20;
  train["clip"] = 1;
  Json experiment = {
      {"name", draft.data.value("task", "") == draft.name ? text_of(draft.name, "-", cell.name) : draft.name},
      {"data", draft.data},
      {"model", {{"layers", layers_of(draft, cell, units, widened)}}}};
  if (draft.shape.every_step) experiment["model"]["readout"] = {{"at", "every_step"}};
  if (draft.needs_loss) experiment["loss"] = classes ? "cross_entropy" : "mse";
  // Several targets may have several units, and an rmse over all of them would be a mixture.
  const bool has_units = !classes && draft.shape.output > 1, is_panel = draft.data.contains("series");
  experiment["metrics"] = is_panel    ? Json::array({"mase"})
                          : has_units ? Json::array()
                                      : Json::array({classes ? "accuracy" : "rmse"});
  experiment["optimizer"] = {{"type", "adam"}, {"lr", units <= 32 ? 0.01 : 0.003}};
  experiment["train"] = train;

  CommentedJson text(experiment);
  text.before("", text_of("A first experiment: ", draft.name, ", by the cell ", cell.name, "."));
  text.before(
      "",
      "lagtape check FILE looks at the file and its data, lagtape train FILE trains it, and lagtape inspect");
  text.before("", "FILE prints every option with its default.");
  text.before("/data", sentence_of(draft.about));
  for (const std::string& note : draft.notes) text.before("/data", note);
  text.before("/data", text_of("All options: lagtape list tasks ", draft.data["task"].get<std::string>()));
  add_comments(text, "/data", draft.data_options);
  text.before("/model", sentence_of(std::string(cell.summary)));
  text.before("/model", text_of("All options: lagtape list cells ", cell.name));
  if (draft.shape.every_step) text.behind("/model/readout", "an answer at every step");
  text.before("/metrics",
              text_of("The loss is ", classes ? "cross_entropy" : "mse",
                      has_units && !is_panel ? " of the scaled targets, and decides which state is kept."
                                             : "; these are reported beside it."));
  if (is_panel)
    text.before("/metrics",
                "Errors in relation to those of the seasonal naive forecast: each series counts alike.");
  if (has_units && !is_panel)
    text.before("/metrics",
                "An \"rmse\" is of all targets in their units, so that the largest numbers decide.");
  text.before("/optimizer", "Try the rate first: 3 times as large, 3 times as small (lagtape search).");
  if (train.contains("patience"))
    text.behind("/train/patience", "epochs without a new best on the validation set, then it ends");
  if (train.contains("epochs")) text.behind("/train/epochs", "at most");
  if (train.contains("steps")) text.behind("/train/steps", "updates, each on new sequences");
  text.behind("/train/clip", "largest norm of the gradients");
  return text.str();
}

/// Drafts for rows of which many are missing: what is between the gaps may be too short for windows, and the rows of each of several
/// series too few to show their frequency.
std::vector<Draft> with_gaps(const Draft& draft) {
  std::vector<Draft> drafts;
  const auto joined = [](Draft one) {
    one.data["across_gaps"] = true;
    one.notes.emplace_back(
        "Windows reach over missing rows (across_gaps), because too few rows follow each other without a "
        "gap.");
    return one;
  };
  const auto add = [&](const std::string& frequency, const std::string& note) {
    Draft one = draft;
    one.data["frequency"] = frequency;
    one.notes.push_back(note);
    drafts.push_back(one);
    drafts.push_back(joined(std::move(one)));
  };
  if (draft.has_gaps) drafts.push_back(joined(draft));
  if (!draft.frequency.empty())
    add(draft.frequency, text_of("Rows of one series are rare: the frequency is that of all rows together, ",
                                 draft.frequency, "."));
  if (draft.is_uneven)
    add("any",
        "Rows are not evenly apart: each is a step, however long (frequency). A forecast has their usual "
        "distance.");
  return drafts;
}

}  // namespace

std::string starting_experiment(const StartingPoint& start) {
  for (const std::string& path : {start.data, start.path})
    if (!is_utf8(path))
      throw InputError({.item = quote(path)}, Rule::wrong_type, "JSON cannot hold a path that is not UTF-8.");
  const LayerEntry* cell = find_named(cells(), start.cell);
  if (cell == nullptr) throw InputError(unknown_name("cell", start.cell, names_of(cells())));
  const TaskEntry* task = find_named(tasks(), start.data);
  if (task == nullptr && !is_pattern(start.data) && !fs::exists(start.data)) {
    if (start.data.find_first_of("./") != std::string::npos)  // in the name of no task
      throw InputError({start.data}, Rule::missing, "there is no such file.");
    throw InputError(unknown_name("task or file", start.data, names_of(tasks())));
  }
  Draft draft = task != nullptr                   ? draft_of_task(*task, start)
                : ending_of(start.data) == ".npz" ? draft_of_arrays(start.data, start)
                                                  : draft_of_recording(start);
  const bool simple = draft.shape.tokens == 0 && draft.shape.classes == 0;
  const std::int64_t units = start.units > 0 ? start.units : simple ? 32 : 64;
  const fs::path base = start.base.empty() ? fs::current_path() : start.base;
  const auto read = [&](const std::string& text) {
    return parse_experiment(text, "the new experiment", base);
  };
  std::string text = text_of_draft(draft, *cell, units, false);
  std::optional<Experiment> experiment;
  bool is_widened = false;
  try {
    experiment = read(text);
  } catch (const InputError&) {
    // Some cells need an input as wide as they are.
    const std::string widened = text_of_draft(draft, *cell, units, true);
    try {
      experiment = read(widened);
      text = widened;
      is_widened = true;
    } catch (const InputError&) {
      read(text);
    }
  }
  if (task != nullptr) return text;
  ThreadPool pool(1);
  double left_out = 1;
  std::exception_ptr problem;
  try {
    left_out = check_experiment(*experiment, pool).left_out;
  } catch (const InputError&) {
    problem = std::current_exception();
  }
  constexpr double kMostLeftOut = 0.25;  // series that windows without a gap may lack
  if (left_out <= kMostLeftOut) return text;
  for (const Draft& one : with_gaps(draft)) try {
      std::string other = text_of_draft(one, *cell, units, is_widened);
      if (check_experiment(read(other), pool).left_out < left_out) return other;
    } catch (const InputError&) {
      // It is not valid either.
    }
  if (problem) std::rethrow_exception(problem);
  return text;
}

}  // namespace lagtape

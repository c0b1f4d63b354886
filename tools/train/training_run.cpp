#include "lagtape/tools/train/training_run.h"

#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "lagtape/core/error.h"
#include "lagtape/core/hash.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/json/json.h"
#include "lagtape/core/plain_arithmetic.h"
#include "lagtape/core/simd/level.h"
#include "lagtape/tools/train/files/event_file.h"
#include "lagtape/tools/train/plan_choice.h"
#include "lagtape/tools/train/rank_work.h"
#include "lagtape/tools/version.h"

namespace lagtape {

namespace {

/// Writes the kept weights as a file and leaves the model as it was.
void save_kept(const RunFolder& folder, Trainer& trainer, Model& model) {
  const std::vector<Tensor> current = copy_values(model.parameters());
  trainer.load_kept();
  folder.save_weights(model);
  assign_values(model.parameters(), current);
}

FolderLock resume(const RunFolder& folder, const Experiment& experiment, Trainer& trainer, Model& model) {
  FolderLock lock = folder.resume(experiment, trainer);
  if (trainer.state().kept) save_kept(folder, trainer, model);
  return lock;
}

/// What has to be the same on all ranks, so that their sums are those of one process.
std::vector<std::pair<std::string, std::uint64_t>> facts_of(const Experiment& experiment,
                                                            const Trainer& trainer, const Model& model) {
  Json settings = Json::parse(experiment.json());
  settings.erase("name");
  settings.erase("data");  // paths may differ; the data's fingerprint does not
  if (settings.contains("train")) settings["train"].erase("init");
  std::uint64_t weights = 0;
  for (const Parameter& parameter : model.parameters())
    weights = hash_of_words(
        {static_cast<const char*>(parameter.value.raw()),
         static_cast<std::size_t>(parameter.value.numel()) * byte_size(parameter.value.dtype())},
        weights);
  return {{"version", fnv1a(text_of(kVersion, ' ', kArithmetic))},
          {"kind of processor", best_level() == SimdLevel::generic ? 1U : 0U},
          {"experiment", fnv1a(settings.dump())},
          {"training set", trainer.fingerprint()},
          {"set of first weights", weights}};
}

/// A path quoted as one word of a shell command.
std::string in_shell(const std::string& path) {
  const auto harmless = [](unsigned char c) {
    return std::isalnum(c) || std::string_view("/._-+=:,").find(static_cast<char>(c)) != std::string::npos;
  };
  if (std::all_of(path.begin(), path.end(), harmless)) return path;
  std::string quoted;
  for (const char c : path) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text_of("'", quoted, "'");
}

/// Whether this process writes the run's files.
bool writes(const RunOptions& options) {
  return !options.folder.empty() && RankWork(options.ranks).is_first();
}

TrainerHooks hooks_of(const RunOptions& options, const RunFolder& folder, const Trainer& trainer,
                      const Model& model) {
  TrainerHooks hooks = options.hooks;
  const RankWork ranks(options.ranks);
  if (options.hooks.stop_requested)
    hooks.stop_requested = [=, asked = options.hooks.stop_requested] { return ranks.agreed(asked()); };
  if (options.hooks.is_enough)
    hooks.is_enough = [=, asked = options.hooks.is_enough] { return ranks.agreed(asked()); };
  if (!writes(options)) return hooks;
  std::optional<EventFile> events;
  if (options.tensorboard) events.emplace(folder.path(), read_file(folder.metrics_file()));
  hooks.evaluated = [&, events](const EvaluationReport& report) {
    folder.append(report);
    if (events) events->append(json_of(report));
    if (report.kept) folder.save_weights(model);
    if (options.hooks.evaluated) options.hooks.evaluated(report);
  };
  hooks.save = [&] {
    folder.save(trainer);
    if (options.hooks.save) options.hooks.save();
  };
  return hooks;
}

RunSummary summarize(const Experiment& experiment, const Trainer& trainer, const Model& model,
                     Evaluation test) {
  const TrainingState& state = trainer.state();
  return {.name = experiment.name,
          .seed = experiment.seed,
          .params = model.parameters().count(),
          .best_epoch = state.kept->position.epoch,
          .best_step = state.kept->position.step,
          .valid = state.kept->valid,
          .test = std::move(test),
          .average_begun = state.average.begun,
          .averaged = state.kept->averaged,
          .skipped = state.skipped_in_all,
          .stopped_early = trainer.has_stopped_early(),
          .seconds = state.seconds,
          .us_per_step = 1e6 * state.training_seconds / state.time_steps,
          .peak_rss_bytes = peak_rss_bytes(),
          .plan = std::string(name_of(trainer.plan().plan)),
          .plan_bytes = trainer.plan().bytes};
}

}  // namespace

std::int64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

RunSummary train_run(const Experiment& given, const RunOptions& options) {
  const PlainArithmetic plain;
  const RunFolder folder(options.folder);
  const RankWork ranks(options.ranks);
  const bool has_folder = !options.folder.empty();
  if (has_folder) ranks.on_first([&] { folder.check(given, options.resume); });
  ThreadPool pool(options.threads);
  TrainingSetup setup = set_up(given, pool);
  const Experiment& experiment = setup.experiment;
  Model& model = setup.model;
  if (options.sized) options.sized(training_cost(experiment, model));
  model.draw(experiment.seed);
  const bool resumes = has_folder && ranks.agreed(folder.can_resume());
  if (!resumes) start_from_files(setup, pool);
  Trainer trainer(experiment, setup.task, model, pool, options.ranks);
  if (options.ranks != nullptr) ranks.check_alike(facts_of(experiment, trainer, model));
  if (options.built) options.built(trainer, setup);
  std::optional<FolderLock> lock;
  if (has_folder)
    ranks.on_first([&] {
      lock.emplace(resumes ? resume(folder, experiment, trainer, model) : folder.begin(experiment, trainer));
    });
  if (resumes) ranks.share_state(trainer);
  if (resumes && options.resumed) options.resumed(trainer);
  try {
    const TrainerHooks hooks = hooks_of(options, folder, trainer, model);
    trainer.run(hooks);
    trainer.load_kept();
    if (model.definition().rest) {
      model.settle(*model.definition().rest);
      if (writes(options)) folder.save_weights(model);
      trainer.op() = model_op(experiment, model, options.ranks);  // the test begins where the model now does
    }
    const RunSummary summary = summarize(experiment, trainer, model,
                                         evaluate(experiment, model, trainer.op(), *setup.task.test, pool,
                                                  {.stop_requested = hooks.stop_requested}));
    if (writes(options)) folder.write(summary);
    if (options.trained) options.trained(std::move(model));
    return summary;
  } catch (const DivergenceError& error) {
    if (!has_folder) throw;
    if (writes(options) && !trainer.state().kept) folder.save_weights(model);
    throw DivergenceError(
        text_of(error.what(), ". The last good state is kept in ", folder.path().string(), "."));
  } catch (const Interrupted& error) {
    if (!has_folder) throw;
    const std::string command = text_of("lagtape train ", in_shell(folder.path().string()), " --resume");
    throw Interrupted(text_of(error.what(), "; saved in ", folder.path().string(), ". Go on with: ",
                              options.how_to_go_on.empty() ? command : options.how_to_go_on));
  }
}

}  // namespace lagtape

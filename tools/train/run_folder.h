#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "lagtape/cells/models/model.h"
#include "lagtape/core/io/folder_lock.h"
#include "lagtape/tools/train/experiment.h"
#include "lagtape/tools/train/trainer.h"

namespace lagtape {

class Json;

/// A summary of a finished run.
struct RunSummary {
  std::string name;
  std::uint64_t seed = 0;
  std::int64_t params = 0;
  std::int64_t best_epoch = 0, best_step = 0;  ///< when the kept weights were reached
  Evaluation valid, test;                      ///< metrics of the kept weights
  std::optional<TrainingPosition> average_begun = {};
  std::int64_t averaged = 0;   ///< number of updates over which the kept weights are averaged; 0: no average
  std::int64_t skipped = 0;    ///< number of skipped updates
  bool stopped_early = false;  ///< no new best on valid for as long as the experiment allows
  double seconds = 0;          ///< duration of the run, excluding interruptions
  double us_per_step = 0;      ///< microseconds per time step of a batch in training, including its update
  std::int64_t peak_rss_bytes = 0;
  std::string plan;
  std::int64_t plan_bytes = 0;
};

/// The content of summary.json.
Json json_of(const RunSummary& summary);

/// An evaluation as a line of metrics.jsonl.
Json json_of(const EvaluationReport& report);

/// The position of training at a line of metrics.jsonl.
struct MetricsPosition {
  double epoch = 0, step = 0;
};
/// The position of a line, 0 if it has none. Throws InputError "WHERE: /epoch: ..." for anything but a number.
MetricsPosition metrics_position(const Json& row, const std::string& where);

/// The files of a run:
///   experiment.json  metrics.jsonl  metrics.csv  weights.safetensors  checkpoint/state.safetensors  summary.json
/// The last one appears when the run has finished. Every file but the metrics is replaced as a whole, so a
/// killed run leaves either the old or the new one; the metrics grow line by line, and a kill can truncate the
/// last line. A resumed run needs only the checkpoint, which also says how long metrics.jsonl was: lines of
/// repeated work, and a truncated line, are removed, and metrics.csv is made from the others. None of the files
/// may be a link: the folder may be a stranger's. The paths in experiment.json are relative to the folder;
/// those in the checkpoint are absolute.
class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path experiment_file() const { return path_ / "experiment.json"; }
  std::filesystem::path metrics_file() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path table_file() const { return path_ / "metrics.csv"; }
  std::filesystem::path weights_file() const { return path_ / "weights.safetensors"; }
  std::filesystem::path checkpoint_file() const { return path_ / "checkpoint" / "state.safetensors"; }
  std::filesystem::path summary_file() const { return path_ / "summary.json"; }

  bool can_resume() const;  ///< Whether there is a checkpoint.

  /// Throws InputError if a run cannot start here: the path exists (unless `resume`), lies below a file,
  /// contains weights without a checkpoint, or the run there is of another experiment (it may differ only in
  /// epochs and steps).
  void check(const Experiment& experiment, bool resume) const;

  /// Creates the folder with the experiment and the checkpoint of the untrained state, and keeps other training
  /// runs out of it while the lock lives. Throws InputError, including for another training run there, now or
  /// since `check`.
  FolderLock begin(const Experiment& experiment, const Trainer& trainer) const;
  /// Restores trainer, metrics and experiment from the checkpoint. Throws InputError for a checkpoint that is
  /// damaged or belongs to another experiment, or if the run cannot become this long. Locks as `begin` does.
  FolderLock resume(const Experiment& experiment, Trainer& trainer) const;

  /// Creates the folder of a run whose weights come from elsewhere: only experiment and weights.
  void write(const Experiment& experiment, const Model& model) const;

  void append(const EvaluationReport& report) const;
  void save(const Trainer& trainer) const;
  void save_weights(const Model& model) const;
  void write(const RunSummary& summary) const;

 private:
  FolderLock lock() const;
  void write(const Experiment& experiment) const;
  void refuse_links() const;
  void remove_temporaries() const;

  std::filesystem::path path_;
};

}  // namespace lagtape

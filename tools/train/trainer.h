#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/cells/models/model_op.h"
#include "lagtape/data/batches.h"
#include "lagtape/tools/train/evaluation.h"
#include "lagtape/tools/train/experiment.h"
#include "lagtape/tools/train/training_state.h"
#include "lagtape/tools/train/update_step.h"

namespace lagtape {

class Ridge;

struct StepReport {
  TrainingPosition position;
  std::int64_t steps = 0;  ///< number of steps in the whole run
  double loss = 0;
  double share = 0;  ///< fraction of the next step that is already done
};

struct EvaluationReport {
  TrainingPosition position;
  /// Mean loss of the sequences trained on since the previous evaluation, excluding non-finite losses.
  double train_loss = 0;
  Evaluation valid;
  Evaluation test;           ///< empty unless requested by the experiment (TrainOptions::evaluate_test)
  double lr = 0;             ///< learning rate of the last update
  double seconds = 0;        ///< duration of the run so far, excluding interruptions
  std::int64_t skipped = 0;  ///< number of updates skipped since the previous evaluation
  bool kept = false;         ///< whether this is the best state so far
  /// The number of updates over which the evaluated weights are averaged; 0: no average, the last weights.
  std::int64_t averaged = 0;
  bool average_begins = false;  ///< averaging of the weights starts with the next update
  /// The name and 2-norm of each evaluated parameter; empty unless requested by the experiment
  /// (TrainOptions::weight_norms).
  std::vector<std::pair<std::string, double>> weight_norms;
};

/// Functions that a trainer calls while it works. Any may be empty.
struct TrainerHooks {
  std::function<void(const StepReport&)> stepped = {};
  /// With truncated BPTT: after each segment of a step except the last.
  std::function<void(const StepReport&)> within_step = {};
  std::function<void(const EvaluationReport&)> evaluated = {};
  /// Called when the state is worth saving: after each evaluation, after `save_interval` seconds, and before
  /// Interrupted; with truncated BPTT, between two segments too.
  std::function<void()> save = {};
  std::function<bool()> stop_requested = {};
  /// Called after each evaluation: returns whether training ends here, as if that were its length.
  std::function<bool()> is_enough = {};
  double save_interval = 30;
};

/// Trains a model as its experiment specifies: batches in the seed's order, valid evaluated after each epoch
/// (for a fresh set: after the first step, after every `evaluate_every` more, and after the last), the best
/// state kept. Equal later states do not replace it; without valid the last state is kept. Once averaging of
/// the weights has started, evaluations use the average and it is kept, while updates continue from the weights
/// themselves. The outcome depends only on experiment and data: threads, saving and resuming change no bit of
/// it.
class Trainer {
 public:
  /// All but the hooks must outlive the trainer. The task's normalization becomes the model's. If ranks share
  /// the batches, each of them has such a trainer. Throws InputError if the memory budget cannot be met, or the
  /// data do not fit the loss.
  Trainer(const Experiment& experiment, const Task& task, Model& model, ThreadPool& pool,
          Ranks* ranks = nullptr);

  /// Trains to the end, from the start or from a restored state. Throws DivergenceError with the epoch, the
  /// step and the first non-finite tensor (the model then holds the parameters from before that update), and
  /// Interrupted if a stop was requested.
  void run(const TrainerHooks& hooks = {});

  /// State, parameters, optimizer, average, experiment and length of the run as one file, and back. Reading
  /// throws InputError if the file does not fit, its data were scaled differently, it has more steps than this
  /// run, or the schedule would differ with this length.
  SafetensorsFile pack() const;
  void unpack(TensorReader& reader);
  std::int64_t steps_before() const { return steps_before_; }  ///< `steps` of the run that was unpacked

  const TrainingState& state() const { return state_; }
  void load_kept();           ///< Puts the kept parameters, if there are any, into the model.
  std::string place() const;  ///< how far the run has progressed, as text: "step 3 of 18"
  std::int64_t steps() const { return steps_; }  ///< number of steps in the whole run
  std::int64_t steps_per_epoch() const { return order_.steps_per_epoch(); }
  /// Truncated BPTT is on, for sequences as long as the longest.
  std::int64_t updates_per_epoch() const {
    return steps_per_epoch() * update_step_.updates_of(task_.shape.length);
  }
  bool is_finished() const;
  /// No new best on valid for as long as the experiment allows, or a hook ended training.
  bool has_stopped_early() const;
  bool has_other_data() const { return has_other_data_; }     ///< than the unpacked run began with
  std::uint64_t fingerprint() const { return fingerprint_; }  ///< of the training set
  const PlanCost& plan() const { return plan_; }
  ModelOp& op() { return op_; }

 private:
  /// Throws InputError for a position that training never reaches.
  void check_position(const TrainingPosition& at) const;
  /// Throws InputError for progress that the batch at the state's position never has.
  void check_segments();
  bool evaluation_is_due() const;
  /// Makes a step. Between a batch's updates it calls `pause`, which may throw.
  void step(const TrainerHooks& hooks, const std::function<void()>& pause);
  /// Solves for the read-out in one pass over the training set, which is the whole training.
  void solve(const Ridge& ridge, const TrainerHooks& hooks);
  void evaluate_valid(const TrainerHooks& hooks);
  /// Whether a value of the first metric, or of the loss, is better. If neither is finite, the loss of the
  /// current evaluation decides.
  bool is_better(double value, double than) const;
  /// Counts an evaluation, and starts averaging the weights if it is time. Returns whether it did.
  bool begin_average(const EvaluationReport& report, double value);
  /// Counts an evaluation for the schedule's plateaus.
  void count_plateau(const EvaluationReport& report, double value);
  /// The data of the sequences with these indices, for the sequence op.
  SequenceBatch training_batch(std::span<const std::int64_t> indices) const;

  const Experiment& experiment_;
  const Task& task_;
  Model& model_;
  ThreadPool& pool_;
  ModelOp op_;
  UpdateStep update_step_;
  TrainingOrder order_;
  std::int64_t steps_, steps_before_ = 0;
  PlanCost plan_;
  std::uint64_t fingerprint_ = 0;  ///< the training set's; 0 for a fresh one
  bool has_other_data_ = false;
  bool is_enough_ = false;         ///< by the hook
  bool has_smaller_loss_ = false;  ///< whether the current evaluation is better than the kept one
  TrainingState state_;
};

}  // namespace lagtape

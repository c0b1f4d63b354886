#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/cells/models/model.h"

namespace lagtape {

/// A model that can run: the equivalent of SequenceOp for models, with training, evaluation, and their costs.
/// It contains copies of the model's operations but not its parameters, which are passed to each call as
/// weights. One call at a time.
class ModelOp {
 public:
  /// `states`, if given, is the arithmetic of all states. Throws InputError as SequenceOp does.
  explicit ModelOp(const Model& model, const SequenceSettings& settings = {},
                   std::optional<Arithmetic> states = {});
  ~ModelOp();
  ModelOp(ModelOp&&) noexcept;
  ModelOp& operator=(ModelOp&&) noexcept;

  /// The scalar loss of a batch, with the weights from Model::weights(tape). Arrays between two operations of
  /// the model, [B, T, width], are kept for the whole sequence, and all operations but the last run forward
  /// once more in the backward pass. The pool must live until then.
  Var loss(Tape& tape, std::span<const Var> weights, const SequenceBatch& batch, ThreadPool& pool,
           std::span<const Var> initial = {}, Window* final_window = nullptr);
  /// Copies the running statistics from the last `loss` in training to the parameters of the model.
  void update_statistics(Parameters& parameters) const;
  /// Whether the model keeps running statistics.
  bool has_statistics() const;

  /// The outputs for a batch, with the weights from Model::weights(), like SequenceOp::evaluate.
  Tensor evaluate(std::span<const Tensor> weights, const SequenceBatch& batch, ThreadPool& pool,
                  const Window* initial = nullptr, Window* final_window = nullptr);
  /// How many numbers, per row and step, pass between the operations of the model in evaluation.
  std::int64_t evaluation_width() const;

  /// Whether the model is one sequence op, without whole-sequence layers.
  bool is_one_op() const;
  /// The reason why sequences cannot come in pieces, with windows between them; empty if they can.
  std::string obstacle() const;

  /// The shapes and precisions of the tensors in a window for so many rows, as `loss` leaves it.
  std::vector<std::pair<Shape, Dtype>> window_shapes(std::int64_t rows) const;

  /// The cost of each plan for the whole model: its sequence ops under that plan, and the arrays between them.
  std::vector<PlanCost> plans(std::int64_t batch, std::int64_t steps, int threads) const;
  /// The plan that is chosen under the budget; `automatic` if the model's sequence ops use different plans.
  /// Throws InputError with the needed memory if no plan fits.
  PlanCost choose(std::int64_t batch, std::int64_t steps, int threads) const;
  /// The choice for every sequence op, in order.
  std::vector<PlanCost> choose_each(std::int64_t batch, std::int64_t steps, int threads) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace lagtape

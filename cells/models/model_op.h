#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lagtape/cells/models/model.h"

namespace lagtape {

/// A model at work: training, evaluation, and what they cost. It keeps what it needs of the model except
/// parameters. One call at a time.
class ModelOp {
 public:
  /// `states`, when given, is the arithmetic of all states. Throws InputError as SequenceOp does.
  explicit ModelOp(const Model& model, const SequenceSettings& settings = {},
                   std::optional<Arithmetic> states = {});
  ~ModelOp();
  ModelOp(ModelOp&&) noexcept;
  ModelOp& operator=(ModelOp&&) noexcept;

  /// The loss of a batch, with the weights of Model::weights(tape), as ChainOp::loss.
  Var loss(Tape& tape, std::span<const Var> weights, const SequenceBatch& batch, ThreadPool& pool,
           std::span<const Var> initial = {}, Window* final_window = nullptr);
  /// Puts the running statistics after the last `loss` in training into the parameters of the model.
  void update_statistics(Parameters& parameters) const;
  /// Whether there are any.
  bool has_statistics() const;

  /// The outputs for a batch, with the weights of Model::weights(), as ChainOp::evaluate.
  Tensor evaluate(std::span<const Tensor> weights, const SequenceBatch& batch, ThreadPool& pool,
                  const Window* initial = nullptr, Window* final_window = nullptr);
  /// Numbers that a row and step take in evaluation between the operations of the model.
  std::int64_t evaluation_width() const;

  /// Whether it is one sequence op, without layers of whole sequences before or between.
  bool is_one_op() const;
  /// Why sequences cannot come in pieces, with windows between them; empty when they can.
  std::string obstacle() const;

  // As in ChainOp.
  std::vector<PlanCost> plans(std::int64_t batch, std::int64_t steps, int threads) const;
  PlanCost choose(std::int64_t batch, std::int64_t steps, int threads) const;
  std::vector<PlanCost> choose_each(std::int64_t batch, std::int64_t steps, int threads) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace lagtape

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/core/simd/level.h"
#include "lagtape/core/tape.h"
#include "lagtape/core/thread_pool.h"
#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

/// Where the read-out reads the top layer's output: at every step, at a sequence's own last step, at the
/// batch's last step (padding included), or the mean over a sequence's own steps.
enum class ReadAt : std::uint8_t { every_step, last_step, last_padded_step, mean };

/// The losses that are sums over sequences. mse: mean over all elements scored; cross_entropy (class indices)
/// and binary_cross_entropy (one logit, targets 0 or 1): mean over everything scored.
enum class Loss : std::uint8_t { none, mse, cross_entropy, binary_cross_entropy };

std::string_view name_of(Loss loss);
bool reads_every_step(ReadAt at);

/// A stack of layers with its read-out and loss: everything that runs in one pass over time.
struct StackDefinition {
  std::vector<StepProgram> layers;     ///< the output of one is the input of the next
  std::optional<StepProgram> readout;  ///< a program without states
  ReadAt at = ReadAt::every_step;
  Loss loss = Loss::none;

  std::int64_t input_width() const;
  std::int64_t output_width() const;
};

/// The last values of the states: what the future needs of the past. One tensor a state, layer by layer in
/// order of declaration, [history + 1, B, width], the oldest first and the present last; in f64 for states on
/// the grid, else in the model's precision. Copyable; the initial history, the state carried by truncated
/// BPTT and the state of a stream are all windows.
struct Window {
  std::vector<Tensor> states;
};

/// Zeros: the state before the first step.
Window zero_window(const std::vector<StepProgram>& layers, std::int64_t batch, Dtype dtype);

/// What decides the random draws of a batch, together with step and unit.
struct DrawKey {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::vector<std::int64_t> sequences;  ///< [B], names of the rows; empty: their positions in the batch
};

/// Sequences of a batch, padded to one length T.
struct SequenceBatch {
  Tensor x;                           ///< [B, T, input]
  std::vector<std::int64_t> lengths;  ///< [B], each in 1..T; empty: all T
  Tensor targets;  ///< mse, binary_cross_entropy: [B, T, output] (every_step) or [B, output]
  std::vector<std::int32_t> classes;  ///< cross_entropy: [B * T] row by row (every_step) or [B]
  std::int64_t first_step = 0;        ///< the absolute index of x's first step: of a carried window
  DrawKey draws;
  bool training = false;  ///< random draws are drawn; otherwise they hold their evaluation values
};

enum class MemoryPlan : std::uint8_t { automatic, full, states, reversible, checkpoint };
std::string_view name_of(MemoryPlan plan);  ///< "auto", "full", "states", "reversible", "checkpoint"

struct SequenceSettings {
  MemoryPlan plan = MemoryPlan::automatic;
  std::int64_t budget =
      0;  ///< bytes for what the op keeps and works in; 0: half of the machine's or cgroup's memory
  std::int64_t chunk = 0;  ///< steps, a multiple of the run; 0: chosen by the planner
  std::int64_t checkpoint_interval =
      0;           ///< steps between checkpoints, a multiple of the chunk; 0: chosen by the planner
  int levels = 0;  ///< how often a step may be run forward again; 0: as rarely as the budget allows
  SimdLevel level = best_level();
  bool compile_stages =
      true;  ///< element-wise work as machine code, where that can be: the same bits, faster
};

/// What a plan costs for a batch of B sequences of T steps.
struct PlanCost {
  MemoryPlan plan = MemoryPlan::automatic;
  std::int64_t bytes = 0;  ///< high-water mark of what the op allocates, with that many threads
  double extra_flops = 0;  ///< of products, beyond one forward and backward pass, a batch
  std::int64_t chunk = 0;
  std::int64_t checkpoint_interval = 0;  ///< steps between checkpoints; 0: none
  std::int64_t slots = 0;                ///< checkpoints that are kept at a time
  int levels = 0;                        ///< how often a step is run forward again, at most
};

/// The sequence op: a stack over time, as one operation of the outer tape. Immutable apart from its
/// workspace; one call at a time. Weights are given layer by layer, then the read-out's, each in the order of
/// its program's weights. One model, one answer: results do not depend on plan, chunk, threads, batch size or
/// streaming.
class SequenceOp {
 public:
  /// Steps in a run: the grid on which weight gradients are summed.
  static constexpr std::int64_t kRun = 16;

  /// Throws InputError when widths of neighbouring layers do not fit, for a state that cannot be on the grid
  /// (grid.h), and for the plan `reversible` of a stack that is not.
  SequenceOp(StackDefinition stack, Dtype dtype, SequenceSettings settings = {});
  ~SequenceOp();
  SequenceOp(SequenceOp&&) noexcept;
  SequenceOp& operator=(SequenceOp&&) noexcept;

  const StackDefinition& stack() const;
  Dtype dtype() const;

  /// The loss, a scalar. Gradients of weights, of x and of `initial` (one Var a state, shaped as in Window;
  /// empty: zeros) where they require them. `final_window` receives the states after the last step. A slice
  /// of the batch runs forward, loss and backward through before the next begins.
  Var loss(Tape& tape, std::span<const Var> weights, Var x, const SequenceBatch& batch, ThreadPool& pool,
           std::span<const Var> initial = {}, Window* final_window = nullptr);

  /// The read-out's values (the top layer's output without a read-out): [B, T, q] at every step, else [B, q].
  /// Its backward pass runs the slices forward once more.
  Var outputs(Tape& tape, std::span<const Var> weights, Var x, const SequenceBatch& batch, ThreadPool& pool,
              std::span<const Var> initial = {}, Window* final_window = nullptr);

  /// The same without a tape, keeping windows only.
  Tensor evaluate(std::span<const Tensor> weights, const SequenceBatch& batch, ThreadPool& pool,
                  const Window* initial = nullptr, Window* final_window = nullptr);

  /// What each plan costs, the fastest first, and the one that `automatic` takes under the budget.
  /// Throws InputError that says how much is needed when no plan fits.
  std::vector<PlanCost> plans(std::int64_t batch, std::int64_t steps, int threads) const;
  PlanCost choose(std::int64_t batch, std::int64_t steps, int threads) const;

  /// The largest number of bytes that the op had allocated since its construction.
  std::int64_t peak_bytes() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace lagtape

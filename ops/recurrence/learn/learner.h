#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lagtape/core/normalization.h"
#include "lagtape/ops/recurrence/learn/learned_layer.h"
#include "lagtape/ops/recurrence/step/stack.h"

namespace lagtape {

/// The gradient from which a stream learns.
enum class LearningMethod : std::uint8_t {
  /// Real-time recurrent learning: the full gradient, for a stack whose only recurrent layer comes first and
  /// whose step has units that do not read each other's states.
  rtrl,
  /// Traces of each unit's own states, for any stack, without later effects of a state on other units and on
  /// layers above (e-prop; for stacks with layers as above, Zucchet et al. 2023).
  e_prop,
  /// The same traces, restarted every `window` steps: the gradient of backpropagation through the steps since
  /// then, if units do not read each other's states; with a window of 1, the gradient of the current step, for
  /// any stack.
  truncated,
};

/// "rtrl", "e_prop", "truncated". For any other name, throws InputError with the nearest one.
LearningMethod learning_method_named(const std::string& name);

/// The rule by which weights are updated.
enum class LearningRule : std::uint8_t { sgd, adam };
LearningRule learning_rule_named(const std::string& name);

struct LearnerOptions {
  LearningMethod method = LearningMethod::rtrl;
  LearningRule rule = LearningRule::sgd;
  double lr = 0.01;         ///< 0: gradients accumulate and no weights change
  std::int64_t every = 1;   ///< number of steps whose gradients are added before a weight update
  std::int64_t window = 1;  ///< steps between restarts of the traces, for truncated
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  ///< for adam

  /// Throws InputError for values out of range.
  void check() const;
};

/// A stack that learns while it streams, for one row: each step predicts, compares with the target, and updates
/// the weights. T is the scalar of the weights. After construction, a step never allocates, locks, or throws,
/// and its cost does not depend on the number of earlier steps. Not copyable.
template <class T>
class Learner {
 public:
  /// `layers` from the input up, the read-out last; `start` holds the states before the first step, empty:
  /// zeros. Throws InputError for options out of range, for losses of whole sequences, for a stack that does
  /// not support traces, and for rtrl if the traces are not the full gradient.
  Learner(std::vector<LearnedLayer> layers, const LossFunction& loss, const Normalization& normalization,
          const Window& start, const LearnerOptions& options);
  Learner(Learner&&) noexcept;
  Learner& operator=(Learner&&) noexcept;
  ~Learner();

  std::int64_t input_width() const;
  std::int64_t output_width() const;
  std::int64_t target_width() const;  ///< 1 for classes
  std::int64_t steps() const;
  /// Why the gradient is not the full one; empty if it is.
  const std::string& inexact() const;

  /// One step in the units of the data: the prediction for `input` is written to `output` (null: discarded),
  /// then the weights learn from `target` (null: none; each NaN in it is missing). For classes, a target is a
  /// number, -1 for none. Returns the loss of the prediction, 0 if there is no target. A loss that is not
  /// finite changes no weights.
  double step(const T* input, const T* target, T* output = nullptr) noexcept;
  /// Sets states and traces to those before the first step, and gradients to 0. Weights are kept.
  void reset() noexcept;
  /// Whether all weights and states are finite.
  bool is_finite() const;

  /// Everything that later steps depend on, as bytes: weights, their gradients and means, states, traces, and
  /// counts. `to` has state_size() bytes. A learner with the same layers, scales, loss, method, window, rule,
  /// and precision continues from there with the same bits, on a machine with the same byte order and vector
  /// instructions; its rate may differ. These functions do not allocate unless they throw InputError: for
  /// another size, and in `restore`, which then changes nothing, for bytes that are truncated, altered, or from
  /// a different learner.
  std::size_t state_size() const;
  void save(std::span<std::byte> to) const;
  void restore(std::span<const std::byte> from);

  /// The current weights, layer by layer in the order passed, and the sums of their gradients since the last
  /// update (zeros for sgd with an update at every step). These allocate.
  std::vector<Tensor> weights() const;
  std::vector<Tensor> gradients() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace lagtape

#pragma once

#include <memory>
#include <span>
#include <vector>

#include "lagtape/core/thread_pool.h"
#include "lagtape/ops/kernels/kernels.h"
#include "lagtape/ops/recurrence/sequence.h"

namespace lagtape::recurrence {

/// dW += delta^T x, as ops/weight_gradient.h has it. Handed in by what trains, so that what only runs models
/// does without.
template <class T>
using AddWeightGradient = void (*)(const Kernels<T>& kernels, T* w, std::int64_t ldw, const T* d,
                                   std::int64_t ldd, const T* x, std::int64_t ldx, std::int64_t rows,
                                   std::int64_t m, std::int64_t n);
struct WeightGradientRule {
  AddWeightGradient<float> f32 = nullptr;
  AddWeightGradient<double> f64 = nullptr;
};

/// What one pass over a batch is to produce. Gradients are allocated (zeros) by the caller; empty tensors
/// where not wanted.
struct Pass {
  const SequenceBatch& batch;
  std::span<const Tensor> weights;
  ThreadPool& pool;
  const std::vector<Tensor>* initial = nullptr;  ///< a window; null: zeros
  Window* final_window = nullptr;                ///< allocated
  bool loss = false;
  Tensor* outputs = nullptr;
  const Tensor* output_gradient = nullptr;  ///< in place of the loss's
  std::vector<Tensor>* weight_gradients = nullptr;
  Tensor* x_gradient = nullptr;
  std::vector<Tensor>* initial_gradient = nullptr;
  WeightGradientRule rule = {};  ///< needed for weight gradients

  bool backward() const {
    return weight_gradients != nullptr || x_gradient != nullptr || initial_gradient != nullptr;
  }
};

/// Cuts a batch into slices and takes them through the stack on the pool's workers. The caller has checked
/// shapes.
class BatchRunner {
 public:
  virtual ~BatchRunner() = default;
  /// Returns the loss (0 when not asked for).
  virtual double run(const Pass& pass) = 0;
  virtual std::vector<PlanCost> plans(std::int64_t batch, std::int64_t steps, int threads) = 0;
  virtual std::int64_t peak_bytes() const = 0;
};

/// `stack` must outlive the engine.
std::unique_ptr<BatchRunner> make_batch_runner(const StackDefinition& stack, Dtype dtype,
                                               const SequenceSettings& settings);

}  // namespace lagtape::recurrence

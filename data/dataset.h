#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lagtape/core/linear_term.h"
#include "lagtape/core/normalization.h"
#include "lagtape/core/tensor.h"
#include "lagtape/core/thread_pool.h"

namespace lagtape {

/// The shape of a task's sequences. Targets are real numbers (`output` > 0) or classes (`classes` > 0), one per
/// sequence or, with `every_step`, one per step.
struct DataShape {
  std::int64_t length = 0;   ///< steps of the longest sequence
  std::int64_t input = 0;    ///< numbers per step
  std::int64_t output = 0;   ///< real numbers per target; 0 if targets are classes
  std::int64_t classes = 0;  ///< targets are the classes 0..classes-1; 0 if they are real numbers
  bool every_step = false;
  bool missing_targets = false;  ///< real targets may be NaN, excluded from loss and metrics
  std::int64_t tokens = 0;       ///< inputs are the integers 0..tokens-1, one per step; 0: real numbers
  std::optional<LinearTerm> linear = {};      ///< the linear term added to the network; none: no term
  std::vector<std::string> class_names = {};  ///< [classes]; empty: classes are only numbered

  /// The name of a class, or its number.
  std::string name_of_class(std::int64_t of) const {
    return class_names.empty() ? std::to_string(of) : class_names[static_cast<std::size_t>(of)];
  }
};

/// Mean errors of the forecast that repeats the value from one season before, used to scale forecast errors
/// (Hyndman and Koehler 2006), in the units of the data; NaN if no two values are a season apart.
struct NaiveErrors {
  double absolute = std::numeric_limits<double>::quiet_NaN();
  double squared = std::numeric_limits<double>::quiet_NaN();
};

/// B sequences, padded with zeros to the longest of them, T steps.
struct Batch {
  Tensor x;                           ///< [B, T, input]
  std::vector<std::int64_t> lengths;  ///< [B], each 1..T
  Tensor y;                           ///< [B, output] or [B, T, output]; empty when targets are classes
  std::vector<std::int32_t>
      classes;  ///< [B] or [B * T], row by row; -1 past a row's length and for none; empty for real targets
  /// [B], indices in the data set, which determine the draws of dropout and noise
  std::vector<std::int64_t> ids;
  /// [B], the normalizations of the sequences' series; null: the task's; empty: the task's for all.
  std::vector<const Normalization*> own = {};
  /// training epoch, which determines the draws of augmentations; -1: no augmentation
  std::int64_t epoch = -1;

  std::int64_t size() const { return static_cast<std::int64_t>(lengths.size()); }
  /// The normalization of a row; `all` is the task's.
  const Normalization& normalization(std::int64_t row, const Normalization& all) const {
    const Normalization* one = own.empty() ? nullptr : own[static_cast<std::size_t>(row)];
    return one == nullptr ? all : *one;
  }
};

/// Sequences with their targets, by index. A sequence is a pure function of its index (and, where data are
/// augmented, of the batch's epoch), whether it is stored or computed on request, so the numbers are the same
/// in any order, on any thread and in a resumed run.
class Dataset {
 public:
  /// The size of a training set that never ends, with fresh sequences for every step.
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

  virtual ~Dataset() = default;
  const DataShape& shape() const { return shape_; }
  /// Number of sequences, or kUnlimited.
  virtual std::int64_t size() const = 0;
  /// Steps in a sequence, 1..shape().length.
  virtual std::int64_t length(std::int64_t index) const;
  /// Writes x and the target of a sequence into a row of a batch that is filled with padding. Several threads
  /// may call it at once.
  virtual void read(std::int64_t index, Batch& batch, std::int64_t row) const = 0;
  /// [targets], the naive errors in the training rows of the sequence's series; empty if there are no series.
  virtual std::span<const NaiveErrors> naive_errors(std::int64_t) const { return {}; }
  /// The normalization of the sequence's series; null: the task's.
  virtual const Normalization* normalization(std::int64_t) const { return nullptr; }

 protected:
  explicit Dataset(const DataShape& shape) : shape_(shape) {}

 private:
  DataShape shape_;
};

/// Excludes the targets of the first steps of every sequence: they become NaN or -1. Only for targets at every step.
void leave_out_first(Batch& batch, std::int64_t steps);

/// Collects the sequences with the given indices, in that order, into a batch of the given precision. Data sets
/// return numbers in the task's units; here inputs and targets are normalized, by the sequences' own
/// normalizations if they have them. `epoch` is Batch's. Throws InputError for an index out of range, and for a
/// non-finite number, with its sequence and step.
Batch gather(const Dataset& dataset, std::span<const std::int64_t> indices, Dtype dtype, ThreadPool& pool,
             const Normalization& normalization = {}, std::int64_t epoch = -1);

}  // namespace lagtape

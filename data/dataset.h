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

/// The shape of a task's sequences. Targets are real numbers (`output` > 0) or classes (`classes` >
/// 0), one a sequence or, with `every_step`, one a step.
struct DataShape {
  std::int64_t length = 0;   ///< steps of the longest sequence
  std::int64_t input = 0;    ///< numbers a step
  std::int64_t output = 0;   ///< real numbers a target; 0 when targets are classes
  std::int64_t classes = 0;  ///< targets are the classes 0..classes-1; 0 when they are real numbers
  bool every_step = false;
  bool missing_targets = false;  ///< real targets may be NaN, excluded from loss and metrics
  std::int64_t tokens = 0;       ///< inputs are the integers 0..tokens-1, one a step; 0: real numbers
  std::optional<LinearTerm> linear = {};      ///< the linear term beside the network; none: no term
  std::vector<std::string> class_names = {};  ///< [classes]; empty: classes have only their numbers

  /// The name of a class, or its number.
  std::string name_of_class(std::int64_t of) const {
    return class_names.empty() ? std::to_string(of) : class_names[static_cast<std::size_t>(of)];
  }
};

/// Mean errors of the forecast that repeats the number of a season before, which scale errors of forecasts (Hyndman and
/// Koehler 2006), in the units of the data; NaN where no two numbers are a season apart.
struct NaiveErrors {
  double absolute = std::numeric_limits<double>::quiet_NaN();
  double squared = std::numeric_limits<double>::quiet_NaN();
};

/// B sequences side by side, padded with zeros to the longest of them, T steps.
struct Batch {
  Tensor x;                           ///< [B, T, input]
  std::vector<std::int64_t> lengths;  ///< [B], each 1..T
  Tensor y;                           ///< [B, output] or [B, T, output]; empty when targets are classes
  std::vector<std::int32_t>
      classes;  ///< [B] or [B * T], row by row; -1 past a row's length and for none; empty for real targets
  std::vector<std::int64_t> ids;  ///< [B], indices in the data set; dropout and noise draw by them
  /// [B], the normalizations of the sequences' series, null: the task's; empty: all the task's.
  std::vector<const Normalization*> own = {};
  std::int64_t epoch = -1;  ///< training epoch, by which augmentations are drawn; -1: no augmentation

  std::int64_t size() const { return static_cast<std::int64_t>(lengths.size()); }
  /// The normalization of a row, where `all` is the task's.
  const Normalization& normalization(std::int64_t row, const Normalization& all) const {
    const Normalization* one = own.empty() ? nullptr : own[static_cast<std::size_t>(row)];
    return one == nullptr ? all : *one;
  }
};

/// Sequences with their targets, by index. A sequence is a pure function of its index (and, where data are
/// augmented, of the batch's epoch), whether it is stored or computed on request, so that any order, any
/// thread and any resumed run read the same numbers.
class Dataset {
 public:
  /// The size of a training set that never ends, with fresh sequences for every step.
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

  virtual ~Dataset() = default;
  const DataShape& shape() const { return shape_; }
  /// Number of sequences, or kUnlimited.
  virtual std::int64_t size() const = 0;
  /// Steps of a sequence, 1..shape().length.
  virtual std::int64_t length(std::int64_t index) const;
  /// Writes x and the target of a sequence into a row of a batch that is filled with padding. Several threads
  /// may call it at once.
  virtual void read(std::int64_t index, Batch& batch, std::int64_t row) const = 0;
  /// [targets], the naive errors in the training rows of the series that a sequence is a part of; empty where there are no
  /// series.
  virtual std::span<const NaiveErrors> naive_errors(std::int64_t) const { return {}; }
  /// The normalization of the series that a sequence is a part of; null: the task's.
  virtual const Normalization* normalization(std::int64_t) const { return nullptr; }

 protected:
  explicit Dataset(const DataShape& shape) : shape_(shape) {}

 private:
  DataShape shape_;
};

/// Excludes the targets of the first steps of every sequence: they become NaN or -1. Only for targets at every step.
void leave_out_first(Batch& batch, std::int64_t steps);

/// Puts the sequences of the given indices into a batch of the given precision, in that order. Data sets yield numbers
/// in the task's units; here inputs and targets are normalized, by the sequences' own normalizations where they have
/// some. `epoch` is that of Batch. Throws InputError for an index out of range, and for a number that is not finite,
/// with its sequence and step.
Batch gather(const Dataset& dataset, std::span<const std::int64_t> indices, Dtype dtype, ThreadPool& pool,
             const Normalization& normalization = {}, std::int64_t epoch = -1);

}  // namespace lagtape

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lagtape/core/normalization.h"
#include "lagtape/core/tensor.h"
#include "lagtape/core/thread_pool.h"

namespace lagtape {

/// What the sequences of a task look like. Targets are real numbers (`output` > 0) or classes (`classes` >
/// 0), one a sequence or, with `every_step`, one a step.
struct DataShape {
  std::int64_t length = 0;   ///< steps of the longest sequence
  std::int64_t input = 0;    ///< numbers a step
  std::int64_t output = 0;   ///< real numbers a target; 0 when targets are classes
  std::int64_t classes = 0;  ///< classes are 0..classes-1; 0 when targets are real numbers
  bool every_step = false;
  std::int64_t tokens = 0;  ///< inputs are the integers 0..tokens-1, one a step; 0: real numbers
};

/// B sequences side by side, padded with zeros to the longest of them, T steps.
struct Batch {
  Tensor x;                           ///< [B, T, input]
  std::vector<std::int64_t> lengths;  ///< [B], each 1..T
  Tensor y;                           ///< [B, output] or [B, T, output]; empty when targets are classes
  std::vector<std::int32_t>
      classes;  ///< [B] or [B * T], row by row; -1 past a row's length; empty for real targets
  std::vector<std::int64_t> ids;  ///< [B], indices in the data set: what dropout and noise count by
  std::int64_t epoch = -1;        ///< of training, which augmented data are drawn by; -1: data as they are

  std::int64_t size() const { return static_cast<std::int64_t>(lengths.size()); }
};

/// Sequences with their targets, by index. A sequence is a pure function of its index (and, where data are
/// augmented, of the batch's epoch), whether it was stored or is computed when asked for, so that any order,
/// any thread and any resumed run see the same numbers.
class Dataset {
 public:
  /// The size of a set that is drawn anew for every step and never ends.
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

  virtual ~Dataset() = default;
  const DataShape& shape() const { return shape_; }
  /// Number of sequences, or kUnlimited.
  virtual std::int64_t size() const = 0;
  /// Steps of a sequence, 1..shape().length.
  virtual std::int64_t length(std::int64_t index) const;
  /// Writes x and the target of a sequence into a row of a batch that holds padding. Called by several
  /// threads at once.
  virtual void read(std::int64_t index, Batch& batch, std::int64_t row) const = 0;

 protected:
  explicit Dataset(const DataShape& shape) : shape_(shape) {}

 private:
  DataShape shape_;
};

/// How many of a task's words a file of word vectors has.
struct KnownWords {
  std::int64_t known = 0, all = 0;
};

/// What a task yields. `valid` and `test` may have no sequences; `train` is unlimited when `fresh`.
struct Task {
  DataShape shape;
  std::shared_ptr<const Dataset> train, valid, test;
  bool fresh = false;           ///< every step trains on new sequences: runs count steps, not epochs
  Normalization normalization;  ///< taken from the training sequences; no output where targets are classes
  /// Of tokens with published vectors, where the user gave a file of them; else empty. Sets the rows of a
  /// table [shape.tokens, width]: of words that the file has to their vectors, of tokens that are no word to
  /// zeros; those of other words stay. The file is opened by this call alone, as only the first step of a
  /// training needs it. Throws InputError.
  std::function<KnownWords(Tensor& table)> read_vectors = {};

  /// The split of that name. Throws InputError with the nearest of train, valid, test.
  const Dataset& split(const std::string& name) const;
};

/// Puts the sequences of those indices into a batch of that precision, in that order. Data sets give numbers
/// in the task's own units; the normalization is applied here, to inputs and targets. Throws InputError,
/// naming sequence, step and place, for a number that is not finite, and for an index out of range. `epoch`
/// as in Batch.
Batch gather(const Dataset& dataset, std::span<const std::int64_t> indices, Dtype dtype, ThreadPool& pool,
             const Normalization& normalization = {}, std::int64_t epoch = -1);

}  // namespace lagtape

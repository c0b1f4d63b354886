#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "lagtape/core/tensor.h"

namespace lagtape {

/// Sequences with their targets, each as an array in a file; empty if the file has none.
struct ArraySet {
  Tensor x = {}, y = {}, lengths = {};
  /// the array's name in the file, or the expected name
  std::string x_name = {}, y_name = {}, lengths_name = {};

  bool is_empty() const { return x.empty() && y.empty() && lengths.empty(); }
};

/// The arrays of an .npz file, classified by name.
struct ArraySets {
  ArraySet whole;  ///< X and y without the name of a set
  ArraySet train, valid, test;
  /// all arrays are named as `lagtape data` names them: train_x, train_y, ...
  bool are_plain = true;
  std::vector<std::string> others = {};  ///< names that were not recognized
};

/// Reads train_x, X_train, x_val, test_labels and the like, and X and y, data and labels, or inputs and targets
/// without the name of a set. If a file has these and a validation or test set, they are the training set.
/// Throws InputError for two arrays with the same meaning.
ArraySets read_array_sets(const std::filesystem::path& path);

/// The meaning of the inputs' axes.
enum class AxisOrder : std::uint8_t { automatic, time_first, channels_first };

/// Inputs as [N, T, input]. Two axes are sequences of one input. [N, input, T] is transposed if the order says
/// so. An automatic order is inferred from the lengths, the number of steps with targets (0: unknown), or a
/// model lag that only one axis exceeds (0: unknown), or else from T being at least twice the number of inputs.
/// Sets the order that was found. Adds a note if it was not [N, T, input].
void arrange_axes(ArraySet& set, std::int64_t target_steps, std::int64_t lag, AxisOrder& order,
                  std::vector<std::string>& notes);

}  // namespace lagtape

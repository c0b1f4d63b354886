#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "lagtape/core/tensor.h"

namespace lagtape {

/// Sequences with their targets, each as an array of a file; empty where the file has none.
struct ArraySet {
  Tensor x = {}, y = {}, lengths = {};
  std::string x_name = {}, y_name = {}, lengths_name = {};  ///< as the file calls them, or is expected to

  bool is_empty() const { return x.empty() && y.empty() && lengths.empty(); }
};

/// The arrays of an .npz file by what their names say.
struct ArraySets {
  ArraySet whole;  ///< X and y, which no name puts into a set
  ArraySet train, valid, test;
  bool are_plain = true;  ///< all are called as `lagtape data` calls them: train_x, train_y, ...
  std::vector<std::string> others = {};  ///< names that say nothing of that kind
};

/// Reads train_x, X_train, x_val, test_labels and the like, and X and y, data and labels or inputs and targets alone. Where a
/// file has those, and a validation or a test set, they are the training set. Throws InputError for two arrays of one meaning.
ArraySets read_array_sets(const std::filesystem::path& path);

/// How the axes of inputs are meant.
enum class AxisOrder : std::uint8_t { automatic, time_first, channels_first };

/// Inputs as [N, T, input]. Two axes are sequences of one input. [N, input, T] is turned around where the order says so;
/// where it is automatic, by the lengths, by the number of steps that have targets (0: unknown), by a lag of the model that only one of
/// them is longer than (0: unknown), and else if T is at least twice the number of inputs. Sets the order that was found. Adds a note for what was not [N, T, input].
void arrange_axes(ArraySet& set, std::int64_t target_steps, std::int64_t lag, AxisOrder& order,
                  std::vector<std::string>& notes);

}  // namespace lagtape

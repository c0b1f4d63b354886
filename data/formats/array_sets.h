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
  std::string x_name = {}, y_name = {}, lengths_name = {};  ///< the file's name of them, or the expected one

  bool is_empty() const { return x.empty() && y.empty() && lengths.empty(); }
};

/// The arrays of an .npz file by the meaning of their names.
struct ArraySets {
  ArraySet whole;  ///< X and y, without the name of a set
  ArraySet train, valid, test;
  bool are_plain = true;                 ///< all have the names of `lagtape data`: train_x, train_y, ...
  std::vector<std::string> others = {};  ///< names without such a meaning
};

/// Reads train_x, X_train, x_val, test_labels and the like, and X and y, data and labels or inputs and targets alone. Where a
/// file has those, and a validation or a test set, they are the training set. Throws InputError for two arrays of one meaning.
ArraySets read_array_sets(const std::filesystem::path& path);

/// The meaning of the inputs' axes.
enum class AxisOrder : std::uint8_t { automatic, time_first, channels_first };

/// Inputs as [N, T, input]. Two axes are sequences of one input. [N, input, T] is transposed if the order says so. An
/// automatic order follows from the lengths, the number of steps with targets (0: unknown), a lag of the model that
/// only one axis exceeds (0: unknown), or else from T being at least twice the number of inputs. Sets the order that
/// was found. Adds a note where it was not [N, T, input].
void arrange_axes(ArraySet& set, std::int64_t target_steps, std::int64_t lag, AxisOrder& order,
                  std::vector<std::string>& notes);

}  // namespace lagtape

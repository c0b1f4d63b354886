#pragma once

#include <map>
#include <string>

#include "lagtape/core/problem.h"
#include "lagtape/tools/exchange/import/foreign_model.h"
#include "lagtape/tools/exchange/import/onnx_file.h"

namespace lagtape::foreign {

/// The constants of a graph by name, each of which notes that it was used.
class OnnxConstants {
 public:
  OnnxConstants(std::map<std::string, OnnxTensor> tensors, std::string where)
      : tensors_(std::move(tensors)), where_(std::move(where)) {}

  bool contains(const std::string& name) const { return tensors_.contains(name); }
  void add(const std::string& name, OnnxTensor tensor);
  /// Real numbers in f64. Throws InputError that names the node for a value that is computed, or is no real number.
  Tensor take_real(const OnnxNode& node, std::size_t input);
  /// Whole numbers; these may be shared by nodes.
  std::vector<std::int64_t> integers(const OnnxNode& node, std::size_t input) const;
  bool is_integer(const std::string& name) const;
  bool has_double() const { return has_double_; }  ///< whether a tensor that was used was in f64
  /// Throws InputError with the names of real tensors that no node used, or that two did.
  void finish() const;

 private:
  Place place_of(const OnnxNode& node) const;

  std::map<std::string, OnnxTensor> tensors_;
  std::map<std::string, int> used_;
  std::string where_;
  bool has_double_ = false;
};

/// Whether an input of a node is given.
bool has_input(const OnnxNode& node, std::size_t index);
/// An attribute that is a whole number.
std::int64_t integer_of(const OnnxNode& node, const std::string& name, std::int64_t missing);

/// The layer of a node RNN, LSTM or GRU whose first states are constants or not given (`zero_states`: they are
/// computed, and zeros). Throws InputError that begins with `where` for what lagtape does not have: peepholes,
/// clipping, other activations, one direction backwards, unequal lengths.
ForeignRecurrence recurrence_of(const OnnxNode& node, bool zero_states, OnnxConstants& constants,
                                const std::string& where);

}  // namespace lagtape::foreign

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/core/tensor.h"

namespace lagtape::foreign {

/// A tensor of an ONNX file: real numbers in f64, or whole ones.
struct OnnxTensor {
  Shape shape;
  Tensor values;  ///< empty for whole numbers
  std::vector<std::int64_t> integers;
  bool is_double = false;  ///< the file has it in f64
};

/// An attribute of a node; the field of its type has the value.
struct OnnxAttribute {
  std::int64_t integer = 0;
  float real = 0;
  std::string text;
  std::vector<std::int64_t> integers;
  std::vector<std::string> texts;
  OnnxTensor tensor;
};

struct OnnxNode {
  std::string type;  ///< "LSTM", or "DOMAIN.LSTM" for operators that are not ONNX's own
  std::string name;
  std::vector<std::string> inputs, outputs;  ///< an empty name: not given
  std::map<std::string, OnnxAttribute> attributes;

  /// "LSTM 'name'", for messages.
  std::string title() const;
};

/// An input or an output of a graph; an extent that the file leaves open is -1.
struct OnnxValue {
  std::string name;
  Shape shape;
};

struct OnnxGraph {
  std::vector<OnnxNode> nodes;  ///< in an order in which each can be computed
  std::map<std::string, OnnxTensor> tensors;
  std::vector<OnnxValue> inputs, outputs;
};

/// Reads the graph of a model. Format: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto. Throws
/// InputError that begins with `where` for damaged bytes, and for tensors of other types than float, double, float16,
/// bfloat16, int32 and int64 or whose numbers are in another file.
OnnxGraph read_onnx_graph(std::string_view bytes, const std::string& where);

}  // namespace lagtape::foreign

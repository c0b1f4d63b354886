#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/tools/exchange/import/onnx_tensor.h"

namespace lagtape::foreign {

struct OnnxGraph;

/// An attribute of a node; the field for its type holds the value.
struct OnnxAttribute {
  std::int64_t integer = 0;
  float real = 0;
  std::string text;
  Integers integers;
  std::vector<float> reals;
  std::vector<std::string> texts;
  OnnxTensor tensor;
  std::shared_ptr<const OnnxGraph> graph;
};

struct OnnxNode {
  std::string type;  ///< "LSTM", or "DOMAIN.LSTM" for non-ONNX operators
  std::string name;
  std::vector<std::string> inputs, outputs;  ///< an empty name: not given
  std::map<std::string, OnnxAttribute> attributes;

  /// "LSTM 'name'", for messages.
  std::string title() const;
};

/// An input or an output of a graph; -1 for an extent that the file leaves open.
struct OnnxValue {
  std::string name;
  Shape shape;
  bool is_real = true;
};

struct OnnxGraph {
  std::vector<OnnxNode> nodes;  ///< in an order in which each can be computed
  std::map<std::string, OnnxTensor> tensors;
  std::vector<OnnxValue> inputs, outputs;
};

/// Reads the graph of a model. Format: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto. Numbers may be
/// stored in other files in `folder` or below it, which the model refers to. Throws InputError that starts with
/// `where` for damaged bytes, for a file outside `folder`, and for tensors of types other than float, double,
/// float16, bfloat16, int32, int64 and bool.
OnnxGraph read_onnx_graph(std::string_view bytes, const std::filesystem::path& folder,
                          const std::string& where);

}  // namespace lagtape::foreign

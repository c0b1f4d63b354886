#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "lagtape/core/io/protobuf.h"
#include "lagtape/core/tensor.h"

namespace lagtape {

/// The ONNX versions that the files declare.
inline constexpr std::int64_t kOnnxOpset = 17, kOnnxFormat = 8;

/// Element types, as ONNX numbers them.
enum class OnnxType : std::uint8_t { f32 = 1, i64 = 7, f64 = 11 };
OnnxType onnx_type(Dtype dtype);

/// An extent of a tensor in a graph: a number, or a name if it is not fixed, such as "batch".
struct OnnxExtent {
  OnnxExtent(std::int64_t size) : size(size) {}
  OnnxExtent(const char* name) : name(name) {}
  std::int64_t size = 0;
  std::string name;
};
using OnnxShape = std::vector<OnnxExtent>;

class OnnxWriter;

/// Attributes of a node.
class OnnxAttributes {
 public:
  OnnxAttributes& integer(const std::string& name, std::int64_t value);
  OnnxAttributes& integers(const std::string& name, std::span<const std::int64_t> values);
  OnnxAttributes& graph(const std::string& name, const OnnxWriter& value);

  std::span<const ProtobufWriter> all() const { return all_; }

 private:
  std::vector<ProtobufWriter> all_;
};

/// A graph under construction; values are identified by name. Constants of a nested graph are stored in the
/// outer one.
class OnnxWriter {
 public:
  explicit OnnxWriter(std::string name);
  /// A graph that runs inside a node of `outer`, which must outlive it.
  OnnxWriter(std::string name, OnnxWriter& outer);

  void input(const std::string& name, OnnxType type, const OnnxShape& shape);
  void output(const std::string& name, OnnxType type, const OnnxShape& shape);

  /// Adds a node with one output and returns its name: `wished`, or a name made from the operation.
  std::string node(const std::string& operation, std::span<const std::string> inputs,
                   const OnnxAttributes& attributes = {}, const std::string& wished = {});
  std::string node(const std::string& operation, std::initializer_list<std::string> inputs,
                   const OnnxAttributes& attributes = {}, const std::string& wished = {}) {
    return node(operation, std::span(inputs.begin(), inputs.size()), attributes, wished);
  }
  /// Adds a node whose outputs have the given names.
  void node(const std::string& operation, std::span<const std::string> inputs,
            std::span<const std::string> outputs, const OnnxAttributes& attributes);

  // Constants; each returns its name: a tensor, integers of shape [n], numbers.
  std::string constant(const std::string& wished, const Tensor& value);
  std::string integers(std::span<const std::int64_t> values);
  std::string integers(std::initializer_list<std::int64_t> values) {
    return integers(std::span(values.begin(), values.size()));
  }
  std::string integer(std::int64_t value);  ///< shape []
  std::string numbers(const Shape& shape, std::span<const double> values, Dtype dtype,
                      const std::string& wished = "number");

  /// An unused value name.
  std::string unique(const std::string& wished);

  ProtobufWriter message() const;
  /// The bytes of a model file of this graph.
  std::string model(const std::string& description) const;

 private:
  /// The names and constants shared by a graph and those nested in it.
  struct Shared {
    std::set<std::string> names;
    std::map<std::string, int> next_numbers;  ///< by name: the first number that may be unused as a suffix
    std::vector<ProtobufWriter> constants;
  };

  std::string add_constant(const std::string& wished, OnnxType type, const Shape& shape,
                           std::string_view bytes);

  std::string name_;
  bool is_outer_;
  std::shared_ptr<Shared> shared_;
  std::vector<ProtobufWriter> nodes_, inputs_, outputs_;
};

}  // namespace lagtape

#include "lagtape/tools/exchange/export/onnx/onnx_writer.h"

#include <utility>

#include "lagtape/core/error.h"

// The numbers of fields are those of onnx.proto (ONNX 1.12, format version 8).

namespace lagtape {
namespace {

ProtobufWriter value_info(const std::string& name, OnnxType type, const OnnxShape& shape) {
  ProtobufWriter extents, tensor, whole, info;
  for (const OnnxExtent& extent : shape) {
    ProtobufWriter dimension;
    if (extent.name.empty()) {
      dimension.integer(1, extent.size);
    } else {
      dimension.bytes(2, extent.name);
    }
    extents.message(1, dimension);
  }
  tensor.integer(1, static_cast<std::int64_t>(type));
  tensor.message(2, extents);
  whole.message(1, tensor);
  info.bytes(1, name);
  info.message(2, whole);
  return info;
}

/// An attribute of a kind, as AttributeProto numbers them, still without its value.
ProtobufWriter attribute(const std::string& name, int kind) {
  ProtobufWriter result;
  result.bytes(1, name);
  result.integer(20, kind);
  return result;
}

template <class T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

}  // namespace

OnnxType onnx_type(Dtype dtype) { return dtype == Dtype::f32 ? OnnxType::f32 : OnnxType::f64; }

OnnxAttributes& OnnxAttributes::integer(const std::string& name, std::int64_t value) {
  all_.push_back(attribute(name, 2));
  all_.back().integer(3, value);
  return *this;
}

OnnxAttributes& OnnxAttributes::integers(const std::string& name, std::span<const std::int64_t> values) {
  all_.push_back(attribute(name, 7));
  for (const std::int64_t value : values) all_.back().integer(8, value);
  return *this;
}

OnnxAttributes& OnnxAttributes::graph(const std::string& name, const OnnxWriter& value) {
  all_.push_back(attribute(name, 5));
  all_.back().message(6, value.message());
  return *this;
}

OnnxWriter::OnnxWriter(std::string name)
    : name_(std::move(name)), is_outer_(true), shared_(std::make_shared<Shared>()) {}
OnnxWriter::OnnxWriter(std::string name, OnnxWriter& outer)
    : name_(std::move(name)), is_outer_(false), shared_(outer.shared_) {}

void OnnxWriter::input(const std::string& name, OnnxType type, const OnnxShape& shape) {
  shared_->names.insert(name);
  inputs_.push_back(value_info(name, type, shape));
}

void OnnxWriter::output(const std::string& name, OnnxType type, const OnnxShape& shape) {
  outputs_.push_back(value_info(name, type, shape));
}

std::string OnnxWriter::unique(const std::string& wished) {
  if (shared_->names.insert(wished).second) return wished;
  int& number = shared_->next_numbers.try_emplace(wished, 2).first->second;
  std::string name;
  do {
    name = text_of(wished, "_", number++);
  } while (!shared_->names.insert(name).second);
  return name;
}

void OnnxWriter::node(const std::string& operation, std::span<const std::string> inputs,
                      std::span<const std::string> outputs, const OnnxAttributes& attributes) {
  ProtobufWriter node;
  for (const std::string& input : inputs) node.bytes(1, input);
  for (const std::string& output : outputs) node.bytes(2, output);
  node.bytes(3, text_of("to ", outputs.front()));
  node.bytes(4, operation);
  for (const ProtobufWriter& one : attributes.all()) node.message(5, one);
  nodes_.push_back(std::move(node));
}

std::string OnnxWriter::node(const std::string& operation, std::span<const std::string> inputs,
                             const OnnxAttributes& attributes, const std::string& wished) {
  const std::string name = unique(wished.empty() ? operation : wished);
  node(operation, inputs, std::span(&name, 1), attributes);
  return name;
}

std::string OnnxWriter::add_constant(const std::string& wished, OnnxType type, const Shape& shape,
                                     std::string_view bytes) {
  const std::string name = unique(wished);
  ProtobufWriter tensor;
  for (const std::int64_t extent : shape) tensor.integer(1, extent);
  tensor.integer(2, static_cast<std::int64_t>(type));
  tensor.bytes(8, name);
  tensor.bytes(9, bytes);
  shared_->constants.push_back(std::move(tensor));
  return name;
}

std::string OnnxWriter::constant(const std::string& wished, const Tensor& value) {
  return with_scalar(value.dtype(), [&]<class T>() {
    return add_constant(wished, onnx_type(value.dtype()), value.shape(), bytes_of(value.values<T>()));
  });
}

std::string OnnxWriter::integers(std::span<const std::int64_t> values) {
  return add_constant("integers", OnnxType::i64, {std::ssize(values)}, bytes_of(values));
}

std::string OnnxWriter::integer(std::int64_t value) {
  return add_constant("integer", OnnxType::i64, {}, bytes_of(std::span<const std::int64_t>(&value, 1)));
}

std::string OnnxWriter::numbers(const Shape& shape, std::span<const double> values, Dtype dtype,
                                const std::string& wished) {
  return constant(wished, Tensor::from(shape, values, dtype));
}

ProtobufWriter OnnxWriter::message() const {
  ProtobufWriter graph;
  for (const ProtobufWriter& node : nodes_) graph.message(1, node);
  graph.bytes(2, name_);
  if (is_outer_)
    for (const ProtobufWriter& tensor : shared_->constants) graph.message(5, tensor);
  for (const ProtobufWriter& input : inputs_) graph.message(11, input);
  for (const ProtobufWriter& output : outputs_) graph.message(12, output);
  return graph;
}

std::string OnnxWriter::model(const std::string& description) const {
  ProtobufWriter operations, model;
  operations.bytes(1, "");
  operations.integer(2, kOnnxOpset);
  model.integer(1, kOnnxFormat);
  model.bytes(2, "lagtape");
  model.bytes(6, description);
  model.message(7, message());
  model.message(8, operations);
  return model.bytes();
}

}  // namespace lagtape

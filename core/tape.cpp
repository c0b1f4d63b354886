#include "lagtape/core/tape.h"

#include "lagtape/core/error.h"
#include "lagtape/core/parameter.h"

namespace lagtape {
namespace {

void add_to(Tensor& sum, const Tensor& term) {
  with_scalar(sum.dtype(), [&]<class T>() {
    T* to = sum.values<T>().data();
    const T* from = term.values<T>().data();
    const std::int64_t n = sum.numel();
    for (std::int64_t i = 0; i < n; ++i) to[i] += from[i];
  });
}

bool alike(const Tensor& a, const Tensor& b) { return a.is(b.dtype(), b.shape()); }

}  // namespace

// ---- Var --------------------------------------------------------------------------------------------------

const Tensor& Var::value() const {
  if (!tape_) throw InputError({.op = "var"}, Rule::missing, "not of any tape: a default Var has no value.");
  return tape_->node_of(*this, "var").value;
}

Tensor Var::grad() const {
  const Tensor& like = value();
  const Tape::Node& node = tape_->nodes_[index_];
  if (!node.reached) return Tensor(like.shape(), like.dtype());
  return node.parameter ? node.parameter->grad.clone() : node.grad.clone();
}

bool Var::requires_grad() const {
  value();
  return tape_->nodes_[index_].requires_grad;
}

// ---- InputGradients ---------------------------------------------------------------------------------------

bool InputGradients::wanted(int i) const {
  return tape_.nodes_[tape_.nodes_[node_].inputs.at(i)].requires_grad;
}

void InputGradients::add(int i, const Tensor& gradient) {
  if (!wanted(i)) return;
  Tensor& sum = accumulator(i);
  if (!alike(sum, gradient)) {
    throw Error(text_of("[backward] a gradient is like its input. Got ",
                        to_string(gradient.dtype(), gradient.shape()), " for input ", i, ", ",
                        to_string(sum.dtype(), sum.shape())));
  }
  add_to(sum, gradient);
}

Tensor& InputGradients::accumulator(int i) { return tape_.accumulator(tape_.nodes_[node_].inputs.at(i)); }

// ---- Recording --------------------------------------------------------------------------------------------

Tape::Tape() = default;
Tape::~Tape() = default;

Var Tape::constant(Tensor value) {
  Node node;
  node.value = std::move(value);
  return add(std::move(node));
}

Var Tape::variable(Tensor value) {
  Node node;
  node.value = std::move(value);
  node.requires_grad = true;
  return add(std::move(node));
}

Var Tape::parameter(Parameter& parameter) {
  Node node;
  node.value = parameter.value;
  node.parameter = &parameter;
  node.requires_grad = parameter.trainable;
  return add(std::move(node));
}

Var Tape::record(Tensor value, std::span<const Var> inputs, Backward backward, Tangent tangent) {
  Node node;
  node.value = std::move(value);
  node.inputs.reserve(inputs.size());
  for (const Var& input : inputs) {
    node.requires_grad |= node_of(input, "record").requires_grad;
    node.inputs.push_back(input.index_);
  }
  if (node.requires_grad) {
    if (!backward) throw Error("[record] an input requires a gradient, and there is no rule for it.");
    node.rule = std::move(backward);
    node.tangent = std::move(tangent);
  }
  return add(std::move(node));
}

Var Tape::record(Tensor value, std::initializer_list<Var> inputs, Backward backward, Tangent tangent) {
  return record(std::move(value), std::span<const Var>(inputs.begin(), inputs.size()), std::move(backward),
                std::move(tangent));
}

Tensor Tape::allocate(Shape shape, Dtype dtype) { return Tensor(std::move(shape), dtype, arena_); }

Var Tape::add(Node node) {
  if (node.value.empty())
    throw InputError({.op = "tape"}, Rule::missing, "a node has a value", "an empty tensor");
  nodes_.push_back(std::move(node));
  return Var(this, static_cast<int>(nodes_.size()) - 1);
}

const Tape::Node& Tape::node_of(const Var& var, const char* op) const {
  if (var.tape_ != this) throw InputError({.op = op}, Rule::conflict, "a Var of another tape, or of none.");
  if (static_cast<std::size_t>(var.index_) >= nodes_.size()) {
    throw InputError({.op = op}, Rule::conflict, "a Var that the tape was rewound past.");
  }
  return nodes_[var.index_];
}

// ---- Backward ---------------------------------------------------------------------------------------------

Tensor& Tape::accumulator(int index) {
  Node& node = nodes_[index];
  if (node.parameter) {  // adds in place: a large table whose gradient touches few rows is not copied
    node.reached = true;
    return node.parameter->grad;
  }
  if (node.reached) return node.grad;
  if (!node.grad.empty()) {
    node.grad.fill(0);
  } else if (node.rule) {
    node.grad = allocate(node.value.shape(), node.value.dtype());
  } else {
    node.grad = Tensor(node.value.shape(), node.value.dtype());  // a leaf's gradient outlives `rewind`
  }
  node.reached = true;
  return node.grad;
}

void Tape::backward(Var loss) {
  const Tensor& value = node_of(loss, "backward").value;
  if (value.numel() != 1) {
    throw InputError({.op = "backward"}, Rule::shape, "starts from one element", to_string(value.shape()),
                     "Sum it first, or give dL/d(output).");
  }
  backward(loss, Tensor::full(value.shape(), value.dtype(), 1));
}

void Tape::backward(Var output, const Tensor& grad_output) {
  const Node& start = node_of(output, "backward");
  if (!alike(start.value, grad_output))
    throw wrong_tensor({.item = "dL/d(output)", .op = "backward"}, start.value.dtype(), start.value.shape(),
                       grad_output);
  for (Node& node : nodes_) node.reached = false;
  if (!start.requires_grad) return;

  add_to(accumulator(output.index_), grad_output);
  for (int i = output.index_; i >= 0; --i) {
    Node& node = nodes_[i];
    if (!node.reached) continue;
    if (node.rule) {
      InputGradients inputs(*this, i);
      node.rule(node.grad, inputs);
    }
  }
}

// ---- Forward mode -----------------------------------------------------------------------------------------

std::vector<Var> Tape::tangents(std::span<const Var> outputs, std::span<const Var> inputs,
                                std::span<const Var> changes) {
  if (inputs.size() != changes.size())
    throw unexpected({.op = "tangents"}, Rule::shape, text_of(inputs.size(), " changes"),
                     text_of(changes.size()));
  std::vector<Var> of_nodes(nodes_.size());  // nodes that this function records get no tangent
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& value = node_of(inputs[i], "tangents").value;
    if (!changes[i].is_of_tape()) continue;
    const Tensor& change = node_of(changes[i], "tangents").value;
    if (!alike(value, change))
      throw wrong_tensor({.item = "a change", .op = "tangents"}, value.dtype(), value.shape(), change);
    of_nodes[inputs[i].index_] = changes[i];
  }
  for (std::size_t i = 0; i < of_nodes.size(); ++i) {
    if (nodes_[i].inputs.empty() || of_nodes[i].is_of_tape()) continue;
    std::vector<Var> from, by;
    bool is_changing = false;
    for (const int input : nodes_[i].inputs) {
      from.push_back(Var(this, input));
      by.push_back(of_nodes[input]);
      is_changing |= by.back().is_of_tape();
    }
    if (!is_changing || !nodes_[i].requires_grad) continue;
    if (!nodes_[i].tangent)
      throw InputError({.op = "tangents"}, Rule::not_supported,
                       "an operation has no derivative of forward mode.");
    const Tangent rule = nodes_[i].tangent;
    of_nodes[i] = rule(from, Var(this, static_cast<int>(i)), by);
  }
  std::vector<Var> found;
  for (const Var& output : outputs) {
    node_of(output, "tangents");
    found.push_back(static_cast<std::size_t>(output.index_) < of_nodes.size() ? of_nodes[output.index_]
                                                                              : Var());
  }
  return found;
}

// ---- Mark and rewind --------------------------------------------------------------------------------------

Tape::Mark Tape::mark() const { return {nodes_.size(), arena_.mark()}; }

void Tape::rewind(Mark mark) {
  if (mark.nodes > nodes_.size()) throw Error("[rewind] the tape was already rewound past this mark.");
  nodes_.resize(mark.nodes);
  for (Node& node : nodes_) {
    if (!node.rule) continue;
    node.grad = {};  // its memory may lie after the mark
    node.reached = false;
  }
  arena_.rewind(mark.arena);
}

std::size_t Tape::size() const { return nodes_.size(); }

}  // namespace lagtape

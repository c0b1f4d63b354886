#pragma once

#include <deque>
#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

#include "lagtape/core/arena.h"
#include "lagtape/core/tensor.h"

namespace lagtape {

class Tape;
struct Parameter;

/// A handle to a node of a tape: cheap to copy, valid until the tape is rewound past the node.
class Var {
 public:
  Var() = default;

  Tape& tape() const { return *tape_; }
  const Tensor& value() const;
  /// A copy of the gradient from the last `Tape::backward` (a parameter's whole gradient); zeros if none.
  Tensor grad() const;
  bool requires_grad() const;
  bool is_of_tape() const { return tape_ != nullptr; }  ///< false for a default Var
  const Shape& shape() const { return value().shape(); }
  Dtype dtype() const { return value().dtype(); }
  int index() const { return index_; }

 private:
  friend class Tape;
  Var(Tape* tape, int index) : tape_(tape), index_(index) {}
  Tape* tape_ = nullptr;
  int index_ = -1;
};

/// The destination of the gradients that a node's backward rule computes for its inputs. Gradients
/// ACCUMULATE: a rule adds, it never assigns.
class InputGradients {
 public:
  /// Whether input i needs a gradient; if not, a rule may skip the work.
  bool wanted(int i) const;
  /// Adds `gradient` (same shape and dtype as input i) to the gradient of input i. Does nothing if it is not
  /// wanted.
  void add(int i, const Tensor& gradient);
  /// The accumulator of input i itself (initially zeros), for rules that add in place. Call it only if
  /// wanted(i).
  Tensor& accumulator(int i);

 private:
  friend class Tape;
  InputGradients(Tape& tape, int node) : tape_(tape), node_(node) {}
  Tape& tape_;
  int node_;
};

/// A rule: given dL/d(output), add dL/d(input i) for every input.
using Backward = std::function<void(const Tensor& grad_output, InputGradients& inputs)>;

/// A forward-mode rule: records the change of the output, given the changes of the inputs; a default Var means
/// no change.
using Tangent =
    std::function<Var(std::span<const Var> inputs, const Var& output, std::span<const Var> changes)>;

/// The eager outer tape: nodes in execution order; `backward` is a reverse loop that adds gradients. Not
/// thread-safe; use one tape per thread.
class Tape {
 public:
  Tape();
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  Var constant(Tensor value);  ///< A leaf without a gradient.
  Var variable(Tensor value);  ///< A leaf with a gradient, read with Var::grad.
  /// A leaf whose gradient `backward` adds to parameter.grad.
  Var parameter(Parameter& parameter);

  /// A node computed from inputs. Throws InputError if an input belongs to another tape. The rules are dropped
  /// if no input requires a gradient; if one does, `backward` is required (Error).
  Var record(Tensor value, std::span<const Var> inputs, Backward backward, Tangent tangent = {});
  Var record(Tensor value, std::initializer_list<Var> inputs, Backward backward, Tangent tangent = {});

  /// Zeros in this tape's arena, where operations allocate their results.
  Tensor allocate(Shape shape, Dtype dtype);

  /// Runs the rules in reverse from a scalar. Intermediate nodes keep only this call's gradients; parameters'
  /// gradients are added to Parameter::grad. Throws InputError unless `loss` has one element.
  void backward(Var loss);
  /// The same from any node, given dL/d(output).
  void backward(Var output, const Tensor& grad_output);

  /// Forward mode: the derivatives of nodes when each of `inputs` changes by its change (a default Var: not at all),
  /// recorded on this tape, so that they have gradients and tangents themselves. A default Var for a node that does
  /// not change. Throws InputError for an operation between them that has no rule.
  std::vector<Var> tangents(std::span<const Var> outputs, std::span<const Var> inputs,
                            std::span<const Var> changes);

  struct Mark {
    std::size_t nodes = 0;
    Arena::Mark arena;
  };
  Mark mark() const;
  /// Drops every node recorded after the mark and frees its memory. Leaves before it keep their gradients;
  /// computed nodes lose theirs.
  void rewind(Mark mark);
  std::size_t size() const;

 private:
  friend class Var;
  friend class InputGradients;

  struct Node {
    Tensor value;
    std::vector<int> inputs;
    Backward rule;
    Tangent tangent;
    Parameter* parameter = nullptr;
    bool requires_grad = false;
    bool reached = false;  ///< whether the last backward reached it; otherwise `grad` is stale
    Tensor grad;           ///< in the arena, but on the heap for a leaf
  };

  Var add(Node node);
  const Node& node_of(const Var& var, const char* op) const;
  Tensor& accumulator(int index);

  std::deque<Node> nodes_;  // a deque, so that references to values stay valid while nodes are added
  Arena arena_;
};

}  // namespace lagtape

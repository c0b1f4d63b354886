#pragma once

#include "lagtape/core/tape.h"

namespace lagtape::recurrence {

/// The parts of a product that do not round because they are element-wise work.
struct ScalarParts {
  bool value = false;            ///< W a
  bool weight_gradient = false;  ///< dW, from the adjoint itself, rounded or not
  bool rounded_sum = false;      ///< whether that adjoint is rounded
};

/// W a with operands rounded to bf16, forward and backward: the adjoint is also an operand of the products that
/// give the gradients of a and W. The derivative of rounding counts as one. dW is computed from `seen`, the
/// saved form of a. Only the rounding of operands is the engine's; sums are those of ops/matmul.
Var product_in_bf16(const Var& a, const Var& w, const Tensor& seen, ScalarParts scalar);

/// The same value, but its adjoint is rounded in the backward pass.
Var with_rounded_adjoint(const Var& y);

/// The numbers rounded to bf16.
Tensor rounded_to_bf16(const Tensor& x);

}  // namespace lagtape::recurrence

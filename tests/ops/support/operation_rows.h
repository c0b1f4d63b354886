#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lagtape/tests/ops/support/tensors.h"

namespace lagtape::test {

using Inputs = std::span<const Var>;

/// One operation on inputs of given shapes. An overload may have several rows.
struct Row {
  std::string declaration;  ///< as its header has it, after "Var "
  std::vector<Shape> shapes;
  std::function<Var(Inputs)> apply;
  Domain domain = Domain::real;
};

/// A function that equations name as element_names.h declares it, by a template.
std::string declaration_of(const ElementFunction& f);

/// Every operation of the outer tape.
std::vector<Row> operation_rows();

std::vector<Tensor> inputs_of(const Row& row, Dtype dtype);

/// Differences are at most the tolerance times the largest number of b.
void check_close(const std::vector<double>& a, const std::vector<double>& b, double tolerance);

}  // namespace lagtape::test

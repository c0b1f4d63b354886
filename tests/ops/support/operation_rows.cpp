#include "lagtape/tests/ops/support/operation_rows.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "lagtape/core/text.h"
#include "lagtape/ops/batch_norm.h"
#include "lagtape/ops/dropout.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/embedding.h"
#include "lagtape/ops/loss.h"
#include "lagtape/ops/matmul.h"
#include "lagtape/ops/matrices.h"
#include "lagtape/ops/matrix_exponential.h"
#include "lagtape/ops/reduce.h"
#include "lagtape/ops/reverse_time.h"
#include "lagtape/ops/shape.h"

namespace lagtape::test {
namespace {

const std::vector<std::int32_t> kClasses = {2, 0, 1, 2};
const std::vector<std::int32_t> kBits = {1, 0, 0, 1};
const std::vector<std::int32_t> kWords = {4, 0, 4, 2, 4};
const std::vector<std::int64_t> kAxes = {2, 0, 1};
const std::vector<std::int64_t> kStrides = {2, 3, 0};
const std::vector<std::int64_t> kLengths = {4, 1, 3};

ThreadPool& pool() {
  static ThreadPool threads(2);
  return threads;
}

/// The functions that equations name, from their table.
void add_functions(std::vector<Row>& rows) {
  for (const ElementFunction& f : kElementFunctions) {
    if (f.notation != ElementNotation::function || f.domain == ElementDomain::declared) continue;
    if (f.arrays == 2) {
      const auto apply = [op = f.op](Inputs x) { return elementwise(op, x[0], x[1]); };
      rows.push_back({declaration_of(f), {{4, 9}, {4, 9}}, apply, f.domain});
      rows.push_back({declaration_of(f), {{9}, {4, 1}}, apply, f.domain});
      continue;
    }
    // sign alone has no gradient.
    const auto apply = [op = f.op](Inputs x) {
      const Var y = elementwise(op, x[0]);
      return y.requires_grad() ? y : y * x[0];
    };
    rows.push_back({declaration_of(f), {{5, 7}}, apply, f.domain});
  }
}

std::vector<Row> operators() {
  using enum ElementDomain;
  return {
      {"operator+(const Var& a, const Var& b)", {{3, 5}, {3, 5}}, [](Inputs x) { return x[0] + x[1]; }},
      {"operator+(const Var& a, const Var& b)", {{4, 1, 5}, {3, 1}}, [](Inputs x) { return x[0] + x[1]; }},
      {"operator+(const Var& a, const Var& b)", {{6}, {6}}, [](Inputs x) { return x[0] + x[0] + x[1]; }},
      {"operator+(const Var& a, double b)", {{7}}, [](Inputs x) { return x[0] + 1.5; }},
      {"operator+(double a, const Var& b)", {{7}}, [](Inputs x) { return 1.5 + x[0]; }},
      {"operator-(const Var& a, const Var& b)", {{2, 3}, {2, 3}}, [](Inputs x) { return x[0] - x[1]; }},
      {"operator-(const Var& a, const Var& b)", {{}, {2, 17}}, [](Inputs x) { return x[0] - x[1]; }},
      {"operator-(const Var& a, double b)", {{2, 2}}, [](Inputs x) { return x[0] - 0.5; }},
      {"operator-(double a, const Var& b)", {{2, 2}}, [](Inputs x) { return 0.5 - x[0]; }},
      {"operator*(const Var& a, const Var& b)", {{3, 4}, {3, 4}}, [](Inputs x) { return x[0] * x[1]; }},
      {"operator*(const Var& a, const Var& b)", {{3, 1}, {1, 4}}, [](Inputs x) { return x[0] * x[1]; }},
      {"operator*(const Var& a, const Var& b)", {{5}, {1}}, [](Inputs x) { return x[0] * x[0] * x[1]; }},
      {"operator*(const Var& a, double b)", {{9}}, [](Inputs x) { return x[0] * -2.5; }},
      {"operator*(double a, const Var& b)", {{9}}, [](Inputs x) { return -2.5 * x[0]; }},
      {"operator/(const Var& a, const Var& b)",
       {{2, 5}, {2, 5}},
       [](Inputs x) { return x[0] / x[1]; },
       nonzero},
      {"operator/(const Var& a, const Var& b)",
       {{5}, {3, 2, 1}},
       [](Inputs x) { return x[0] / x[1]; },
       nonzero},
      {"operator/(const Var& a, double b)", {{9}}, [](Inputs x) { return x[0] / 3; }},
      {"operator/(double a, const Var& b)", {{9}}, [](Inputs x) { return 3 / x[0]; }, nonzero},
      {"operator-(const Var& x)", {{3, 3}}, [](Inputs x) { return -x[0]; }},
  };
}

std::vector<Row> functions() {
  using enum ElementDomain;
  return {
      {"minimum(const Var& a, double b)", {{20}}, [](Inputs x) { return minimum(x[0], 0); }, nonzero},
      {"maximum(const Var& a, double b)", {{20}}, [](Inputs x) { return maximum(x[0], 0); }, nonzero},
      {"elementwise(ElementOp function, const Var& a, const Var& b = {})",
       {{2, 5}, {5}},
       [](Inputs x) { return elementwise(ElementOp::multiply, x[0], x[1]); }},
      {"elementwise_at(const ElementValues& at, ElementOp function, const Tensor& y, const Var& a, const "
       "Var& b = {})",
       {{2, 5}, {5}},
       [](Inputs x) {
         const Tensor y = (x[0] / x[1]).value();
         return elementwise_at({x[0].value(), x[1].value(), y}, ElementOp::divide, y, x[0], x[1]);
       },
       nonzero},
      {"square(const Var& x)", {{5, 7}}, [](Inputs x) { return square(x[0]); }},
      {"softplus(const Var& x)", {{5, 7}}, [](Inputs x) { return softplus(10 * x[0]); }},
      {"pow_constant(const Var& x, double exponent)", {{8}}, [](Inputs x) { return pow_constant(x[0], 3); }},
      {"pow_constant(const Var& x, double exponent)",
       {{8}},
       [](Inputs x) { return pow_constant(x[0], -1.5); },
       positive},
  };
}

std::vector<Row> products_and_sums() {
  return {
      {"matmul(const Var& a, const Var& b)", {{3, 4}, {4, 2}}, [](Inputs x) { return matmul(x[0], x[1]); }},
      {"matmul(const Var& a, const Var& b)",
       {{2, 3, 5}, {5, 17}},
       [](Inputs x) { return matmul(x[0], x[1]); }},
      {"matmul(const Var& a, const Var& b)", {{6}, {6, 16}}, [](Inputs x) { return matmul(x[0], x[1]); }},
      {"matmul(const Var& a, const Var& b)", {{3, 3}}, [](Inputs x) { return matmul(x[0], x[0]); }},
      {"matmul(const Var& a, const Var& b)", {{1, 1}, {1, 1}}, [](Inputs x) { return matmul(x[0], x[1]); }},
      {"linear(const Var& x, const Var& w)", {{5, 4}, {3, 4}}, [](Inputs x) { return linear(x[0], x[1]); }},
      {"linear(const Var& x, const Var& w)",
       {{2, 2, 9}, {8, 9}},
       [](Inputs x) { return linear(x[0], x[1]); }},
      {"linear(const Var& x, const Var& w)", {{7}, {1, 7}}, [](Inputs x) { return linear(x[0], x[1]); }},
      {"linear(const Var& x, const Var& w, const Var& bias)",
       {{2, 3, 4}, {5, 4}, {5}},
       [](Inputs x) { return linear(x[0], x[1], x[2]); }},
      {"sum(const Var& x)", {{2, 3, 4}}, [](Inputs x) { return square(sum(x[0])); }},
      {"sum(const Var& x, std::int64_t axis, bool keep = false)",
       {{2, 3, 4}},
       [](Inputs x) { return sum(x[0], 0); }},
      {"sum(const Var& x, std::int64_t axis, bool keep = false)",
       {{2, 3, 4}},
       [](Inputs x) { return sum(x[0], 1, true); }},
      {"sum(const Var& x, std::int64_t axis, bool keep = false)",
       {{2, 1, 4}},
       [](Inputs x) { return sum(x[0], -2); }},
      {"mean(const Var& x)", {{2, 3, 4}}, [](Inputs x) { return square(mean(x[0])); }},
      {"mean(const Var& x, std::int64_t axis, bool keep = false)",
       {{2, 3, 4}},
       [](Inputs x) { return mean(x[0], -1); }},
      {"mean(const Var& x, std::int64_t axis, bool keep = false)",
       {{5}},
       [](Inputs x) { return square(x[0] - mean(x[0], 0, true)); }},
  };
}

std::vector<Row> shapes() {
  return {
      {"reshape(const Var& x, const Shape& shape)",
       {{4, 3}},
       [](Inputs x) {
         return reshape(x[0], {2, 6});
       }},
      {"transpose(const Var& x)", {{4, 3}}, [](Inputs x) { return transpose(x[0]); }},
      {"transpose(const Var& x)", {{4, 4}}, [](Inputs x) { return x[0] - transpose(x[0]); }},
      {"transpose(const Var& x, std::span<const std::int64_t> axes)",
       {{2, 3, 4}},
       [](Inputs x) { return transpose(x[0], kAxes); }},
      {"as_strided(const Var& x, const Shape& shape, std::int64_t first, std::span<const std::int64_t> "
       "strides)",
       {{2, 5}},
       [](Inputs x) {
         return as_strided(x[0], {3, 2, 2}, 1, kStrides);
       }},
      {"slice(const Var& x, std::int64_t axis, std::int64_t begin, std::int64_t end)",
       {{2, 5, 3}},
       [](Inputs x) { return slice(x[0], 1, 1, 4) * slice(x[0], 1, 2, 5); }},
      {"slice(const Var& x, std::int64_t axis, std::int64_t begin, std::int64_t end)",
       {{2, 5}},
       [](Inputs x) { return slice(x[0], -1, 4, 5); }},
      {"concatenate(std::span<const Var> inputs, std::int64_t axis)",
       {{2, 3}, {2, 1}, {2, 4}},
       [](Inputs x) { return concatenate(x, 1); }},
      {"concatenate(std::span<const Var> inputs, std::int64_t axis)",
       {{2, 3}, {1, 3}},
       [](Inputs x) { return concatenate(x, -2); }},
      {"stack(std::span<const Var> inputs, std::int64_t axis = 0)",
       {{2, 3}, {2, 3}, {2, 3}},
       [](Inputs x) { return stack(x); }},
      {"stack(std::span<const Var> inputs, std::int64_t axis = 0)",
       {{2, 3}, {2, 3}},
       [](Inputs x) { return stack(x, -1); }},
      {"embedding(const Var& e, std::span<const std::int32_t> indices)",
       {{5, 3}},
       [](Inputs x) { return embedding(x[0], kWords); }},
      {"embedding(const Var& e, TokenRows rows, double scale, ThreadPool& pool)",
       {{5, 40}},
       [](Inputs x) {
         return embedding(x[0], {2, 3, {4, 0, -1, 2, 4, 4}}, 1.5, pool());
       }},
      {"reverse_time(const Var& x, std::span<const std::int64_t> lengths, ThreadPool& pool)",
       {{3, 4, 5}},
       [](Inputs x) { return reverse_time(x[0], kLengths, pool()); }},
      {"reverse_time(const Var& x, std::span<const std::int64_t> lengths, ThreadPool& pool)",
       {{3, 4, 5}},
       [](Inputs x) { return reverse_time(x[0], {}, pool()); }},
  };
}

std::vector<Row> matrices_and_losses() {
  return {
      {"batch_norm(const Var& x, const Var& gain, const Var& bias, std::span<const std::int64_t> lengths, "
       "double eps, ThreadPool& pool, BatchMoments& moments)",
       {{3, 4, 5}, {5}, {5}},
       [](Inputs x) {
         BatchMoments moments;
         return batch_norm(x[0], x[1], x[2], kLengths, 0.01, pool(), moments);
       }},
      {"identity(const Var& like, std::int64_t n)",
       {{4, 4}},
       [](Inputs x) { return x[0] * (x[0] + identity(x[0], 4)); }},
      {"arange(const Var& like, std::int64_t n)",
       {{4, 3}},
       [](Inputs x) { return x[0] * (x[0] + arange(x[0], 3)); }},
      {"strict_upper(const Var& v, std::int64_t n)",
       {{10}},
       [](Inputs x) { return strict_upper(x[0], 5) + 0.5; }},
      {"matrix_exponential(const Var& a)", {{5, 5}}, [](Inputs x) { return matrix_exponential(x[0]); }},
      {"dropout(const Var& x, double p, std::uint64_t seed, std::uint64_t stream, bool training)",
       {{6, 7}},
       [](Inputs x) { return dropout(x[0], 0.4, 1, 2, true); }},
      {"mse(const Var& y, const Tensor& target)",
       {{4, 3}},
       [](Inputs x) {
         return mse(x[0], random_tensor({4, 3}, x[0].dtype(), 5));
       }},
      {"cross_entropy(const Var& logits, std::span<const std::int32_t> classes)",
       {{4, 3}},
       [](Inputs x) { return cross_entropy(x[0] * 4, kClasses); }},
      {"binary_cross_entropy(const Var& logits, std::span<const std::int32_t> classes)",
       {{4, 1}},
       [](Inputs x) { return binary_cross_entropy(x[0] * 4, kBits); }},
      {"binary_cross_entropy(const Var& logits, std::span<const std::int32_t> classes)",
       {{4}},
       [](Inputs x) { return binary_cross_entropy(x[0] * 4, kBits); }},
  };
}

}  // namespace

/// A function that equations name as element_names.h declares it, by a template.
std::string declaration_of(const ElementFunction& f) {
  return text_of(f.name, f.arrays == 1 ? "(const Var& x)" : "(const Var& a, const Var& b)");
}

std::vector<Row> operation_rows() {
  std::vector<Row> all;
  for (const auto& rows : {operators(), functions(), products_and_sums(), shapes(), matrices_and_losses()})
    all.insert(all.end(), rows.begin(), rows.end());
  add_functions(all);
  return all;
}

std::vector<Tensor> inputs_of(const Row& row, Dtype dtype) {
  std::vector<Tensor> inputs;
  for (const Shape& shape : row.shapes)
    inputs.push_back(random_tensor(shape, dtype, 11 + inputs.size(), row.domain));
  return inputs;
}

void check_close(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  REQUIRE(a.size() == b.size());
  double scale = 1e-30;
  for (const double value : b) scale = std::max(scale, std::abs(value));
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::abs(a[i] - b[i]) <= tolerance * scale);
}

}  // namespace lagtape::test

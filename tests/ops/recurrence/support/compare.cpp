#include "lagtape/tests/ops/recurrence/support/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <iomanip>
#include <limits>

#include "lagtape/core/error.h"

namespace lagtape::test {
namespace {

std::string describe(const Tensor& tensor) {
  return tensor.empty() ? "nothing" : text_of(name_of(tensor.dtype()), " ", to_string(tensor.shape()));
}

std::string mismatch(const Tensor& actual, const Tensor& expected) {
  if (actual.dtype() == expected.dtype() && actual.shape() == expected.shape() &&
      actual.empty() == expected.empty())
    return "";
  return text_of(describe(actual), " where ", describe(expected), " was expected");
}

std::string element_text(const Tensor& actual, const Tensor& expected, std::int64_t i) {
  return text_of("[", i, "] of ", to_string(expected.shape()), ": ", std::setprecision(17), actual.at(i),
                 " where ", expected.at(i), " was expected");
}

double largest(const Tensor& tensor) {
  double entry = 0;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) entry = std::max(entry, std::abs(tensor.at(i)));
  return entry;
}

bool is_gradient(const NamedTensor& result) { return result.name.starts_with("d "); }

using Compare = std::function<std::string(const NamedTensor&, const NamedTensor&)>;

std::string compare_all(const Results& actual, const Results& expected, const Compare& compare) {
  std::string text;
  if (actual.size() != expected.size()) text = text_of(actual.size(), " results for ", expected.size(), "\n");
  for (std::size_t i = 0; i < std::min(actual.size(), expected.size()); ++i) {
    const std::string name =
        actual[i].name == expected[i].name ? actual[i].name : actual[i].name + " as " + expected[i].name;
    const std::string line = compare(actual[i], expected[i]);
    if (!line.empty() || actual[i].name != expected[i].name) text += name + " " + line + "\n";
  }
  return text;
}

}  // namespace

Difference difference(const Tensor& actual, const Tensor& expected, double floor) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (const std::string text = mismatch(actual, expected); !text.empty()) return {kInfinity, text};
  const double scale = std::max(floor, largest(expected));
  Difference worst;
  for (std::int64_t i = 0; i < expected.numel(); ++i) {
    const double apart = std::abs(actual.at(i) - expected.at(i));
    double relative = apart == 0 ? 0 : apart / scale;
    if (!std::isfinite(actual.at(i)) || !std::isfinite(expected.at(i))) relative = kInfinity;
    if (relative > worst.relative) worst = {relative, element_text(actual, expected, i)};
  }
  return worst;
}

std::string bit_difference(const Tensor& actual, const Tensor& expected) {
  if (const std::string text = mismatch(actual, expected); !text.empty()) return text;
  const std::size_t size = expected.empty() ? 0 : byte_size(expected.dtype());
  const auto* a = static_cast<const char*>(actual.raw());
  const auto* b = static_cast<const char*>(expected.raw());
  for (std::int64_t i = 0; i < expected.numel(); ++i) {
    if (std::memcmp(a + i * size, b + i * size, size) != 0) return element_text(actual, expected, i);
  }
  return "";
}

const Tensor& named(const Results& results, const std::string& name) {
  for (const NamedTensor& result : results) {
    if (result.name == name) return result.tensor;
  }
  throw Error("no result is named " + name);
}

std::string differences(const Results& actual, const Results& expected, double tolerance) {
  double all = 0;
  for (const NamedTensor& result : expected) all = std::max(all, largest(result.tensor));
  return compare_all(actual, expected, [&](const NamedTensor& a, const NamedTensor& b) {
    const Difference d = difference(a.tensor, b.tensor, is_gradient(b) ? 1e-2 * all : 0);
    return d.relative <= tolerance ? "" : text_of(d.where, ", off by ", d.relative, " of the largest entry");
  });
}

std::string bit_differences(const Results& actual, const Results& expected) {
  return compare_all(actual, expected, [](const NamedTensor& a, const NamedTensor& b) {
    return bit_difference(a.tensor, b.tensor);
  });
}

}  // namespace lagtape::test

#include "lagtape/tools/exchange/import/onnx_axes.h"

#include <algorithm>
#include <vector>

#include "lagtape/core/error.h"

namespace lagtape::foreign {
namespace {

using Numbers = std::vector<std::int64_t>;

[[noreturn]] void refuse_move(const OnnxNode& node, const AxesBefore& before, const std::string& where,
                              const std::string& message) {
  throw InputError({.file = where, .item = node.title()}, Rule::not_supported, message, {},
                   text_of("The axes are ", before.axes, " (C: numbers of a step, D: directions)."));
}

/// The axes that a node names in an attribute (before opset 13) or in its second input, counted from the front of
/// `rank` axes.
Numbers named_axes(const OnnxNode& node, std::int64_t rank, const OnnxConstants& constants) {
  Numbers axes;
  if (const auto found = node.attributes.find("axes"); found != node.attributes.end())
    axes = found->second.integers;
  if (has_input(node, 1)) axes = constants.integers(node, 1);
  for (std::int64_t& axis : axes)
    if (axis < 0) axis += rank;
  return axes;
}

std::string transposed_axes(const OnnxNode& node, const AxesBefore& before, const std::string& where) {
  const std::int64_t rank = std::ssize(before.axes);
  const auto found = node.attributes.find("perm");
  std::string axes;
  Numbers sorted;
  for (std::int64_t i = 0; i < rank; ++i) {
    const bool given = found != node.attributes.end();
    const Numbers& order = given ? found->second.integers : sorted;
    if (given && (std::ssize(order) != rank || order[i] < 0 || order[i] >= rank))
      refuse_move(node, before, where, "its perm does not fit.");
    axes += before.axes[given ? order[i] : rank - 1 - i];
  }
  if (!std::ranges::is_permutation(axes, before.axes))
    refuse_move(node, before, where, "its perm names an axis twice.");
  return axes;
}

std::string squeezed_axes(const OnnxNode& node, const AxesBefore& before, const OnnxConstants& constants,
                          const std::string& where) {
  const Numbers named = named_axes(node, std::ssize(before.axes), constants);
  std::string axes;
  for (std::int64_t i = 0; i < std::ssize(before.axes); ++i) {
    const char axis = before.axes[i];
    if (std::ranges::find(named, i) == named.end()) {
      axes += axis;
    } else if (axis == 'C' || (axis == 'D' && before.directions > 1)) {
      refuse_move(node, before, where, text_of("axis ", i, " has more than one number."));
    }
  }
  if (named.size() + axes.size() != before.axes.size())
    refuse_move(node, before, where, "expected axes of its input.");
  return axes;
}

std::string unsqueezed_axes(const OnnxNode& node, const AxesBefore& before, const OnnxConstants& constants,
                            const std::string& where) {
  const Numbers named = named_axes(node, std::ssize(before.axes) + 1, constants);
  if (named.size() != 1 || before.axes != "aC" || named[0] > 1)
    refuse_move(node, before, where, "is supported for an axis of the batch only.");
  return named[0] == 0 ? "baC" : "abC";
}

/// Whether all extents but the last are those that the input has.
bool keeps_all_but_last(const Numbers& shape) {
  return std::ranges::all_of(shape.begin(), shape.end() - 1, [](std::int64_t extent) { return extent == 0; });
}

std::string reshaped_axes(const OnnxNode& node, const AxesBefore& before, const OnnxConstants& constants,
                          const std::string& where) {
  const Numbers shape = constants.integers(node, 1);
  std::string axes = before.axes;
  const std::size_t direction = axes.find('D');
  const bool has_direction = direction != std::string::npos;
  const std::int64_t width = before.width * (has_direction ? before.directions : 1);
  const auto refuse = [&](const std::string& message) { refuse_move(node, before, where, message); };
  if (shape.empty() || (shape.back() != -1 && shape.back() != width && shape.back() != 0))
    refuse(text_of("expected ", width, " numbers in the last axis."));
  if (has_direction) {
    // Two directions become one axis with the numbers; a single one can go from anywhere.
    const bool last = axes.ends_with("DC");
    if (!last && (before.directions > 1 || shape.back() != width)) refuse("this Reshape is not supported.");
    axes.erase(direction, 1);
    if (shape.size() == axes.size()) return axes;
  }
  if (shape.size() == axes.size() && (keeps_all_but_last(shape) || axes.size() == 2)) return axes;
  if (shape.size() == 2 && axes.size() == 3 && axes.ends_with('C')) return "FC";
  if (axes == "FC" && shape.size() == before.flattened.size()) return before.flattened;
  refuse("this Reshape is not supported.");
  return axes;
}

}  // namespace

std::optional<std::string> moved_axes(const OnnxNode& node, const AxesBefore& before,
                                      const OnnxConstants& constants, const std::string& where) {
  if (node.type == "Identity" || node.type == "Dropout") return before.axes;
  if (node.type == "Transpose") return transposed_axes(node, before, where);
  if (node.type == "Squeeze") return squeezed_axes(node, before, constants, where);
  if (node.type == "Unsqueeze") return unsqueezed_axes(node, before, constants, where);
  if (node.type == "Reshape") return reshaped_axes(node, before, constants, where);
  return std::nullopt;
}

}  // namespace lagtape::foreign

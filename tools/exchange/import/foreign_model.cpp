#include "lagtape/tools/exchange/import/foreign_model.h"

#include <algorithm>

namespace lagtape::foreign {

std::string_view name_of(CellKind kind) {
  switch (kind) {
    case CellKind::rnn: return "rnn";
    case CellKind::lstm: return "lstm";
    case CellKind::gru: return "gru";
  }
  return "";
}

const std::vector<std::string>& gates_of(CellKind kind) {
  static const std::vector<std::string> rnn = {""}, lstm = {"i", "f", "g", "o"}, gru = {"r", "z", "n"};
  return kind == CellKind::rnn ? rnn : kind == CellKind::lstm ? lstm : gru;
}

std::int64_t width_after(const ForeignLayer& layer, std::int64_t input) {
  if (const auto* dense = std::get_if<ForeignDense>(&layer.content))
    return dense->W.empty() ? input : dense->W.size(0);
  if (const auto* entry = std::get_if<ForeignEntry>(&layer.content)) return entry->width;
  const auto& recurrence = std::get<ForeignRecurrence>(layer.content);
  return recurrence.width() + std::ssize(recurrence.directions) * recurrence.carry.count;
}

Tensor rows_of(const Tensor& tensor, std::int64_t begin, std::int64_t count) {
  if (tensor.empty()) return {};
  Shape shape = tensor.shape();
  const std::int64_t width = tensor.numel() / std::max<std::int64_t>(1, shape[0]);
  shape[0] = count;
  Tensor rows(shape, tensor.dtype());
  for (std::int64_t i = 0; i < rows.numel(); ++i) rows.set(i, tensor.at(begin * width + i));
  return rows;
}

Tensor transposed(const Tensor& matrix) {
  const std::int64_t rows = matrix.size(0), columns = matrix.size(1);
  Tensor result({columns, rows}, matrix.dtype());
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) result.set(c * rows + r, matrix.at(r * columns + c));
  return result;
}

std::vector<GateWeights> split_gates(CellKind kind, const std::vector<std::string>& order, const Tensor& W,
                                     const Tensor& U, const Tensor& W_bias, const Tensor& U_bias) {
  const std::int64_t units = W.size(1);
  std::vector<GateWeights> gates;
  for (const std::string& gate : gates_of(kind)) {
    const std::int64_t begin = (std::ranges::find(order, gate) - order.begin()) * units;
    gates.push_back({rows_of(W, begin, units), rows_of(U, begin, units), rows_of(W_bias, begin, units),
                     rows_of(U_bias, begin, units)});
  }
  return gates;
}

}  // namespace lagtape::foreign

#include "lagtape/ops/loss.h"

#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/ops/checks.h"
#include "lagtape/ops/loss_rows.h"

namespace lagtape {
namespace {

/// The sum of row_loss(x, row, scale, grad) over the `rows` rows of x, divided by `count`.
template <class RowLoss>
Var mean_loss(Tape& tape, const Var& x, std::int64_t rows, std::int64_t count, RowLoss row_loss) {
  const std::int64_t width = x.value().numel() / rows;
  double total = 0;
  with_scalar(x.dtype(), [&]<class T>() {
    const T* from = x.value().values<T>().data();
    for (std::int64_t row = 0; row < rows; ++row) {
      total += row_loss(from + row * width, row, 0.0, static_cast<T*>(nullptr));
    }
  });
  const Tensor loss = Tensor::scalar(total / count, x.dtype());
  return tape.record(loss, {x}, [=, x = x.value()](const Tensor& d, InputGradients& inputs) {
    Tensor gradient(x.shape(), x.dtype());
    with_scalar(x.dtype(), [&]<class T>() {
      const T* from = x.values<T>().data();
      T* to = gradient.values<T>().data();
      for (std::int64_t row = 0; row < rows; ++row)
        row_loss(from + row * width, row, d.item() / count, to + row * width);
    });
    inputs.add(0, gradient);
  });
}

std::vector<std::int32_t> checked_classes(const char* op, const Var& logits,
                                          std::span<const std::int32_t> classes, std::int64_t known) {
  if (logits.value().numel() == 0) refuse(op, "there must be something to average", {{"logits", logits}});
  if (static_cast<std::int64_t>(classes.size()) != logits.value().size(0)) {
    refuse(op, text_of("there must be one target per row, not ", classes.size()), {{"logits", logits}});
  }
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i] >= 0 && classes[i] < known) continue;
    throw InputError({.op = std::string(op)}, Rule::out_of_range, text_of("classes must be 0..", known - 1),
                     text_of(classes[i], " at position ", i));
  }
  return {classes.begin(), classes.end()};
}

}  // namespace

Var mse(const Var& y, const Tensor& target) {
  Tape& tape = common_tape("mse", {{"y", y}});
  const Var wanted = tape.constant(target);
  common_tape("mse", {{"y", y}, {"target", wanted}});
  if (y.shape() != target.shape()) refuse("mse", "shapes must agree", {{"y", y}, {"target", wanted}});
  const std::int64_t count = y.value().numel();
  if (count == 0) refuse("mse", "there must be something to average", {{"y", y}});
  return mean_loss(tape, y, 1, count,
                   [target, count]<class T>(const T* x, std::int64_t, double scale, T* grad) {
                     return mse_row(x, target.values<T>().data(), count, scale, grad);
                   });
}

Var cross_entropy(const Var& logits, std::span<const std::int32_t> classes) {
  Tape& tape = common_tape("cross_entropy", {{"logits", logits}});
  if (logits.value().rank() != 2)
    refuse("cross_entropy", "logits must be [n, classes]", {{"logits", logits}});
  const std::int64_t rows = logits.value().size(0), known = logits.value().size(1);
  return mean_loss(tape, logits, rows, rows,
                   [targets = checked_classes("cross_entropy", logits, classes, known), known]<class T>(
                       const T* x, std::int64_t row, double scale, T* grad) {
                     return cross_entropy_row(x, known, targets[row], scale, grad);
                   });
}

Var binary_cross_entropy(const Var& logits, std::span<const std::int32_t> classes) {
  const char* op = "binary_cross_entropy";
  Tape& tape = common_tape(op, {{"logits", logits}});
  const Shape& shape = logits.shape();
  if (shape.empty() || shape.size() > 2 || (shape.size() == 2 && shape[1] != 1)) {
    refuse(op, "logits must be [n] or [n, 1]", {{"logits", logits}});
  }
  return mean_loss(tape, logits, shape[0], shape[0],
                   [targets = checked_classes(op, logits, classes, 2)]<class T>(const T* x, std::int64_t row,
                                                                                double scale, T* grad) {
                     return binary_cross_entropy_row(x, targets[row], scale, grad);
                   });
}

}  // namespace lagtape

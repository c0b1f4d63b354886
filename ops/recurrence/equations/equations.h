#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/equations/derived_weight.h"
#include "lagtape/ops/recurrence/equations/right_side.h"
#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

/// A cell as its user writes it: equations in the notation of NumPy and of papers.
///
///     line       := equations, one after another | loop
///     loop       := for NAME in sum .. sum : line                          or range(sum, sum); the end is not counted
///     equation   := NAME = condition | STATE' = condition
///     condition  := comparisons joined by "and", "or", "not"               1 where it holds, else 0
///     comparison := sum, then at most once (< | > | <= | >= | == | !=) sum
///     sum        := term, then any number of (+ | -) term
///     term       := factor, then any number of (* | / | % | @) factor      from left to right, as in Python
///     factor     := - factor | primary, then at most once (** | ^) factor
///     primary    := number | number j | [ numbers ] | ( condition ) | FUNCTION ( arguments ) | NAME | STATE' | STATE [ sum ]
///                   | primary [ i, b:e:s, None ] | primary .T
///
/// A line can continue on the next one and can end with a comment, # to its end. A name is a state (its value
/// before the step), a weight (W1, W1.bias), a param, a hyper-parameter, the name of an earlier equation, the
/// input x, the step index n, or a dimension: units, input. STATE' is the state after the step, once an
/// equation has set it.
///
/// Arrays have up to four axes, and shapes, indices, products, and functions have NumPy's meaning: shapes are
/// aligned at the last axis, v[:, None] adds an axis, A @ B multiplies the last two axes. Products with a
/// weight [out, in], W @ v, v @ W and A @ W.T, are matrix products of the step; other uses of a weight read its
/// numbers as an array. One product is not NumPy's: a weight [g, out, in] times [g, in] multiplies row by row
/// and gives [g, out]. As parameters, the matrices of such a weight are W.0, W.1, ...
///
/// STATE[-k] is the state k steps ago, 0 <= k, where k consists of numbers, hyper-parameters, and dimensions:
/// h[-tau], h[-(tau + 1)], h[-2 * k], h[-floor(tau / dt)]. STATE[-theta], where theta is a weight (a scalar or
/// one per unit) listed in `lags`, interpolates between the two neighboring steps; theta is then trained, and
/// clamped to 1 .. its largest. x[-k] is the input k steps ago, zeros before the first step, and x[-theta]
/// likewise, clamped to 0 .. its largest.
///
/// Functions: the element-wise ones (kernels/element_functions.h, or `lagtape list functions`); sum, mean, max,
/// min, norm, logsumexp (a) or (a, axis); softmax, cumsum (a, axis), by default along the last axis; roll(a, k,
/// axis); reshape(a, n, ...) and expand(a, n, ...) to a shape; concat(a, b, ..., axis = 0); slice(a, i, k), the
/// elements i .. k - 1 of a vector; where(c, a, b), which is b where c is 0, else a; mod(a, b) or a % b = a - b
/// * floor(a / b); outer(a, b); einsum('hij,hj->hi', A, v); clip, silu, gelu, softsign, sinc, atan2(y, x).
/// Comparisons and floor pass no gradient on; spike(u, 'atan', slope) is u > 0 with a gradient. complex(a, b)
/// is a pair of values, and supports the operators except %, exp, log, abs, real, imag, conj, angle, sums,
/// indices, and shapes. A cell's own functions are called like the others. Random draws have a shape of up to
/// two axes: uniform(n) in [0, 1) and normal(n) at every step, uniform_once(n) and normal_once(n) once per
/// sequence. Outside training, a draw holds its mean, or c in normal(n, evaluate = c). mask(p, n) and
/// mask_once(p, n) are 0 with probability p, else 1 / (1 - p): dropout.
///
/// Equations in continuous time set dNAME, the derivative of a state, instead of NAME', and use the time t
/// instead of n. y(t - E) and dy(t - E) are the values of a state and its derivative at time t - E, where E
/// consists of parameters, inputs, and states: y(t - tau), y(t - clamp(1 + c * y, 0.5, 9)). Before t = 0 they
/// are the history, a sum in t and parameters. integral(E, a, b, points = k, weights = w) is the integral of
/// E(t - s) over s in a .. b, at Gauss points, where a state in E is its value s ago.
///
/// Grammar 1, used by version 0.1 models, differs: [g] is repeated along the last axis of [g, n], sum and mean
/// run over the last axis, W @ A multiplies each row of A, and where(c, a, b) is c * a + (1 - c) * b.
///
/// A derived weight is a sum in the same grammar over weights, earlier derived weights, hyper-parameters, and
/// dimensions, computed once per batch: "(1 - beta) * (M + M.T) - gamma * eye(units)". Its operands are
/// matrices, vectors, and scalars, broadcast as in NumPy; `@` is their product, and A.T and (A + B).T are
/// transposes. It can use the functions of a step except draws, spikes, and complex values; indices and arrays;
/// and in addition expm(A) (the matrix exponential), eye(n), arange(n) (0 .. n - 1), and strict_upper(v, n),
/// the [n, n] matrix with the numbers of v above its diagonal, row by row. A weight that only derived weights
/// use is not visible to the step.
struct EquationCell {
  static constexpr std::int64_t kGrammar = 2;

  /// A shape is a list of dimensions, each composed of numbers, hyper-parameters, and dimensions: "units", "2 *
  /// units", "16".
  struct Named {
    std::string name;
    std::vector<std::string> shape;
  };

  /// A named number, or a vector of numbers.
  struct Param {
    std::string name;
    std::string size;  ///< a dimension; empty: a scalar
    double largest =
        kNoLargest;  ///< the largest value, which makes it a lag if a state is read that far back
    static constexpr double kNoLargest = std::numeric_limits<double>::infinity();
  };

  /// An array of numbers: [] a number, [n], [m, n] ...
  struct Constant {
    std::string name;
    Shape shape;
    std::vector<double> numbers;
  };
  /// A function of the cell. Its lines are equations that set local names; the last line is the expression that it returns.
  struct Function {
    std::string name;
    std::vector<std::string> arguments, lines;
  };

  std::vector<std::pair<std::string, double>> hyper;
  std::vector<Param> params;
  std::vector<Named> weights;                                ///< [out, in], [g, out, in], [n] or []
  std::vector<std::pair<std::string, std::string>> derived;  ///< names and sums, in order
  /// Weights that are lags, with their largest values.
  std::vector<std::pair<std::string, std::string>> lags;
  std::vector<Named> states;                            ///< of up to four axes
  std::vector<std::string> step;                        ///< equations, each setting one new name
  std::vector<std::string> ode;                         ///< instead of `step`: equations in continuous time
  static constexpr const char* kObserved = "observed";  ///< histories supplied by the solver's caller
  static constexpr const char* kTrained = "train";      ///< histories that are params, among `trained`
  /// For `ode`: a sum for each state, or one of these two.
  std::vector<std::pair<std::string, std::string>> history;
  struct TrainedHistory {
    std::int64_t knots = 1;
    double start = 0;
  };
  std::map<std::string, TrainedHistory> trained = {};
  std::string input = {};  ///< for `ode`: the input's name; empty: x, unless something else is named x
  bool has_rates = false;  ///< for `ode`: the rates of its slopes are needed (RightSide)
  std::vector<Constant> constants = {};
  /// Names of input columns, counted from the end if negative; x is the rest. States are reset where `reset` is
  /// above 0, and `mask` is 1 where it is above 0, else 0.
  std::vector<std::pair<std::string, std::int64_t>> reads = {};
  std::vector<Function> functions = {};
  std::string output;                        ///< a sum: "h'", "concat(h', c')"
  std::int64_t grammar = kGrammar;           ///< 1 or 2, as above
  Arithmetic arithmetic = Arithmetic::real;  ///< the arithmetic of all states
};

/// A cell for given sizes.
struct CompiledCell {
  StepProgram program;
  std::vector<WeightDefinition> weights;  ///< the free weights, as the cell declares them
  std::vector<DerivedWeight> derived;
  std::map<std::string, std::int64_t> input_lags =
      {};                                    ///< weights that are lags of the input: their largest values
  std::optional<RightSide> right_side = {};  ///< the right-hand side of an `ode`, which has no program
};

/// Throws InputError with all errors at once, "equation 3, column 5: unknown name 'sigmid'; did you mean
/// 'sigmoid'? In: g = sigmid(...)", for names that are misspelled, set twice, never set, or never used, and for
/// shapes that do not fit. A line that reads a name from a line with an error reports no further error. An
/// error's pointer identifies its part of the cell: "/step/2", "/weights/W".
CompiledCell compile_cell(const EquationCell& cell, std::int64_t units, std::int64_t input);

/// The names of all functions available in steps and derived weights.
std::set<std::string> equation_function_names();

/// Only the step program.
StepProgram compile_equations(const EquationCell& cell, std::int64_t units, std::int64_t input);

}  // namespace lagtape

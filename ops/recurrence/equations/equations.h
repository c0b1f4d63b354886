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

/// A cell as its user writes it: equations in the notation of NumPy and the papers.
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
/// A line may break and end with a comment, # to its end. A name is a state (its value before the step), a weight (W1,
/// W1.bias), a param, a hyper-parameter, the name of an earlier equation, the input x, the step index n, or a dimension:
/// units, input. STATE' is the state after the step, once an equation has set it.
///
/// Arrays have up to four axes, and shapes, indices, products and functions mean what NumPy means: shapes are aligned at
/// the last axis, v[:, None] adds an axis, A @ B multiplies the last two axes. Products with a weight [out, in], W @ v,
/// v @ W and A @ W.T, are matrix products of the step; other uses of a weight read its numbers as an array. NumPy has no
/// product of each row: a weight [g, out, in] times [g, in] gives [g, out]. As parameters the matrices of such a weight
/// are W.0, W.1, ...
///
/// STATE[-k] is the state k steps before, 0 <= k, where k is made of numbers, hyper-parameters and
/// dimensions: h[-tau], h[-(tau + 1)], h[-2 * k], h[-floor(tau / dt)]. STATE[-theta] with a weight theta (a
/// scalar or one a unit) out of `lags` interpolates between the two neighboring steps; theta is then
/// trained, and clamped to 1 .. its largest. x[-k] is the input k steps before, zeros before the first step, and
/// x[-theta] likewise, clamped to 0 .. the largest.
///
/// Functions: the element-wise ones (kernels/element_functions.h, or `lagtape list functions`); sum, mean, max, min,
/// norm, logsumexp (a) or (a, axis); softmax, cumsum (a, axis), of the last axis without one; roll(a, k, axis);
/// reshape(a, n, ...) and expand(a, n, ...) to a shape; concat(a, b, ..., axis = 0); slice(a, i, k), the elements i .. k -
/// 1 of a vector; where(c, a, b), which is b where c is 0, else a; mod(a, b) or a % b = a - b * floor(a / b); outer(a,
/// b); einsum('hij,hj->hi', A, v); clip, silu, gelu, softsign, sinc, atan2(y, x). Comparisons and floor pass no gradient on;
/// spike(u, 'atan', slope) is u > 0 with one. complex(a, b) is a pair of values, with the operators but %, exp, log, abs,
/// real, imag, conj, angle, sums, indices and shapes. A cell's own functions are called like others. And random
/// draws of a shape of up to two axes: uniform(n) in [0, 1) and normal(n) at every step, uniform_once(n) and
/// normal_once(n) once a sequence. Outside training a draw holds its mean, or c in normal(n, evaluate = c). mask(p, n) and
/// mask_once(p, n) are 0 with probability p, else 1 / (1 - p): dropout.
///
/// Equations in continuous time set dNAME, the derivative of a state, in place of NAME', and have the time t in place of
/// n. y(t - E) and dy(t - E) are a state and its derivative a time E ago, in units of t, where E is made of parameters,
/// inputs and states: y(t - tau), y(t - clamp(1 + c * y, 0.5, 9)). Before t = 0 they are the history, a sum of t and
/// parameters. integral(E, a, b, points = k, weights = w) is that of E(t - s) over s in a .. b, by Gauss's points, where a
/// state in E is its value s ago.
///
/// Grammar 1, that of models of version 0.1, differs: [g] is repeated along the last axis of [g, n], sum and mean go over
/// the last axis, W @ A multiplies each row of A, and where(c, a, b) is c * a + (1 - c) * b.
///
/// A derived weight is a sum of the same grammar over weights, derived weights before it, hyper-parameters
/// and dimensions, computed once a batch: "(1 - beta) * (M + M.T) - gamma * eye(units)". Its operands are
/// matrices, vectors and scalars, which spread as in NumPy; `@` is their product and A.T, (A + B).T the
/// transpose. It has the functions of a step but draws, spikes and complex values, indices and arrays, and besides expm(A) (the matrix exponential), eye(n), arange(n) (0 .. n - 1) and
/// strict_upper(v, n), the matrix [n, n] with the numbers of v above its diagonal, row by row. A weight that
/// only derived weights use is unknown to the step.
struct EquationCell {
  static constexpr std::int64_t kGrammar = 2;

  /// A shape is a list of dimensions, each made of numbers, hyper-parameters and dimensions: "units", "2 *
  /// units", "16".
  struct Named {
    std::string name;
    std::vector<std::string> shape;
  };

  /// A number with a name, or a vector of them.
  struct Param {
    std::string name;
    std::string size;  ///< a dimension; empty: a scalar
    double largest =
        kNoLargest;  ///< the largest value, which makes it a lag where a state is read that far back
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
  static constexpr const char* kObserved = "observed";  ///< a history from the solver's caller
  static constexpr const char* kTrained = "train";      ///< a history that is a param, one of `trained`
  /// For `ode`: a sum for each state, or one of these two.
  std::vector<std::pair<std::string, std::string>> history;
  struct TrainedHistory {
    std::int64_t knots = 1;
    double start = 0;
  };
  std::map<std::string, TrainedHistory> trained = {};
  std::string input = {};  ///< for `ode`: the input's name; empty: x, unless something else is x
  bool has_rates = false;  ///< for `ode`: the rates of its slopes are needed (RightSide)
  std::vector<Constant> constants = {};
  /// Names of columns of the input, counted from its end where negative; x is the others. States begin again where
  /// `reset` is above 0, and `mask` is 1 where it is, else 0.
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
  std::optional<RightSide> right_side = {};  ///< the right side of an `ode`, which has no program
};

/// Throws InputError with all errors at once, "equation 3, column 5: unknown name 'sigmid'; did you mean
/// 'sigmoid'? In: g = sigmid(...)", for names that are misspelt, set twice, never set or never used, and for
/// shapes that do not fit. A line that reads a name of a line with an error has no further error. The pointer of an
/// error names its part of the cell: "/step/2", "/weights/W".
CompiledCell compile_cell(const EquationCell& cell, std::int64_t units, std::int64_t input);

/// The names of all functions that steps and derived weights have.
std::set<std::string> equation_function_names();

/// The step program alone.
StepProgram compile_equations(const EquationCell& cell, std::int64_t units, std::int64_t input);

}  // namespace lagtape

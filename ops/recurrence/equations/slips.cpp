#include "lagtape/ops/recurrence/equations/slips.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/ops/kernels/element_functions.h"
#include "lagtape/ops/recurrence/equations/step_functions.h"

namespace lagtape {
namespace {

struct Slip {
  std::string_view found, cure;
};

/// Names from other languages and from papers, without their modules.
constexpr Slip kNames[] = {
    {"σ", "sigmoid(a)"},
    {"logistic", "sigmoid(a)"},
    {"expit", "sigmoid(a)"},
    {"φ", "tanh(a), relu(a) or another function"},
    {"ReLU", "relu(a)"},
    {"ln", "log(a)"},
    {"fabs", "abs(a)"},
    {"absolute", "abs(a)"},
    {"pow", "a ** b"},
    {"power", "a ** b"},
    {"square", "a ** 2"},
    {"amax", "max(a, axis)"},
    {"amin", "min(a, axis)"},
    {"swish", "silu(a)"},
    {"matmul", "A @ v"},
    {"dot", "A @ v, or sum(a * b)"},
    {"broadcast_to", "expand(a, n, m)"},
    {"expand_dims", "a[:, None]"},
    {"unsqueeze", "a[:, None]"},
    {"logical_and", "a and b"},
    {"logical_or", "a or b"},
    {"logical_not", "not a"},
    {"concatenate", "concat(a, b)"},
    {"cat", "concat(a, b)"},
    {"hstack", "concat(a, b)"},
    {"remainder", "mod(a, b)"},
    {"fmod", "mod(a, b)"},
    {"keepdims", "sum(a, 1)[:, None]"},
    {"True", "1"},
    {"False", "0"},
    {"None", "None in an index alone, as in v[:, None]"},
    {"pi", "3.141592653589793"},
    {"e", "exp(1)"},
    {"inf", "a large number"},
    {"T", "A.T for the transpose"},
    {"swapaxes", "transpose(a, 0, 2, 1), or a.mT"},
    {"permute", "transpose(a, 0, 2, 1)"},
    {"moveaxis", "transpose(a, 0, 2, 1)"},
    {"diag", "eye(n) * a, or einsum('ii->i', A)"},
    {"trace", "einsum('ii->', A)"},
    {"tril", "strict_upper(v, n).T in \"derived\", or constants of 0 and 1 times A"},
    {"triu", "strict_upper(v, n) in \"derived\", or constants of 0 and 1 times A"},
    {"identity", "eye(n)"},
    {"zeros_like", "0 * a"},
    {"ones_like", "0 * a + 1"},
    {"full", "a * ones(n, m)"},
    {"flip", "a[::-1]"},
    {"squeeze", "a[0], or a reshape"},
    {"ravel", "reshape(a, -1)"},
    {"flatten", "reshape(a, -1)"},
    {"prod", "exp(sum(log(a))), or a[0] * a[1]"},
    {"std", "sqrt(mean((a - mean(a)) ** 2))"},
    {"var", "mean((a - mean(a)) ** 2)"},
    {"argmax", "a == max(a), which is 1 there"},
    {"arctan2", "atan2(y, x)"},
    {"arctan", "atan(a)"},
    {"linspace", "arange(n) / (n - 1)"},
    {"stack", "concat(a[None], b[None])"},
    {"inner", "sum(a * b)"},
    {"cross", "einsum, or the products of the parts"},
    {"layer_norm", "(a - mean(a)) / sqrt(mean((a - mean(a)) ** 2) + 1e-5)"},
    {"rms_norm", "a / sqrt(mean(a * a) + 1e-6)"},
    {"dropout", "a * mask(p, n)"},
};

/// Symbols from papers and word processors, except letters, which can be in names.
constexpr Slip kSigns[] = {
    {"⊙", "a * b"},       {"∘", "a * b"},    {"·", "a * b, or A @ v"}, {"×", "a * b, or A @ v"},
    {"⊗", "outer(a, b)"}, {"−", "a - b"},    {"“", "no quotes"},       {"”", "no quotes"},
    {"’", "h'"},          {"′", "h'"},       {"≤", "a <= b"},          {"≥", "a >= b"},
    {"≠", "a != b"},      {"←", "NAME = a"},
};

constexpr std::string_view kModules[] = {"np.",    "numpy.",   "jnp.",   "torch.nn.functional.",
                                         "torch.", "tf.math.", "tf.nn.", "tf.",
                                         "F.",     "math.",    "nn.",    "jax.nn.",
                                         "keras.", "ops.",     "cp."};

std::string_view without_module(std::string_view name) {
  for (const std::string_view module : kModules)
    if (name.starts_with(module)) return name.substr(module.size());
  return name;
}

bool is_composed(std::string_view name) {
  return array_function_named<StepVar>(name) != nullptr || name == "reshape" || name == "concat" ||
         name == "einsum";
}

}  // namespace

std::string cure_of_character(std::string_view line, std::size_t i) {
  switch (line[i]) {
    case '{': return text_of(": ", kStepsOfState);
    case ';': return ": an equation is one entry of the list, without a sign at its end.";
    case '&': return ": write a < b and c < d.";
    case '|': return ": write abs(a), or a < b or c < d.";
    case '!': return ": write not c.";
    case '"':
    case '\'': return ": a prime follows the name of a state, as in h'.";
    default: return ".";
  }
}

std::string cure_of_name(std::string_view name) {
  const std::string_view bare = without_module(name);
  const auto slip = std::ranges::find(kNames, bare, &Slip::found);
  if (slip != std::end(kNames)) return text_of("; write ", slip->cure, ".");
  if (bare != name && (function_named(bare) != nullptr || is_composed(bare)))
    return text_of("; functions are written without a module: ", bare, "(a).");
  for (const Slip& sign : kSigns)
    if (name.find(sign.found) != std::string_view::npos)
      return text_of("; for the sign ", sign.found, " write ", sign.cure, ".");
  if (name.starts_with("self.")) return text_of("; names are written without self: ", name.substr(5), ".");
  if (name == "t" || name.ends_with("_t")) return text_of("; ", kStepsOfState);
  if (bare == "expm" || bare == "strict_upper")
    return text_of("; ", bare, " is a function of \"derived\", where weights of the step are computed.");
  if (name == "if" || name == "else") return "; write where(condition, a, b).";
  if (name == "lambda" || name == "def" || name == "return") return "; an equation reads NAME = EXPRESSION.";
  return {};
}

}  // namespace lagtape

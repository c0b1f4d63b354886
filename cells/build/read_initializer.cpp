#include "lagtape/cells/build/read_initializer.h"

#include <numbers>

#include "lagtape/core/json/options.h"

namespace lagtape {
namespace {

using Kind = Initializer::Kind;
using Number = InitializerEntry::Number;

constexpr Range kAny = {};
constexpr Range kNotNegative = {.min = 0};
constexpr Range kPositive = above(0);
constexpr Range kFromOne = {.min = 1};
constexpr Range kFromTwo = {.min = 2};

constexpr Number gain(double fallback) { return {"gain", "factor of all values", fallback, kAny}; }

constexpr Number kMean = {"mean", "mean of the distribution", 0, kAny};
constexpr Number kDeviation = {"deviation", "standard deviation", 1, kNotNegative};

constexpr std::string_view kGlorot =
    "Understanding the difficulty of training deep feedforward neural networks (Glorot and Bengio 2010)";
constexpr std::string_view kHe = "Delving Deep into Rectifiers (He et al. 2015)";
constexpr std::string_view kLeCun = "Efficient BackProp (LeCun et al. 1998)";
constexpr std::string_view kResurrecting =
    "Resurrecting Recurrent Neural Networks for Long Sequences (Orvieto et al. 2023)";
constexpr std::string_view kDissipate =
    "Learning to Dissipate Energy in Oscillatory State-Space Models (Boyer, Rusch and Rus 2025)";
constexpr std::string_view kChrono = "Can recurrent neural networks warp time? (Tallec and Ollivier 2018)";

constexpr InitializerEntry kInitializers[] = {
    {"zeros", "zeros everywhere", "", "W = 0", Kind::constant},
    {"ones", "ones everywhere", "", "W = 1", Kind::constant, {"", "", 1}},
    {"constant",
     "the same number everywhere",
     "",
     "W = value",
     Kind::constant,
     {"value", "the number", 0, kAny}},
    {"uniform",
     "uniform between two numbers",
     "",
     "W from U(low, high)",
     Kind::uniform,
     {"low", "smallest value", -1, kAny},
     {"high", "largest value", 1, kAny}},
    {"normal", "normal distribution", "", "W from N(mean, deviation^2)", Kind::normal, kMean, kDeviation},
    {"truncated_normal", "normal distribution without its tails", "",
     "W from N(mean, deviation^2), within 2 * deviation of the mean", Kind::truncated_normal, kMean,
     kDeviation},
    {"xavier_uniform", "uniform, scaled by the mean of the numbers of rows and columns", kGlorot,
     "W [out, in] from U(-r, r), r = gain * sqrt(6 / (in + out))", Kind::xavier_uniform, gain(1)},
    {"xavier_normal", "normal, scaled by the mean of the numbers of rows and columns", kGlorot,
     "W [out, in] from N(0, s^2), s = gain * sqrt(2 / (in + out))", Kind::xavier_normal, gain(1)},
    {"glorot_uniform", "another name of xavier_uniform", kGlorot,
     "W [out, in] from U(-r, r), r = gain * sqrt(6 / (in + out))", Kind::xavier_uniform, gain(1)},
    {"glorot_normal", "another name of xavier_normal", kGlorot,
     "W [out, in] from N(0, s^2), s = gain * sqrt(2 / (in + out))", Kind::xavier_normal, gain(1)},
    {"kaiming_uniform", "uniform, scaled by the number of columns, with the gain for relu", kHe,
     "W [out, in] from U(-r, r), r = gain * sqrt(3 / in)", Kind::kaiming_uniform, gain(std::numbers::sqrt2)},
    {"kaiming_normal", "normal, scaled by the number of columns, with the gain for relu", kHe,
     "W [out, in] from N(0, s^2), s = gain / sqrt(in)", Kind::kaiming_normal, gain(std::numbers::sqrt2)},
    {"he_uniform", "another name of kaiming_uniform", kHe,
     "W [out, in] from U(-r, r), r = gain * sqrt(3 / in)", Kind::kaiming_uniform, gain(std::numbers::sqrt2)},
    {"he_normal", "another name of kaiming_normal", kHe, "W [out, in] from N(0, s^2), s = gain / sqrt(in)",
     Kind::kaiming_normal, gain(std::numbers::sqrt2)},
    {"lecun_uniform", "uniform, scaled by the number of columns, with gain 1", kLeCun,
     "W [out, in] from U(-r, r), r = gain * sqrt(3 / in)", Kind::kaiming_uniform, gain(1)},
    {"lecun_normal", "normal, scaled by the number of columns, with gain 1", kLeCun,
     "W [out, in] from N(0, s^2), s = gain / sqrt(in)", Kind::kaiming_normal, gain(1)},
    {"orthogonal", "orthonormal rows, or orthonormal columns where there are fewer columns than rows",
     "Exact solutions to the nonlinear dynamics of learning in deep linear neural networks (Saxe et al. "
     "2014)",
     "W [out, in] = gain * Q, Q @ Q.T = eye(out) or Q.T @ Q = eye(in), from a normal matrix by Gram-Schmidt",
     Kind::orthogonal, gain(1)},
    {"identity", "ones on the diagonal, zeros elsewhere",
     "A Simple Way to Initialize Recurrent Networks of Rectified Linear Units (Le, Jaitly and Hinton 2015)",
     "W [out, in] = gain where row = column, else 0", Kind::identity, gain(1)},
    {"log_uniform",
     "logarithm of a uniform number",
     kChrono,
     "W = scale * log(u), u from U(1, largest)",
     Kind::log_uniform,
     {"scale", "factor of the logarithm", 1, kAny},
     {"largest", "largest value under the logarithm", 2, kFromOne}},
    {"chrono",
     "bias of a forget gate that remembers for up to `longest` steps; scale -1 gives that of an input gate",
     kChrono,
     "W = scale * log(u), u from U(1, longest - 1)",
     Kind::log_uniform,
     {"scale", "1, or -1 for an input gate", 1, kAny},
     {"longest", "longest time scale, in steps", 784, kFromTwo, 1}},
    {"ramp",
     "evenly spaced along the last axis",
     "",
     "W[..., k] = first + step * k",
     Kind::ramp,
     {"first", "value at index 0", 0, kAny},
     {"step", "difference between neighbors", 1, kAny}},
    {"log_ramp",
     "logarithms of evenly spaced numbers along the last axis",
     "On the Parameterization and Initialization of Diagonal State Space Models (Gu et al. 2022), S4D-Real",
     "W[..., k] = log(first + step * k)",
     Kind::log_ramp,
     {"first", "number at index 0", 1, kPositive},
     {"step", "difference between neighbors", 1, kNotNegative}},
    {"power_ramp",
     "between two numbers along the last axis, by a power of the index",
     "xLSTM: Extended Long Short-Term Memory (Beck et al. 2024), its code",
     "W[..., k] = first + (last - first) * (k / (size - 1))^0.3",
     Kind::power_ramp,
     {"first", "value at index 0", 5, kAny},
     {"last", "value at the last index", -7, kAny}},
    {"log_of_uniform",
     "logarithm of a uniform number between two numbers",
     "",
     "W = log(u), u from U(low, high)",
     Kind::log_of_uniform,
     {"low", "smallest value under the logarithm", 0, kNotNegative},
     {"high", "largest value under the logarithm", 1, kPositive}},
    {"inverse_softplus",
     "numbers whose softplus is a step of a size between two numbers, uniform in its logarithm",
     "Mamba: Linear-Time Sequence Modeling with Selective State Spaces (Gu and Dao 2023)",
     "W = v where softplus(v) = exp(u), u from U(log(low), log(high))",
     Kind::inverse_softplus,
     {"low", "smallest softplus", 0.001, kPositive},
     {"high", "largest softplus", 0.1, kPositive}},
    {"decay_8",
     "decays of a real-gated linear recurrent unit",
     "Griffin: Mixing Gated Linear Recurrences with Local Attention (De et al. 2024)",
     "W = v where exp(-8 * softplus(v)) is from U(low, high)",
     Kind::decay_8,
     {"low", "smallest decay", 0.9, kPositive},
     {"high", "largest decay", 0.999, kPositive}},
    {"ring",
     "moduli of eigenvalues that are uniform on a ring of the plane",
     kResurrecting,
     "W = log(-log(r)), r^2 from U(low^2, high^2)",
     Kind::ring,
     {"low", "smallest modulus", 0, kNotNegative},
     {"high", "largest modulus", 1, kPositive}},
    {"ring_gain",
     "gains that keep the size of inputs beside such eigenvalues",
     kResurrecting,
     "W = log(sqrt(1 - r^2)), r^2 from U(low^2, high^2)",
     Kind::ring_gain,
     {"low", "smallest modulus", 0, kNotNegative},
     {"high", "largest modulus", 1, kPositive}},
    {"oscillator_damping",
     "damping of oscillators whose steps have eigenvalues on a ring of the plane",
     kDissipate,
     "W = (1 / r^2 - 1) / dt, r^2 from U(low^2, high^2), dt = sigmoid(s), s from N(0, 1/4)",
     Kind::oscillator_damping,
     {"low", "smallest modulus", 0.9, kPositive},
     {"high", "largest modulus", 1, kPositive}},
    {"oscillator_stiffness",
     "stiffness of the same oscillators, for angles t from U(0, pi)",
     kDissipate,
     "W = (1 + 1 / r^2 - 2 * cos(t) / r) / dt^2",
     Kind::oscillator_stiffness,
     {"low", "smallest modulus", 0.9, kPositive},
     {"high", "largest modulus", 1, kPositive}},
    {"henaff", "triangle of a skew-symmetric matrix of rotations by any angle",
     "Recurrent Orthogonal Networks and Long-Memory Tasks (Henaff et al. 2016)",
     "W [n (n - 1) / 2]: the number above the diagonal of each 2 x 2 block from U(-pi, pi), else 0",
     Kind::henaff},
    {"cayley", "triangle of a skew-symmetric matrix of the rotations that a Cayley transform gives",
     "Orthogonal Recurrent Neural Networks with Scaled Cayley Transform (Helfrich et al. 2018)",
     "W [n (n - 1) / 2]: the number above the diagonal of each 2 x 2 block is "
     "-sqrt((1 - cos(t)) / (1 + cos(t))), t from U(0, pi / 2), else 0",
     Kind::cayley},
};

}  // namespace

Initializer InitializerEntry::read(JsonReader& reader) const {
  Initializer result{kind, a.fallback, b.fallback};
  for (const auto& [number, value] : {std::pair{&a, &result.a}, std::pair{&b, &result.b}}) {
    if (number->key.empty()) continue;
    reader.optional(std::string(number->key), *value, number->range, std::string(number->about));
    *value -= number->less;
  }
  if (kind == Kind::uniform && result.a > result.b) reader.error("low", "low must not be above high.");
  return result;
}

std::span<const InitializerEntry> initializers() { return kInitializers; }

Initializer read_initializer(const Json& value, const std::string& pointer, JsonErrors& errors,
                             std::string_view* type) {
  Json object = value;
  if (value.is_string()) object = {{"type", value}};
  if (value.is_number()) object = {{"type", "constant"}, {"value", value}};
  JsonReader reader(object, pointer, errors);
  const InitializerEntry* entry = read_chosen(reader, "type", initializers(), "kind of first values");
  if (entry == nullptr) return {};
  const Initializer result = entry->read(reader);
  reader.finish();
  if (type != nullptr) *type = entry->name;
  return result;
}

Json json_of(const Initializer& initializer, std::string_view type) {
  const InitializerEntry* entry = nullptr;
  for (const InitializerEntry& candidate : initializers()) {
    if (candidate.kind != initializer.kind || (!type.empty() && candidate.name != type)) continue;
    // "zeros" and "ones" are constants too, but leave no choice of the number.
    if (entry == nullptr || (entry->a.key.empty() && !candidate.a.key.empty())) entry = &candidate;
  }
  Json object = {{"type", entry->name}};
  if (!entry->a.key.empty()) object[entry->a.key] = initializer.a + entry->a.less;
  if (!entry->b.key.empty()) object[entry->b.key] = initializer.b + entry->b.less;
  return object;
}

}  // namespace lagtape

#include "lagtape/cells/read_initializer.h"

#include <numbers>
#include <vector>

namespace lagtape {
namespace {

using Kind = Initializer::Kind;
using Number = InitializerEntry::Number;

constexpr Range kAny = {};
constexpr Range kNotNegative = {.min = 0};
constexpr Range kFromOne = {.min = 1};
constexpr Range kFromTwo = {.min = 2};

constexpr Number gain(double fallback) { return {"gain", "factor of all values", fallback, kAny}; }

constexpr Number kMean = {"mean", "of the distribution", 0, kAny};
constexpr Number kDeviation = {"deviation", "standard deviation", 1, kNotNegative};

constexpr std::string_view kGlorot =
    "Understanding the difficulty of training deep feedforward neural networks (Glorot and Bengio 2010)";
constexpr std::string_view kHe = "Delving Deep into Rectifiers (He et al. 2015)";
constexpr std::string_view kLeCun = "Efficient BackProp (LeCun et al. 1998)";
constexpr std::string_view kChrono = "Can recurrent neural networks warp time? (Tallec and Ollivier 2018)";

void check_bounds(JsonReader& reader, Initializer& initializer) {
  if (initializer.a > initializer.b) reader.error("low", "low must not be above high.");
}

void take_one_off(JsonReader&, Initializer& initializer) { initializer.b -= 1; }

constexpr InitializerEntry kInitializers[] = {
    {"zeros", "all 0", "", "W = 0", Kind::constant},
    {"ones", "all 1", "", "W = 1", Kind::constant, {"", "", 1}},
    {"constant", "one number everywhere", "", "W = value", Kind::constant, {"value", "the number", 0, kAny}},
    {"uniform",
     "uniform between two numbers",
     "",
     "W from U(low, high)",
     Kind::uniform,
     {"low", "smallest value", -1, kAny},
     {"high", "largest value", 1, kAny},
     check_bounds},
    {"normal", "normal", "", "W from N(mean, deviation^2)", Kind::normal, kMean, kDeviation},
    {"truncated_normal", "normal without its tails", "",
     "W from N(mean, deviation^2), within 2 * deviation of the mean", Kind::truncated_normal, kMean,
     kDeviation},
    {"xavier_uniform", "uniform, of the mean of rows and columns", kGlorot,
     "W [out, in] from U(-r, r), r = gain * sqrt(6 / (in + out))", Kind::xavier_uniform, gain(1)},
    {"xavier_normal", "normal, of the mean of rows and columns", kGlorot,
     "W [out, in] from N(0, s^2), s = gain * sqrt(2 / (in + out))", Kind::xavier_normal, gain(1)},
    {"glorot_uniform", "another name of xavier_uniform", kGlorot,
     "W [out, in] from U(-r, r), r = gain * sqrt(6 / (in + out))", Kind::xavier_uniform, gain(1)},
    {"glorot_normal", "another name of xavier_normal", kGlorot,
     "W [out, in] from N(0, s^2), s = gain * sqrt(2 / (in + out))", Kind::xavier_normal, gain(1)},
    {"kaiming_uniform", "uniform, of the columns, with relu's gain", kHe,
     "W [out, in] from U(-r, r), r = gain * sqrt(3 / in)", Kind::kaiming_uniform, gain(std::numbers::sqrt2)},
    {"kaiming_normal", "normal, of the columns, with relu's gain", kHe,
     "W [out, in] from N(0, s^2), s = gain / sqrt(in)", Kind::kaiming_normal, gain(std::numbers::sqrt2)},
    {"he_uniform", "another name of kaiming_uniform", kHe,
     "W [out, in] from U(-r, r), r = gain * sqrt(3 / in)", Kind::kaiming_uniform, gain(std::numbers::sqrt2)},
    {"he_normal", "another name of kaiming_normal", kHe, "W [out, in] from N(0, s^2), s = gain / sqrt(in)",
     Kind::kaiming_normal, gain(std::numbers::sqrt2)},
    {"lecun_uniform", "uniform, of the columns, with gain 1", kLeCun,
     "W [out, in] from U(-r, r), r = gain * sqrt(3 / in)", Kind::kaiming_uniform, gain(1)},
    {"lecun_normal", "normal, of the columns, with gain 1", kLeCun,
     "W [out, in] from N(0, s^2), s = gain / sqrt(in)", Kind::kaiming_normal, gain(1)},
    {"orthogonal", "rows of length 1 at right angles, or columns where they are fewer",
     "Exact solutions to the nonlinear dynamics of learning in deep linear neural networks (Saxe et al. "
     "2014)",
     "W [out, in] = gain * Q, Q @ Q.T = eye(out) or Q.T @ Q = eye(in), from a normal matrix by Gram-Schmidt",
     Kind::orthogonal, gain(1)},
    {"identity", "1 on the diagonal",
     "A Simple Way to Initialize Recurrent Networks of Rectified Linear Units (Le, Jaitly and Hinton 2015)",
     "W [out, in] = gain where row and column have one number, else 0", Kind::identity, gain(1)},
    {"log_uniform",
     "logarithm of a uniform number",
     kChrono,
     "W = scale * log(u), u from U(1, largest)",
     Kind::log_uniform,
     {"scale", "factor of the logarithm", 1, kAny},
     {"largest", "largest value under the logarithm", 2, kFromOne}},
    {"chrono",
     "bias of a forget gate, for time scales up to the longest; that of an input gate has scale -1",
     kChrono,
     "W = scale * log(u), u from U(1, longest - 1)",
     Kind::log_uniform,
     {"scale", "1, or -1 for an input gate", 1, kAny},
     {"longest", "longest time scale, in steps", 784, kFromTwo},
     take_one_off},
    {"ramp",
     "evenly spaced along the last axis",
     "",
     "W[..., k] = first + step * k",
     Kind::ramp,
     {"first", "value at 0", 0, kAny},
     {"step", "from each to the next", 1, kAny}},
    {"henaff", "triangle of a skew matrix of rotations by any angle",
     "Recurrent Orthogonal Networks and Long-Memory Tasks (Henaff et al. 2016)",
     "W [n (n - 1) / 2]: the number above the diagonal of each 2 x 2 block from U(-pi, pi), else 0",
     Kind::henaff},
    {"cayley", "triangle of a skew matrix of rotations, as a Cayley transform has them",
     "Orthogonal Recurrent Neural Networks with Scaled Cayley Transform (Helfrich et al. 2018)",
     "W [n (n - 1) / 2]: the number above the diagonal of each 2 x 2 block is "
     "-sqrt((1 - cos(t)) / (1 + cos(t))), t from U(0, pi / 2), else 0",
     Kind::cayley},
};

}  // namespace

Initializer InitializerEntry::read(JsonReader& reader) const {
  Initializer result{kind, a.fallback, b.fallback};
  if (!a.key.empty()) reader.optional(std::string(a.key), result.a, a.range, std::string(a.about));
  if (!b.key.empty()) reader.optional(std::string(b.key), result.b, b.range, std::string(b.about));
  if (finish) finish(reader, result);
  return result;
}

std::span<const InitializerEntry> initializers() { return kInitializers; }

Initializer read_initializer(const Json& value, const std::string& pointer, JsonErrors& errors,
                             Json* filled) {
  Json object = value;
  if (value.is_string()) object = {{"type", value}};
  if (value.is_number()) object = {{"type", "constant"}, {"value", value}};
  std::vector<std::string> names;
  for (const InitializerEntry& entry : initializers()) names.emplace_back(entry.name);

  JsonReader reader(object, pointer, errors);
  std::string type;
  reader.required_choice("type", type, names, "kind of first values");
  Initializer result;
  for (const InitializerEntry& entry : initializers()) {
    if (entry.name != type) continue;
    result = entry.read(reader);
    reader.finish();
  }
  if (filled) *filled = reader.filled();
  return result;
}

}  // namespace lagtape

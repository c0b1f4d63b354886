#include "lagtape/cells/written/lru.h"

#include <cmath>

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/cells/build/written_cell.h"

namespace lagtape {

namespace {

constexpr Option kLruOptions[] = {
    required<&Lru::units>("units", between(1, kLargestUnits), "size of the output"),
    option<&Lru::states>("states", between(1, kLargestUnits), "complex numbers of state"),
    option<&Lru::r_min>("r_min", between(0, 1), "smallest first modulus of lambda"),
    option<&Lru::r_max>("r_max", between(0, 1), "largest first modulus of lambda"),
    option<&Lru::max_phase>("max_phase", above(0), "largest first angle of lambda"),
};

void check_lru(const Lru& cell, JsonReader& reader) {
  if (cell.r_min >= cell.r_max) reader.error("r_min", text_of("must be below r_max = ", cell.r_max, "."));
}

}  // namespace

constinit const LayerEntry Lru::kEntry = {
    .name = "lru",
    .summary = "linear recurrent unit: a diagonal recurrence of complex states",
    .source =
        "Resurrecting Recurrent Neural Networks for Long Sequences, the diagonal recurrence in its "
        "exponential form",
    .equations =
        "lambda = exp(-exp(nu_log) + 1j * exp(theta_log))\n"
        "s' = lambda * s + exp(gamma_log) * (B @ x), s = re + 1j * im\n"
        "y = real(C @ s') + D * x\n"
        "D is a matrix, D @ x, where input and units differ",
    .options = checked<check_lru>(kLruOptions),
    .read = read_cell<Lru>,
    .yields = true,
};

Layer Lru::build(std::int64_t input) const {
  require_valid(*this);
  const auto normal = [](std::int64_t n) {
    return Initializer::normal(0, 1 / std::sqrt(static_cast<double>(n)));
  };
  return WrittenCell{
      .weights = text_of("nu_log [states]; theta_log [states]; gamma_log [states]; B_re [states, input]; ",
                         "B_im [states, input]; C_re [units, states]; C_im [units, states]; ",
                         direct_shapes("D", units, input)),
      .states = "re [states]; im [states]",
      .derived =
          "size = exp(-exp(nu_log))\n"
          "L_re = size * cos(exp(theta_log))\n"
          "L_im = size * sin(exp(theta_log))\n"
          "gamma = exp(gamma_log)",
      .step =
          "re' = L_re * re - L_im * im + gamma * (B_re @ x)\n"
          "im' = L_re * im + L_im * re + gamma * (B_im @ x)",
      .output = "C_re @ re' - C_im @ im' + " + direct_text("D", units, input),
      .numbers = {{"states", static_cast<double>(states)}},
      .init = {{"nu_log", Initializer::ring(r_min, r_max)},
               {"theta_log", Initializer::log_of_uniform(0, max_phase)},
               {"gamma_log", {Initializer::Kind::ring_gain, r_min, r_max}},
               {"B_re", normal(2 * input)},
               {"B_im", normal(2 * input)},
               {"C_re", normal(states)},
               {"C_im", normal(states)},
               {"D", direct_start(units, input)}},
      .draws_of = {{"gamma_log", "nu_log"}}}
      .build(units, input);
}

}  // namespace lagtape

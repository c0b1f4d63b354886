#include "lagtape/cells/tau_gru.h"

#include <algorithm>
#include <cmath>

#include "lagtape/cells/recorder.h"
#include "lagtape/core/json_reader.h"

namespace lagtape {
namespace {

/// floor(tau / dt); a quotient that misses a whole number by rounding alone counts as that number: 0.3 / 0.1
/// is 3.
double steps_of(double tau, double dt) {
  const double steps = tau / dt, nearest = std::round(steps);
  return std::abs(steps - nearest) <= 1e-12 * std::max(1.0, nearest) ? nearest : std::floor(steps);
}

}  // namespace

void TauGru::read(JsonReader& reader) {
  reader.required("units", units, between(1, kLargestUnits), "size of the state");
  reader.required("tau", tau, at_least(0), "delay; with 0 the delayed part sees the present state");
  reader.optional("dt", dt, above(0), "time step; the delay is floor(tau / dt) steps");
  reader.optional("alpha", alpha, {}, "weight of the delayed part; 0 leaves it out");
  reader.optional("beta", beta, {}, "weight of the direct part; 0 leaves it out");
  reader.optional("weighting", weighting, "whether a gate weighs the delayed part");
  reader.optional("gating", gating, "whether a gate updates the state");
  if (alpha == 0 && beta == 0) reader.error("alpha", "alpha and beta are both 0, which leaves no update.");
  if (!(tau / dt <= StepTape::kLargestLag)) {
    reader.error("tau",
                 concat("tau / dt must be at most ", StepTape::kLargestLag, " steps, got ", tau / dt, "."));
  }
}

Layer TauGru::build(std::int64_t input) const {
  LayerRecorder step(input, Initializer::uniform_of(units));
  StepTape& tape = step.tape();
  const StepVar x = step.input();
  const StepVar h = step.state("h", units);
  const StepVar h_tau = tape.lag(h, static_cast<std::int64_t>(steps_of(tau, dt)));
  const auto activation = [&](const std::string& i, StepVar from) {
    const StepVar Wh = step.affine("W" + i, units, from);
    const StepVar Ux = step.affine("U" + i, units, x);
    return Wh + Ux;
  };

  StepVar u, z, g = tape.constant(1), a = tape.constant(1);
  if (beta != 0) u = tanh(activation("1", h));
  if (alpha != 0) z = tanh(activation("2", h_tau));
  if (gating) g = sigmoid(activation("3", h));
  if (alpha != 0 && weighting) a = sigmoid(activation("4", h));

  StepVar drive = alpha != 0 ? alpha * a * z : beta * u;
  if (alpha != 0 && beta != 0) drive = beta * u + drive;
  const bool replaces = !gating && dt == 1;  // nothing of h[n] is left
  const StepVar next = replaces ? drive : (1 - dt * g) * h + dt * g * drive;

  tape.set_next(h, next);
  return step.finish(next);
}

}  // namespace lagtape

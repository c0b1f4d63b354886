#include "lagtape/cells/tau_gru.h"

#include <algorithm>
#include <cmath>

#include "lagtape/cells/build/option_kinds.h"
#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/core/json/options.h"

namespace lagtape {
namespace {

/// floor(tau / dt); a quotient that misses an integer only by rounding counts as that integer: 0.3 / 0.1 is 3.
double steps_of(double tau, double dt) {
  const double steps = tau / dt, nearest = std::round(steps);
  return std::abs(steps - nearest) <= 1e-12 * std::max(1.0, nearest) ? nearest : std::floor(steps);
}

/// The state and the input that a part of the cell sees.
struct Seen {
  StepVar h, x;
};

Seen past_of_paper(LayerRecorder& step, const Delay& delay, const std::string& name, double dt, StepVar h) {
  const StepVar x = step.input();
  if (!delay.is_trained())
    return {step.tape().lag(h, static_cast<std::int64_t>(steps_of(delay.time, dt))), x};
  const StepVar tau =
      step.named(name, delay.each_unit ? step.vector(name, h.shape().size) : step.scalar(name));
  step.start(name, delay.initializer());
  step.keep_within(name, {1, static_cast<double>(delay.max)});
  return {step.tape().lag(h, tau, delay.max), x};
}

/// The past of the form "code"; `before` is the input of the previous step.
Seen past_of_code(StepTape& tape, std::int64_t tau, StepVar h, StepVar x, StepVar before) {
  if (tau == 0) return {h, x};
  // The windows by themselves would be a step early: at step tau they already contain h[1] and x[0].
  const StepVar begun =
      minimum(maximum(tape.step_index() - static_cast<double>(tau), tape.constant(0)), tape.constant(1));
  return {begun * tape.lag(h, tau - 1), begun * tape.lag(before, tau - 1)};
}

constexpr Option kTauGruOptions[] = {
    required<&TauGru::units>("units", between(1, kLargestUnits), "size of the state"),
    required<&TauGru::tau>(
        "tau", kDelays, "delay; with 0 the delayed part sees the present state; a {\"max\": 64} is trained"),
    option<&TauGru::dt>(
        "dt", above(0),
        "time step, which scales the update; a delay is floor(tau / dt) steps, but tau steps when "
        "it is trained or in the form 'code'"),
    option<&TauGru::alpha>("alpha", "weight of the delayed part; 0 leaves it out"),
    option<&TauGru::beta>("beta", "weight of the direct part; 0 leaves it out"),
    option<&TauGru::weighting>("weighting", "whether a gate weighs the delayed part"),
    option<&TauGru::gating>("gating", "whether a gate updates the state"),
    option<&TauGru::form>(
        "form", {"paper", "code"},
        "equations of the paper, or those of a public implementation, which delays the input too"),
    option<&TauGru::dropout>(
        "dropout", from_below(0, 1),
        "probability with which W1 to W4 do not see an element of the state, drawn anew at every "
        "step of training"),
    option<&TauGru::reads>("reads", kStepTime, kAboutStepTime),
};

void check_tau_gru(const TauGru& cell, JsonReader& reader) {
  if (cell.alpha == 0 && cell.beta == 0)
    reader.error("alpha", "alpha and beta are both 0, which leaves no update.");
  for (const Delay& delay : cell.tau) {
    const double steps = cell.form == "code" ? delay.time : delay.time / cell.dt;
    if (!(steps <= StepTape::kLargestLag)) {
      reader.error("tau", text_of(cell.form == "code" ? "tau" : "tau / dt", " must be at most ",
                                  StepTape::kLargestLag, " steps, got ", steps, "."));
    }
    if (cell.form == "code" && (delay.is_trained() || delay.time != std::floor(delay.time)))
      reader.error("tau", "the form 'code' has delays of whole steps.");
  }
}

}  // namespace

constinit const LayerEntry TauGru::kEntry = {
    .name = "tau_gru",
    .summary = "gated recurrent unit with weighted time-delay feedback",
    .source = "Gated Recurrent Neural Networks with Weighted Time-Delay Feedback",
    .equations =
        "u = tanh(W1 @ h + U1 @ x)\n"
        "z = tanh(W2 @ h[-floor(tau / dt)] + U2 @ x)\n"
        "g = sigmoid(W3 @ h + U3 @ x)\n"
        "a = sigmoid(W4 @ h + U4 @ x)\n"
        "h' = (1 - dt * g) * h + dt * g * (beta * u + alpha * a * z)\n"
        "each product W @ h and U @ x has its own bias: W1.bias, U1.bias, ...\n"
        "with several delays each has a z and an a of its own, of W2_1, U2_1, W4_1, ...: alpha * a_1 * z_1 "
        "+ alpha * a_2 * z_2 + ...\n"
        "a trained delay is a parameter tau between 1 and max, in steps; z is that of h[-tau]\n"
        "form code: z and a are those of h[-(tau - 1)] and of the input tau steps before, both zeros up to "
        "step tau",
    .options = checked<check_tau_gru>(kTauGruOptions),
    .read = read_cell<TauGru>,
};

Layer TauGru::build(std::int64_t input) const {
  require_valid(*this);
  LayerRecorder step(input, Initializer::uniform_of(units));
  StepTape& tape = step.tape();
  const TimeOfStep time = step.step_time(dt, reads);
  const StepVar x = step.input();
  const StepVar h = step.state("h", units);
  const auto activation = [&](const std::string& i, const Seen& seen) {
    const StepVar Wh = step.affine("W" + i, units, seen.h);
    const StepVar Ux = step.affine("U" + i, units, seen.x);
    return Wh + Ux;
  };
  const auto number = [&](std::size_t k) { return tau.size() > 1 ? text_of("_", k + 1) : ""; };
  const auto partly = [&](StepVar v) { return dropout > 0 ? v * tape.mask(v.shape(), dropout, true) : v; };
  const bool has_past = alpha != 0, is_code = form == "code";

  StepVar before;
  const auto is_late = [](const Delay& delay) { return delay.time > 0; };
  if (has_past && is_code && std::ranges::any_of(tau, is_late)) {
    before = step.state("x_before", x.shape().size);
    tape.set_next(before, x);
  }
  std::vector<Seen> past;
  for (std::size_t k = 0; has_past && k < tau.size(); ++k) {
    past.push_back(is_code ? past_of_code(tape, static_cast<std::int64_t>(tau[k].time), h, x, before)
                           : past_of_paper(step, tau[k], text_of("tau", number(k)), dt, h));
  }

  for (Seen& seen : past) seen.h = partly(seen.h);
  const Seen present{partly(h), x};

  StepVar u, g = tape.constant(1);
  std::vector<StepVar> z, a(past.size(), tape.constant(1));
  if (beta != 0) u = tanh(activation("1", present));
  for (std::size_t k = 0; k < past.size(); ++k)
    z.push_back(tanh(activation(text_of("2", number(k)), past[k])));
  if (gating) g = step.named("g", sigmoid(activation("3", present)));
  for (std::size_t k = 0; weighting && k < past.size(); ++k)
    a[k] = step.named(text_of("a", number(k)),
                      sigmoid(activation(text_of("4", number(k)), is_code ? past[k] : present)));

  StepVar drive = beta != 0 ? beta * u : alpha * a[0] * z[0];
  for (std::size_t k = beta != 0 ? 0 : 1; k < past.size(); ++k) drive = drive + alpha * a[k] * z[k];
  const bool replaces = !gating && dt == 1 && !time.given;  // then h[n] does not enter the next state
  const StepVar next = replaces ? drive : (1 - time * g) * h + time * g * drive;

  tape.set_next(h, next);
  return step.finish(next);
}

}  // namespace lagtape

#include "lagtape/tools/analysis/analysis_json.h"

#include <algorithm>

namespace lagtape {

namespace {

Json json_of(const LagCurve& curve) { return {{"mean", curve.mean}, {"min", curve.min}, {"max", curve.max}}; }

/// Proved bounds of a layer beside measured values. Unknown ones are null.
Json json_of(const LayerBounds& bounds, const LayerAnalysis& layer) {
  Json states = Json::array();
  for (std::size_t s = 0; s < layer.states.size(); ++s)
    states.push_back({{"name", layer.states[s].name},
                      {"largest", *std::ranges::max_element(layer.states[s].largest.max)},
                      {"bound", bounds.states.empty() ? Json() : Json(bounds.states[s])}});
  return {{"jacobian",
           {{"source", bounds.jacobian_source},
            {"row_sum", json_of(layer.row_sum)},
            {"bound", bounds.jacobian.empty() ? Json() : Json(bounds.jacobian)}}},
          {"states", {{"source", bounds.state_source}, {"largest", std::move(states)}}}};
}

Json json_of(const StateAnalysis& state) {
  Json json = {{"name", state.name},
               {"width", state.width},
               {"norm", json_of(state.norm)},
               {"gradient", json_of(state.gradient)},
               {"gradient_reach", state.gradient.reach()}};
  if (!state.last_step_gradient.mean.empty()) {
    json["last_step_gradient"] = json_of(state.last_step_gradient);
    json["last_step_gradient_reach"] = state.last_step_gradient.reach();
  }
  return json;
}

Json json_of(const ValueAnalysis& value) {
  const Distribution& of = value.distribution;
  return {{"name", value.name},
          {"units", value.units},
          {"fixed", value.fixed},
          {"count", of.count},
          {"not_finite", of.not_finite},
          {"mean", of.mean},
          {"min", of.min},
          {"max", of.max},
          {"quantiles", {{"0.05", of.low}, {"0.5", of.median}, {"0.95", of.high}}},
          {"scale", of.log ? "log" : "linear"},
          {"edges", of.edges},
          {"counts", of.counts},
          {"peaks", of.peaks},
          {"peak_shares", of.peak_shares},
          {"unit_means", value.unit_means}};
}

Json json_of(const LayerAnalysis& layer) {
  Json jacobian = {{"method", layer.exact ? "exact" : "random projections"},
                   {"projections", layer.projections},
                   {"frobenius", json_of(layer.frobenius)},
                   {"reach", layer.frobenius.reach()}};
  if (layer.exact) jacobian["spectral"] = json_of(layer.spectral);
  Json json = {{"layer", layer.index},
               {"name", layer.name},
               {"width", layer.width},
               {"states", Json::array()},
               {"jacobian", std::move(jacobian)},
               {"values", Json::array()}};
  if (layer.bounds) json["bounds"] = json_of(*layer.bounds, layer);
  for (const StateAnalysis& state : layer.states) json["states"].push_back(json_of(state));
  for (const ValueAnalysis& value : layer.values) json["values"].push_back(json_of(value));
  return json;
}

}  // namespace

Json json_of(const Analysis& analysis, const std::string& name, const std::string& split) {
  Json json = {{"name", name},
               {"split", split},
               {"sequences", analysis.lengths.size()},
               {"lengths", analysis.lengths},
               {"steps", analysis.steps},
               {"layers", Json::array()}};
  for (const LayerAnalysis& layer : analysis.layers) json["layers"].push_back(json_of(layer));
  return json;
}

}  // namespace lagtape

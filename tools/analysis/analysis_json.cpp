#include "lagtape/tools/analysis/analysis_json.h"

namespace lagtape {

namespace {

Json json_of(const LagCurve& curve) { return {{"mean", curve.mean}, {"min", curve.min}, {"max", curve.max}}; }

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

#include "lagtape/tools/exchange/import/state_dict_names.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"

namespace lagtape::foreign {
namespace {

using Tensors = std::map<std::string, const Tensor*>;

std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

std::string without_dots(std::string name) {
  std::erase(name, '.');
  return name;
}

/// Counters that training keeps beside the weights: PyTorch, torch.optim.swa_utils and packages of moving
/// averages.
bool is_counter(const NamedTensor& entry) {
  const std::string names[] = {
      "num_batches_tracked", "n_averaged", "num_updates", "initted", "step", "decay"};
  return entry.tensor.numel() == 1 && std::ranges::find(names, last_part(entry.name)) != std::end(names);
}

/// The end, with its dot, of the part of a name that announces a moving average; 0 where a name has no such part.
std::size_t average_end(const std::string& name) {
  const std::string parts[] = {"ema", "ema_model", "model_ema", "averaged_model", "swa_model", "shadow"};
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t dot = name.find('.', begin);
    if (dot == std::string::npos) return 0;
    if (std::ranges::find(parts, name.substr(begin, dot - begin)) != std::end(parts))
      return name.compare(dot + 1, 7, "module.") == 0 ? dot + 8 : dot + 1;
    begin = dot + 1;
  }
  return 0;
}

/// Keeps of weights that are there twice the moving average, under the name of the other.
void keep_averages(std::vector<NamedTensor>& tensors, std::vector<std::string>& notes) {
  std::map<std::string, std::size_t> averages;  // by the rest of their names, without dots
  std::string said;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::size_t end = average_end(tensors[i].name);
    if (end > 0) averages.emplace(without_dots(tensors[i].name.substr(end)), i);
    if (end > 0) said = tensors[i].name.substr(0, end - 1);
  }
  std::vector<NamedTensor> kept;
  std::set<std::size_t> used;
  for (const NamedTensor& entry : tensors) {
    if (average_end(entry.name) > 0) continue;
    const std::string name = without_dots(entry.name);
    std::size_t longest = 0, found = 0;
    for (const auto& [rest, i] : averages)
      if (name.ends_with(rest) && rest.size() > longest &&
          tensors[i].tensor.shape() == entry.tensor.shape()) {
        longest = rest.size();
        found = i;
      }
    if (longest == 0) return;  // the sets differ: nothing is decided here
    used.insert(found);
    kept.push_back({entry.name, tensors[found].tensor});
  }
  if (kept.empty() || used.size() != averages.size() || kept.size() != used.size()) return;
  tensors = std::move(kept);
  notes.push_back(text_of("The file has all weights twice. The model has those below ", quote(said),
                          ", the moving averages."));
}

/// g v / |v|, where the norms are those of rows, of columns or of all, as g has numbers.
std::optional<Tensor> weight_normed(const Tensor& g, const Tensor& v) {
  const std::int64_t rows = v.rank() > 0 ? v.size(0) : 1,
                     columns = v.numel() / std::max<std::int64_t>(rows, 1);
  const bool of_rows = g.numel() == rows && (g.rank() < 2 || g.size(0) == rows),
             of_columns = !of_rows && g.numel() == columns;
  if (!of_rows && !of_columns && g.numel() != 1) return {};
  const auto group = [&](std::int64_t i) { return of_rows ? i / columns : of_columns ? i % columns : 0; };
  std::vector<double> squares(static_cast<std::size_t>(g.numel()), 0);
  for (std::int64_t i = 0; i < v.numel(); ++i)
    squares[static_cast<std::size_t>(group(i))] += v.at(i) * v.at(i);
  Tensor weight(v.shape(), v.dtype());
  for (std::int64_t i = 0; i < v.numel(); ++i)
    weight.set(i, g.at(group(i)) * v.at(i) / std::sqrt(squares[static_cast<std::size_t>(group(i))]));
  return weight;
}

/// W / (u W v): the largest singular value as training estimated it.
std::optional<Tensor> spectral_normed(const Tensor& W, const Tensor& u, const Tensor& v) {
  if (u.numel() * v.numel() != W.numel() || W.rank() < 1 || W.size(0) != u.numel()) return {};
  double sigma = 0;
  for (std::int64_t i = 0; i < W.numel(); ++i) sigma += u.at(i / v.numel()) * W.at(i) * v.at(i % v.numel());
  Tensor weight(W.shape(), W.dtype());
  for (std::int64_t i = 0; i < W.numel(); ++i) weight.set(i, W.at(i) / sigma);
  return weight;
}

/// A way in which PyTorch names the parts of a weight NAME: before the name, and after it.
struct Parts {
  const char *before, *first, *second, *third;  ///< third: empty for weight norm
};

constexpr Parts kParts[] = {
    {"", "_g", "_v", ""},
    {"parametrizations.", ".original0", ".original1", ""},
    {"", "_orig", "_u", "_v"},
    {"parametrizations.", ".original", ".0._u", ".0._v"},
};

/// "fc.weight" of "fc.parametrizations.weight.original0"; empty where the name is not of that form.
std::string plain_name(const std::string& name, const Parts& parts) {
  const std::string before = parts.before, first = parts.first;
  if (!name.ends_with(first)) return "";
  std::string plain = name.substr(0, name.size() - first.size());
  if (before.empty()) return plain;
  const std::size_t at = plain.rfind(before);
  if (at == std::string::npos || (at > 0 && plain[at - 1] != '.')) return "";
  return plain.erase(at, before.size());
}

void compute_weights(std::vector<NamedTensor>& tensors) {
  Tensors known;
  for (const NamedTensor& entry : tensors) known.emplace(entry.name, &entry.tensor);
  std::set<std::string> gone;
  std::vector<NamedTensor> made;
  for (const NamedTensor& entry : tensors) {
    for (const Parts& parts : kParts) {
      const std::string plain = plain_name(entry.name, parts);
      const std::string stem = entry.name.substr(0, entry.name.size() - std::string(parts.first).size());
      const auto second = known.find(stem + parts.second), third = known.find(stem + parts.third);
      const bool is_norm = *parts.third == '\0';
      if (plain.empty() || second == known.end() || (!is_norm && third == known.end()) ||
          known.contains(plain))
        continue;
      const std::optional<Tensor> weight =
          is_norm ? weight_normed(entry.tensor, *second->second)
                  : spectral_normed(entry.tensor, *second->second, *third->second);
      if (!weight) continue;
      made.push_back({plain, *weight});
      gone.insert({entry.name, stem + parts.second});
      if (!is_norm) gone.insert(stem + parts.third);
      break;
    }
    if (!gone.contains(entry.name)) made.push_back(entry);
  }
  std::erase_if(made, [&](const NamedTensor& entry) { return gone.contains(entry.name); });
  tensors = std::move(made);
}

}  // namespace

void make_plain(std::vector<NamedTensor>& tensors, std::vector<std::string>& notes) {
  std::erase_if(tensors, is_counter);
  keep_averages(tensors, notes);
  compute_weights(tensors);
}

}  // namespace lagtape::foreign

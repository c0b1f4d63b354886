#include "lagtape/tools/train/rank_work.h"

#include <string>

#include "lagtape/core/io/safetensors.h"

namespace lagtape {

void RankWork::tell(std::uint8_t& value) const {
  ranks_->broadcast(0, std::as_writable_bytes(std::span(&value, 1)));
}

bool RankWork::agreed(bool value) const {
  if (ranks_ == nullptr) return value;
  std::uint8_t first = value ? 1 : 0;
  tell(first);
  return first != 0;
}

void RankWork::check_alike(const std::vector<std::pair<std::string, std::uint64_t>>& facts) const {
  if (ranks_ == nullptr) return;
  std::vector<std::uint64_t> of_first;
  std::string difference;
  for (int rank = 0; rank < ranks_->count(); ++rank) {
    std::vector<std::uint64_t> hashes;
    for (const auto& [name, hash] : facts) hashes.push_back(hash);
    ranks_->broadcast(rank, std::as_writable_bytes(std::span(hashes)));
    if (rank == 0) of_first = hashes;
    for (std::size_t i = 0; i < hashes.size() && difference.empty(); ++i)
      if (hashes[i] != of_first[i])
        difference = text_of("rank ", rank, " has another ", facts[i].first, " than rank 0");
  }
  if (!difference.empty())
    throw InputError(
        {}, Rule::conflict, difference, {},
        "Give all ranks the same lagtape, experiment and files, and processors with or without fused "
        "multiply-add.");
}

void RankWork::share_state(Trainer& trainer) const {
  if (ranks_ == nullptr) return;
  std::string state = is_first() ? serialize_safetensors(trainer.pack()) : std::string();
  auto size = static_cast<std::uint64_t>(state.size());
  ranks_->broadcast(0, std::as_writable_bytes(std::span(&size, 1)));
  state.resize(size);
  ranks_->broadcast(0, std::as_writable_bytes(std::span(state)));
  if (is_first()) return;
  TensorReader reader(parse_safetensors(state, "the state of the first rank"), "the state of the first rank");
  trainer.unpack(reader);
}

}  // namespace lagtape

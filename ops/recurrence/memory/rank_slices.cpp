#include "lagtape/ops/recurrence/memory/rank_slices.h"

namespace lagtape::recurrence {

RankSlices::RankSlices(Ranks* ranks, std::int64_t slices) : ranks_(ranks) {
  const std::int64_t count = ranks == nullptr ? 1 : ranks->count();
  for (std::int64_t rank = 0; rank <= count; ++rank) first_slices_.push_back(slices * rank / count);
}

void RankSlices::complete(Tensor& tensor, std::int64_t axis,
                          const std::vector<std::int64_t>& first_rows) const {
  if (ranks_ == nullptr) return;
  const std::int64_t rows = tensor.size(axis);
  std::int64_t outer = 1;
  for (std::int64_t a = 0; a < axis; ++a) outer *= tensor.size(a);
  if (tensor.numel() == 0) return;
  const std::int64_t bytes = tensor.numel() * static_cast<std::int64_t>(byte_size(tensor.dtype()));
  const std::int64_t row_bytes = bytes / outer / rows;
  std::vector<std::int64_t> begins;
  for (const std::int64_t slice : first_slices_)
    begins.push_back(first_rows[static_cast<std::size_t>(slice)] * row_bytes);
  auto* at = static_cast<std::byte*>(tensor.raw());
  for (std::int64_t i = 0; i < outer; ++i, at += rows * row_bytes)
    ranks_->share({at, static_cast<std::size_t>(rows * row_bytes)}, begins);
}

void RankSlices::complete(std::vector<double>& numbers) const {
  if (ranks_ == nullptr) return;
  std::vector<std::int64_t> begins;
  for (const std::int64_t slice : first_slices_)
    begins.push_back(slice * static_cast<std::int64_t>(sizeof(double)));
  ranks_->share(std::as_writable_bytes(std::span(numbers)), begins);
}

}  // namespace lagtape::recurrence

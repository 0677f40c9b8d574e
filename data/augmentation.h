#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "data/batch.h"
#include "data/corpus.h"
#include "data/random.h"
#include "data/text_encoder.h"

namespace ablate::data {

/// Masked language modelling (Devlin et al. 2018, section 3.1), or masked diffusion.
struct Masking {
  double share = 0.15;  // of the tokens to be predicted
  int64_t vocabulary = 0;
  /// In place of `share`, k of a row's n tokens are predicted, drawn evenly, and the source shows
  /// the mask for all of them. k is drawn from 1 to n by a probability in proportion to 1 / k. The
  /// expected losses of rows of one length, divided by their expected predicted tokens, are then
  /// the upper bound of the negative log-likelihood per token that masked diffusion trains (Shi et
  /// al. 2024, Sahoo et al. 2024, in the form of Ou et al. 2024, section 3), which weights an even
  /// k by 1 / k.
  bool diffusion = false;
};

/// Chooses `share` of the tokens in `target_out`, at least one, and replaces the others by padding.
/// Of the chosen ones the source shows the mask (80 %), any ordinary token (10 %) or the token
/// itself (10 %). Throws DataError if the vocabulary has no ordinary token. REQUIRES: source and
/// target_out of one shape.
void mask(Batch& batch, const Masking& options, Random& random);

/// The same for evaluation. The masked tokens of an example depend only on `seed`, its number and
/// their places, not on its batch; a larger share masks a superset of those of a smaller one. An
/// example may keep all its tokens, except the first, number 0, of which at least one is masked.
/// With diffusion the quantiles of k are spread evenly over the numbers. REQUIRES: the numbers of
/// the batch's rows.
void mask_by_place(Batch& batch, std::span<const int64_t> examples, const Masking& options,
                   uint64_t seed);

/// How running text is cut into blocks.
struct Chunking {
  int64_t block;        // tokens predicted of each block
  bool masked = false;  // for masked language modelling
  int64_t offset = 0;   // tokens predicted in the first block, if it is shorter than the others
  bool started = true;  // the start token is read before each block
  std::optional<FileText> text = {};  // the running text, if it stays in its file
};

/// The places of blocks that together predict every id of a running text but the first once; the
/// first id of a block is the last of the block before. Masked blocks hold every id once. The last
/// block may be shorter.
class Blocks {
 public:
  Blocks(int64_t ids, const Chunking& chunking);

  struct Place {
    int64_t begin, size;  // ids
  };
  int64_t count() const { return count_; }
  /// REQUIRES: 0 <= number < count().
  Place at(int64_t number) const;
  /// Ids of the longest of their examples (example_of).
  int64_t longest_example() const { return std::min(block_, ids_ - overlap_) + 1; }

 private:
  int64_t ids_, block_, first_, overlap_, count_ = 0;
};

/// The ids of texts, the targets of `texts`, one after the other, each closed by the end token.
std::vector<int32_t> concatenate(std::span<const Example> texts, const TextEncoder& encode);

/// A block as an example: its first id is the prompt of the others; of a masked block the ids
/// behind the start token are source and target alike.
EncodedExample example_of(std::span<const int32_t> block, const Chunking& chunking);

/// Every block of `ids` as an example.
std::vector<EncodedExample> chunk(std::span<const int32_t> ids, const Chunking& chunking);

/// Random changes of the examples in training, as functions of seed and position: the masked tokens
/// of every batch, the places at which every epoch cuts running text into blocks, and the
/// segmentation into tokens.
struct Augmentation {
  std::optional<Masking> masking = {};
  std::optional<Chunking> chunking = {};  // of the examples; their offset is drawn for each epoch
  /// The examples of an epoch, if every epoch segments them anew; empty: those given.
  std::function<std::vector<EncodedExample>(int64_t epoch)> rewritten = {};
};

}  // namespace ablate::data

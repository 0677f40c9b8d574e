#pragma once

namespace ablate::models {

/// Decoding in TorchScript over the traced `begin` and `step`. The same search as
/// models/decode.cpp, hypothesis for hypothesis; finished sentences leave the batch. Types are
/// numbers here: 4 is int64, 6 float32, 7 float64.
inline constexpr const char* kDecodingLoops = R"(
def limits(self, source: Tensor, max_length: int, max_ratio: float) -> Tensor:
    pieces = (source != self.pad).sum(1).to(dtype=7)
    most = min(max_length, self.longest - self.prompt * source.size(1))
    return torch.clamp(pieces * max_ratio + 10.0, max=float(most)).to(dtype=4)

def log_probabilities(self, logits: Tensor) -> Tensor:
    all = torch.log_softmax(logits, -1, 6)
    all.select(1, self.pad).fill_(float('-inf'))
    all.select(1, self.bos).fill_(float('-inf'))
    return all

def chosen(self, log_probability: Tensor, temperature: float, top_k: int, top_p: float) -> Tensor:
    if temperature == 0.0:
        return log_probability.argmax(-1)
    ranked, order = torch.log_softmax(log_probability / temperature, -1, 6).sort(-1, True)
    probability = ranked.exp()
    dropped = probability.cumsum(-1) - probability >= top_p
    dropped[:, 0] = False
    if top_k > 0:
        dropped[:, top_k:] = True
    pick = torch.multinomial(probability.masked_fill(dropped, 0.0), 1)
    return order.gather(1, pick).squeeze(1)

def write(self, source: Tensor, temperature: float, top_k: int, top_p: float, max_length: int,
          max_ratio: float) -> Tuple[Tensor, Tensor, Tensor]:
    rows = source.size(0)
    limit = self.limits(source, max_length, max_ratio)
    live = torch.arange(rows, device=source.device)
    total = torch.zeros([rows], dtype=7, device=source.device)
    pieces = torch.ones([rows], dtype=7, device=source.device)
    columns: List[Tensor] = []
    logits, state = self.begin(source)
    count = 1
    while rows > 0:
        log_probability = self.log_probabilities(logits)
        token = self.chosen(log_probability, temperature, top_k, top_p)
        best = log_probability.gather(1, token.unsqueeze(1)).squeeze(1)
        total = total.index_add(0, live, best.to(dtype=7))
        pieces = pieces.index_fill(0, live, float(count))
        ended = token == self.eos
        column = torch.full([rows], self.pad, dtype=4, device=source.device)
        columns.append(column.index_copy(0, live, token.masked_fill(ended, self.pad)))
        open = torch.logical_and(torch.logical_not(ended), limit.index_select(0, live) > count)
        if not bool(open.any()):
            break
        if not bool(open.all()):
            kept = open.nonzero().squeeze(1)
            live = live.index_select(0, kept)
            token = token.index_select(0, kept)
            state = [part.index_select(0, kept) for part in state]
        logits, state = self.step(token, state)
        count += 1
    ids = torch.stack(columns, 1)
    return ids[:, :int((ids != self.pad).sum(1).max())], total, pieces

def greedy(self, source: Tensor, max_length: int = 256, max_ratio: float = 3.0,
           length_penalty: float = 1.0) -> Tuple[Tensor, Tensor]:
    ids, total, pieces = self.write(source, 0.0, 0, 1.0, max_length, max_ratio)
    return ids, total / pieces.pow(length_penalty)

def sample(self, source: Tensor, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0,
           max_length: int = 256, max_ratio: float = 3.0) -> Tuple[Tensor, Tensor]:
    ids, total, pieces = self.write(source, temperature, top_k, top_p, max_length, max_ratio)
    return ids, total

def beam(self, source: Tensor, beams: int = 4, length_penalty: float = 1.0, max_length: int = 256,
         max_ratio: float = 3.0) -> Tuple[Tensor, Tensor]:
    rows = source.size(0)
    device = source.device
    never = -1e300
    limit = self.limits(source, max_length, max_ratio)
    best = torch.full([rows], never, dtype=7, device=device)
    output = torch.full([rows, int(limit.max())], self.pad, dtype=4, device=device)
    live = torch.arange(rows, device=device)
    ended = torch.zeros([rows], dtype=4, device=device)
    first, state = self.begin(source)
    logits = first.repeat_interleave(beams, 0)
    state = [part.repeat_interleave(beams, 0) for part in state]
    score = torch.full([rows, beams], never, dtype=7, device=device)
    score[:, 0] = 0.0
    ids = torch.zeros([rows, beams, 0], dtype=4, device=device)
    count = 1
    while rows > 0:
        sentences = score.size(0)
        log_probability = self.log_probabilities(logits)
        value, piece = log_probability.topk(min(2 * beams, log_probability.size(1)), -1)
        width = value.size(1)
        total = score.unsqueeze(2) + value.to(dtype=7).view(sentences, beams, width)
        total, rank = total.flatten(1).sort(stable=True, dim=1, descending=True)
        total, rank = total[:, :2 * beams], rank[:, :2 * beams]
        parent = torch.div(rank, width, rounding_mode='floor')
        token = piece.view(sentences, -1).gather(1, rank)
        possible = total > never / 2
        last = (limit.index_select(0, live) <= count).unsqueeze(1)
        ends = torch.logical_and(torch.logical_or(token == self.eos, last), possible)
        final = torch.logical_and(ends, torch.arange(rank.size(1), device=device) < beams)
        ended = ended.index_add(0, live, final.sum(1))
        value_of = total / float(count) ** length_penalty
        candidate, which = value_of.masked_fill(torch.logical_not(final), never).max(1)
        better = (candidate > best.index_select(0, live)).nonzero().squeeze(1)
        if better.size(0) > 0:
            into = live.index_select(0, better)
            best = best.index_copy(0, into, candidate.index_select(0, better))
            at = which.index_select(0, better).unsqueeze(1)
            from_beam = parent.index_select(0, better).gather(1, at).squeeze(1)
            tokens = token.index_select(0, better).gather(1, at)
            path = ids.index_select(0, better)[torch.arange(better.size(0), device=device), from_beam]
            whole = torch.cat([path, tokens.masked_fill(tokens == self.eos, self.pad)], 1)
            row = torch.full([better.size(0), output.size(1)], self.pad, dtype=4,
                             device=device)
            row[:, :whole.size(1)] = whole
            output = output.index_copy(0, into, row)
        stays = torch.logical_and(torch.logical_not(ends), possible)
        order = torch.logical_not(stays).to(dtype=4).sort(stable=True, dim=1)[1][:, :beams]
        alive = stays.gather(1, order)
        score = total.gather(1, order).masked_fill(torch.logical_not(alive), never)
        parent, token = parent.gather(1, order), token.gather(1, order)
        bound = score[:, 0] / limit.index_select(0, live).to(dtype=7).pow(length_penalty)
        going = torch.logical_and(alive[:, 0], ended.index_select(0, live) < beams)
        going = torch.logical_and(going, best.index_select(0, live) < bound)
        kept = going.nonzero().squeeze(1)
        if kept.size(0) == 0:
            break
        source_row = (kept.unsqueeze(1) * beams + parent.index_select(0, kept)).flatten()
        ids = ids.flatten(0, 1).index_select(0, source_row).view(kept.size(0), beams, -1)
        token = token.index_select(0, kept)
        ids = torch.cat([ids, token.unsqueeze(2)], 2)
        score = score.index_select(0, kept)
        live = live.index_select(0, kept)
        state = [part.index_select(0, source_row) for part in state]
        logits, state = self.step(token.flatten(), state)
        count += 1
    return output[:, :int((output != self.pad).sum(1).max())], best
)";

}  // namespace ablate::models

#pragma once

namespace ablate::models {

/// Decoding in TorchScript over the traced `begin` and `step`: the same search as that of
/// models/inference/, hypothesis for hypothesis; finished rows leave the batch. `@name` is replaced
/// by the default of the search option of that name. Types are numbers here: 4 is int64, 6 float32,
/// 7 float64.
inline constexpr const char* kDecodingLoops = R"(
def limits(self, source: Tensor, max_length: int, max_ratio: float) -> Tensor:
    tokens = (source != self.pad).sum(1).to(dtype=7)
    most = min(max_length, self.longest - self.prompt * source.size(1))
    assert max_length >= 1, "max_length must be at least 1"
    return torch.clamp(tokens * max_ratio + 10.0, max=float(most)).to(dtype=4)

def log_probabilities(self, logits: Tensor, step: int) -> Tensor:
    all = torch.log_softmax(logits, -1, 6)
    wrong = bool(torch.isnan(all).any())
    assert not wrong, "the model's scores are not numbers at step {}".format(step)
    for token in self.suppressed:
        all.select(1, token).fill_(float('-inf'))
    return all

def next_token(self, log_probability: Tensor, temperature: float, top_k: int,
               top_p: float) -> Tensor:
    if temperature == 0.0:
        return log_probability.argmax(-1)
    below = (log_probability - log_probability.amax(1, keepdim=True)).to(dtype=7)
    ranked, order = torch.log_softmax(below / temperature, -1, 6).sort(-1, True)
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
    length = torch.ones([rows], dtype=7, device=source.device)
    columns: List[Tensor] = []
    logits, state = self.begin(source)
    count = 1
    while rows > 0:
        log_probability = self.log_probabilities(logits, count)
        token = self.next_token(log_probability, temperature, top_k, top_p)
        best = log_probability.gather(1, token.unsqueeze(1)).squeeze(1)
        total = total.index_add(0, live, best.to(dtype=7))
        length = length.index_fill(0, live, float(count))
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
    return ids[:, :int((ids != self.pad).sum(1).max())], total, length

def greedy(self, source: Tensor, max_length: int = @max_length, max_ratio: float = @max_ratio,
           length_penalty: float = @length_penalty) -> Tuple[Tensor, Tensor]:
    ids, total, length = self.write(source, 0.0, 0, 1.0, max_length, max_ratio)
    return ids, total / length.pow(length_penalty)

def sample(self, source: Tensor, temperature: float = @temperature, top_k: int = @top_k,
           top_p: float = @top_p, max_length: int = @max_length,
           max_ratio: float = @max_ratio) -> Tuple[Tensor, Tensor]:
    ids, total, length = self.write(source, temperature, top_k, top_p, max_length, max_ratio)
    return ids, total

def candidates(self, logits: Tensor, score: Tensor, step: int) -> Tuple[Tensor, Tensor, Tensor]:
    rows, beams = score.size(0), score.size(1)
    log_probability = self.log_probabilities(logits, step)
    value, ids = log_probability.topk(min(2 * beams, log_probability.size(1)), -1)
    width = value.size(1)
    total = score.unsqueeze(2) + value.to(dtype=7).view(rows, beams, width)
    total, rank = total.flatten(1).sort(stable=True, dim=1, descending=True)
    total, rank = total[:, :2 * beams], rank[:, :2 * beams]
    parent = torch.div(rank, width, rounding_mode='floor')
    return total, parent, ids.view(rows, -1).gather(1, rank)

def best_ended(self, score: Tensor, parent: Tensor, token: Tensor,
               ids: Tensor) -> Tuple[Tensor, Tensor]:
    value, which = score.max(1)
    at = which.unsqueeze(1)
    path = ids[torch.arange(ids.size(0), device=ids.device), parent.gather(1, at).squeeze(1)]
    last = token.gather(1, at)
    return value, torch.cat([path, last.masked_fill(last == self.eos, self.pad)], 1)

def keep_better(self, best: Tensor, output: Tensor, live: Tensor, value: Tensor,
                path: Tensor) -> Tuple[Tensor, Tensor]:
    better = (value > best.index_select(0, live)).nonzero().squeeze(1)
    into = live.index_select(0, better)
    row = torch.full([better.size(0), output.size(1)], self.pad, dtype=4, device=output.device)
    row[:, :path.size(1)] = path.index_select(0, better)
    return (best.index_copy(0, into, value.index_select(0, better)),
            output.index_copy(0, into, row))

def beam(self, source: Tensor, beams: int = 4, length_penalty: float = @length_penalty,
         max_length: int = @max_length, max_ratio: float = @max_ratio) -> Tuple[Tensor, Tensor]:
    rows = source.size(0)
    device = source.device
    limit = self.limits(source, max_length, max_ratio)
    best = torch.full([rows], self.never, dtype=7, device=device)
    output = torch.full([rows, int(limit.max())], self.pad, dtype=4, device=device)
    live = torch.arange(rows, device=device)
    ended = torch.zeros([rows], dtype=4, device=device)
    logits, state = self.begin(source)
    logits = logits.repeat_interleave(beams, 0)
    state = [part.repeat_interleave(beams, 0) for part in state]
    score = torch.full([rows, beams], self.never, dtype=7, device=device)
    score[:, 0] = 0.0
    ids = torch.zeros([rows, beams, 0], dtype=4, device=device)
    count = 1
    while rows > 0:
        total, parent, token = self.candidates(logits, score, count)
        possible = total > self.never / 2
        last = (limit.index_select(0, live) <= count).unsqueeze(1)
        ends = torch.logical_and(torch.logical_or(token == self.eos, last), possible)
        final = torch.logical_and(ends, torch.arange(token.size(1), device=device) < beams)
        ended = ended.index_add(0, live, final.sum(1))
        scores = total / float(count) ** length_penalty
        scores = scores.masked_fill(torch.logical_not(final), self.never)
        value, path = self.best_ended(scores, parent, token, ids)
        best, output = self.keep_better(best, output, live, value, path)
        stays = torch.logical_and(torch.logical_not(ends), possible)
        order = torch.logical_not(stays).to(dtype=4).sort(stable=True, dim=1)[1][:, :beams]
        alive = stays.gather(1, order)
        score = total.gather(1, order).masked_fill(torch.logical_not(alive), self.never)
        bound = score[:, 0] / limit.index_select(0, live).to(dtype=7).pow(length_penalty)
        going = torch.logical_and(alive[:, 0], ended.index_select(0, live) < beams)
        going = torch.logical_and(going, best.index_select(0, live) < bound)
        kept = going.nonzero().squeeze(1)
        if kept.size(0) == 0:
            break
        parent = parent.gather(1, order).index_select(0, kept)
        token = token.gather(1, order).index_select(0, kept)
        rows_kept = (kept.unsqueeze(1) * beams + parent).flatten()
        ids = ids.flatten(0, 1).index_select(0, rows_kept).view(kept.size(0), beams, -1)
        ids = torch.cat([ids, token.unsqueeze(2)], 2)
        score, live = score.index_select(0, kept), live.index_select(0, kept)
        state = [part.index_select(0, rows_kept) for part in state]
        logits, state = self.step(token.flatten(), state)
        count += 1
    return output[:, :int((output != self.pad).sum(1).max())], best
)";

}  // namespace ablate::models

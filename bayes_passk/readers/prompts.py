"""Names for problems that a log knows by their prompts only."""

__all__ = ["prompt_name"]

import hashlib
import json
import re
from typing import Any

# What is left of a chat template when its special tokens are skipped.
_CHAT = re.compile(
    r"(?P<system>system\n.*?\n)?user\n(?P<user>.*?)\s*\nassistant\s*(?:<think>\s*)?", re.DOTALL
)
_TURN = re.compile(r"\n(?:user|assistant)\n")
_DIGITS = 8


def prompt_name(prompt: Any) -> str | None:
    r"""Name of a prompt: what the user says, and a few digits of a hash if there is more to it.

    Parameters
    ----------
    prompt : str or list
        Text, or turns with ``role`` and ``content``.

    Returns
    -------
    str or None
        Different prompts have different names, white space around them aside. None where it is
        no prompt, or empty.

    Examples
    --------
    >>> prompt_name("user\nWhat is 1 + 1?\nassistant\n")
    'What is 1 + 1?'
    >>> prompt_name([{"role": "user", "content": "What is 1 + 1?"}])
    'What is 1 + 1?'
    >>> prompt_name("system\nBe brief.\nuser\nWhat is 1 + 1?\nassistant\n")
    'What is 1 + 1? [561416d9]'
    """
    if isinstance(prompt, str):
        return _of_text(prompt) or None
    return _of_turns(prompt) if isinstance(prompt, list) and prompt else None


def _of_text(text: str) -> str:
    chat = _CHAT.fullmatch(text)
    if chat is None or _TURN.search(chat["user"]) or not chat["user"].strip():
        return text.strip()
    return chat["user"] if chat["system"] is None else _marked(chat["user"], text)


def _of_turns(turns: list[Any]) -> str | None:
    said = [turn for turn in turns if isinstance(turn, dict) and turn.get("role") == "user"]
    text = _content(said[-1].get("content")) if said else ""
    whole = json.dumps(turns, sort_keys=True, default=str)
    return text if text and len(turns) == 1 else _marked(text or "prompt", whole)


def _content(content: Any) -> str:
    if isinstance(content, str):
        return content.strip()
    parts = content if isinstance(content, list) else [content]
    return " ".join(
        part["text"].strip()
        for part in parts
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    )


def _marked(text: str, whole: str) -> str:
    return f"{text} [{hashlib.sha256(whole.encode()).hexdigest()[:_DIGITS]}]"

"""Short problems with exact answers, from nearly always solved to nearly never."""

__all__ = ["PROBLEMS", "Problem", "is_correct"]

from collections.abc import Iterator
from dataclasses import dataclass

FEW_SHOT = {
    "sum": "Q: 1 + 1\nA: 2\nQ: 5 + 2\nA: 7\nQ: 10 + 20\nA: 30\n",
    "difference": "Q: 3 - 1\nA: 2\nQ: 9 - 5\nA: 4\nQ: 50 - 20\nA: 30\n",
    "product": "Q: 2 * 2\nA: 4\nQ: 3 * 5\nA: 15\nQ: 10 * 6\nA: 60\n",
    "unit": "Q: minutes in 1 hour\nA: 60\nQ: days in 1 week\nA: 7\nQ: cents in 1 dollar\nA: 100\n",
    "word": (
        "Q: Ann has 2 pens and buys 1. How many pens?\nA: 3\n"
        "Q: Bob has 5 eggs and eats 2. How many eggs?\nA: 3\n"
        "Q: 2 bags hold 4 nuts each. How many nuts?\nA: 8\n"
    ),
    "capital": (
        "Q: capital of Spain\nA: Madrid\nQ: capital of Egypt\nA: Cairo\n"
        "Q: capital of Japan\nA: Tokyo\n"
    ),
    "opposite": (
        "Q: opposite of hot\nA: cold\nQ: opposite of up\nA: down\nQ: opposite of day\nA: night\n"
    ),
    "plural": "Q: plural of cat\nA: cats\nQ: plural of box\nA: boxes\nQ: plural of pen\nA: pens\n",
    "after": "Q: after Sunday\nA: Monday\nQ: after 4\nA: 5\nQ: after March\nA: April\n",
    "reverse": (
        "Q: spell cat backwards\nA: tac\nQ: spell on backwards\nA: no\n"
        "Q: spell bus backwards\nA: sub\n"
    ),
    "largest": (
        "Q: largest of 3, 9, 4\nA: 9\nQ: largest of 12, 7, 10\nA: 12\nQ: largest of 1, 5, 8\nA: 8\n"
    ),
}


@dataclass(frozen=True)
class Problem:
    """A question with its exact answer.

    Parameters
    ----------
    id : str
        Category and question, unique.
    category : str
        Kind of question; names the examples put before it.
    question, answer : str
        The question, and the one accepted answer.
    """

    id: str
    category: str
    question: str
    answer: str

    @property
    def prompt(self) -> str:
        """Three solved examples and the question."""
        return f"{FEW_SHOT[self.category]}Q: {self.question}\nA:"


def is_correct(problem: Problem, completion: str) -> bool:
    r"""Whether the first line of a completion is the answer, case and a final point aside.

    Examples
    --------
    >>> is_correct(PROBLEMS[0], " 5.\nQ: 1 + 1")
    True
    >>> is_correct(PROBLEMS[0], " 55")
    False
    """
    line = completion.split("\n", 1)[0].strip().removesuffix(".").strip()
    return line.casefold() == problem.answer.casefold()


def _arithmetic() -> Iterator[Problem]:
    pairs = {
        "sum": "2+3 4+4 7+2 3+3 1+8 8+7 9+6 6+5 5+5 13+4 20+20 25+14 31+27 46+38 57+68 "
        "123+45 248+367",
        "difference": "5-1 7-3 9-2 8-6 10-5 15-7 12-9 24-6 45-23 61-38 100-36 402-175",
        "product": "2*3 3*4 5*5 6*7 8*4 9*9 7*8 10*10 11*7 12*12 13*9 17*6 23*14 37*46 84*57",
    }
    apply = {
        "sum": ("+", int.__add__),
        "difference": ("-", int.__sub__),
        "product": ("*", int.__mul__),
    }
    for category, listed in pairs.items():
        sign, operation = apply[category]
        for pair in listed.split():
            a, b = map(int, pair.split(sign))
            yield _problem(category, f"{a} {sign} {b}", str(operation(a, b)))


def _listed() -> Iterator[Problem]:
    for category, (before, listed) in _ANSWERS.items():
        for question, answer in listed.items():
            yield _problem(category, before + question, answer)


def _spelling() -> Iterator[Problem]:
    for word in ["dog", "ten", "pot", "live", "table", "orange"]:
        yield _problem("reverse", f"spell {word} backwards", word[::-1])


def _problem(category: str, question: str, answer: str) -> Problem:
    return Problem(f"{category}/{question}", category, question, answer)


_ANSWERS: dict[str, tuple[str, dict[str, str]]] = {
    "unit": (
        "",
        {
            "hours in 1 day": "24",
            "seconds in 1 minute": "60",
            "months in 1 year": "12",
            "days in 2 weeks": "14",
            "hours in 2 days": "48",
            "centimeters in 1 meter": "100",
            "grams in 2 kilograms": "2000",
            "seconds in 1 hour": "3600",
            "minutes in 1 day": "1440",
        },
    ),
    "word": (
        "",
        {
            "Tom has 4 cups and buys 3. How many cups?": "7",
            "Eve has 9 cards and gives away 4. How many cards?": "5",
            "5 cars have 4 wheels each. How many wheels?": "20",
            "Sam has 12 coins and loses 7. How many coins?": "5",
            "8 children share 24 sweets. How many each?": "3",
            "Kim reads 15 pages a day for 4 days. How many pages?": "60",
            "Leo has 40 nuts, eats 13 and finds 9. How many nuts?": "36",
            "7 bags of 12 apples, 5 are rotten. How many good apples?": "79",
        },
    ),
    "capital": (
        "capital of ",
        {
            "France": "Paris",
            "Italy": "Rome",
            "Germany": "Berlin",
            "Russia": "Moscow",
            "England": "London",
            "China": "Beijing",
            "Greece": "Athens",
            "Portugal": "Lisbon",
            "Ireland": "Dublin",
            "Peru": "Lima",
            "Kenya": "Nairobi",
            "Canada": "Ottawa",
            "Australia": "Canberra",
            "Mongolia": "Ulaanbaatar",
        },
    ),
    "opposite": (
        "opposite of ",
        {
            "big": "small",
            "left": "right",
            "wet": "dry",
            "black": "white",
            "fast": "slow",
            "open": "closed",
            "early": "late",
            "rough": "smooth",
            "rich": "poor",
            "victory": "defeat",
            "scarce": "abundant",
        },
    ),
    "plural": (
        "plural of ",
        {
            "dog": "dogs",
            "car": "cars",
            "tree": "trees",
            "fox": "foxes",
            "baby": "babies",
            "child": "children",
            "mouse": "mice",
            "sheep": "sheep",
            "ox": "oxen",
        },
    ),
    "after": (
        "after ",
        {
            "Monday": "Tuesday",
            "Friday": "Saturday",
            "June": "July",
            "October": "November",
            "7": "8",
            "19": "20",
            "99": "100",
            "December": "January",
            "the letter A": "B",
            "the letter Q": "R",
            "1999": "2000",
        },
    ),
    "largest": (
        "largest of ",
        {
            "2, 8, 5": "8",
            "30, 10, 20": "30",
            "14, 41, 24": "41",
            "99, 101, 98": "101",
            "7, 70, 17, 71": "71",
            "0.9, 0.11, 0.5": "0.9",
        },
    ),
}

PROBLEMS: tuple[Problem, ...] = (*_arithmetic(), *_listed(), *_spelling())

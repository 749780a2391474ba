"""Runners: what makes the attempts of a campaign and tells what became of them.

A Python function, any command, or an Inspect AI task; one file each. They know a campaign by the
protocol `Asks` only.
"""

__all__ = ["Asks", "Ran", "problems_of", "run_command", "run_function", "run_inspect"]

from bayes_passk.campaign.runners.commands import run_command
from bayes_passk.campaign.runners.functions import run_function
from bayes_passk.campaign.runners.inspect_ai import problems_of, run_inspect
from bayes_passk.campaign.runners.protocol import Asks, Ran

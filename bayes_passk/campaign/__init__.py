"""Campaigns: attempts asked for and told, in a store that survives what happens to workers."""

__all__ = ["Attempt", "Campaign", "Status", "Told"]

from bayes_passk.campaign.campaign import Campaign
from bayes_passk.campaign.records import Attempt, Status, Told

"""Plots, one a file: data first, the rest keyword-only, a `PlotCollection` returned."""

"""The figures and tables of four publications on disclosure risk, recomputed with dpradar.

``dpradar reproduce`` is :mod:`dpradar_reproduction.command`; the figures themselves are in
:mod:`dpradar_reproduction.figures`. Nothing is imported here, so that ``dpradar reproduce --help`` need not wait for
them.
"""

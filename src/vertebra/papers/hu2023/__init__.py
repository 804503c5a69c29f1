"""Hu et al. 2023, "Static Modeling of a Class of Stiffness-Adjustable Snake-Like Robots with Gravity Compensation".

doi 10.3390/robotics12010002. `comparison.compare` sets every published estimate beside ours; `literal.literal_shape`
is the paper's own algorithm.
"""

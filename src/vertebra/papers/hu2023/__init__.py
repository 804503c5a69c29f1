"""Hu et al. 2023: shape of rolling-joint robots under cable tension and gravity."""

from vertebra.papers.paper import Option, Paper

PAPER = Paper(
    name="hu2023",
    title="Hu et al. 2023",
    topic="weight",
    source="Hu et al. 2023, doi 10.3390/robotics12010002",
    question="Which shape do cables give a robot that has weight?",
    about="shape of rolling-joint robots under cable tension and gravity.",
    presets=("hu2023-planar", "hu2023-spatial", "hu2023-prototype"),
    unstated=(
        "The paper prints what its tables need, but neither the measured tips of Table 4 nor what lies beyond the last"
        " link; the lengths of base and tip of the robot files are inferred from its straight length and its tips."
    ),
    corrections=(
        "Eq 18 turns the first link by -pi + alpha; section 3.1 needs pi - alpha, and so do all published tips.",
        "Eq 16 has terms for cables on both sides of every link; on the last link the far side drops out.",
        "The iteration stops when the tip changes by less than 1e-12, without a unit: in mm that is below round-off.",
        "Section 3.4 starts with omega = 1, which fails on the first hanging experiment; 0.5 works for all cases.",
    ),
    rows="cells",
    options=(Option("experiments", "Only the three ground-mounted experiments of the prototype.", bool),),
    instant=True,
)

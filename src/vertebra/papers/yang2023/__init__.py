"""Yang et al. 2023: twin-pivot robots with cable friction, weight and payload."""

from vertebra.papers.paper import Option, Paper

PAPER = Paper(
    name="yang2023",
    title="Yang et al. 2023",
    topic="cable friction",
    source=(
        "Yang et al. 2023, Comprehensive kinetostatic modeling and morphology characterization of cable-driven"
        " continuum robots for in-situ aero-engine maintenance"
    ),
    question="How far do friction and the weight of rods and cables move the tip?",
    about=(
        "twin-pivot robots with cable friction, weight and payload.\n\n"
        "The paper prints no tips, so its claims are judged one by one. With --case, --condition or --closure only"
        " tips.\n\n"
        "vertebra papers yang2023 --case 16 --out case.html"
    ),
    presets=("yang2023-a", "yang2023-b", "yang2023-c"),
    unstated=(
        "The paper's tests cannot be repeated from its text alone: it prints the hung masses but no tip, neither"
        " measured nor computed, and leaves out or only draws the numbers below. What follows from printed numbers is"
        " inferred; the rest is assumed, and every result here that depends on friction depends on an assumed law. The"
        " masses of A and B give the mass per joint and the extra mass at the tip, but not how rods and cables share"
        " it."
    ),
    corrections=(
        "Eq 5: the last denominator is the distance to hole h of disc 2i+1.",
        "Eq 10, the moment on an odd disc, is missing in print; it is eq 7 with the indices of eq 9.",
        "Eq 13: the pressure is F - (F.n) n, with n normal to the disc.",
        "Eq 33: the moment of joint 2i-1 belongs to frame O(2i-2).",
        "Eq 41 leaves out the moment of the lumped force, which eq 37 has.",
        "Eqs 37 and 41 balance moments at the disc centre, where the rods do not end; that is not consistent with the"
        " energy of rods and cables. Ours is virtual work; the paper's closure is kept to be compared with.",
        "Eqs 14 to 16 take the slip direction from the shape alone and jump where it changes sign; ours is the same"
        " rule with a narrow ramp, and remembers how the shape was reached when asked to.",
    ),
    rows="tips",
    options=(
        Option("case", "Only the tips of this case of Table 4; may be repeated.", int, many=True),
        Option("condition", "Only the tips under this condition, I to V; may be repeated.", many=True),
        Option("closure", "Only the tips by this closure: virtual-work or paper.", choices=("virtual-work", "paper")),
    ),
    instant=True,
)

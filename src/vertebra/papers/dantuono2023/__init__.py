"""D'Antuono et al. 2023: Newton-Euler dynamics of a rolling-joint robot, and the cable tensions of three motions."""

from vertebra.papers.paper import Option, Paper

PAPER = Paper(
    name="dantuono2023",
    title="D'Antuono et al. 2023",
    topic="motion",
    source="D'Antuono et al. 2023, Dynamic model of a tendon-actuated snake robot using the Newton-Euler formulation",
    question="Which cable tensions does a motion need?",
    about=(
        "cable tensions of a rolling-joint robot that pans, tilts and does both.\n\n"
        "The paper prints no tensions and no dimensions, so its statements are judged one by one.\n\n"
        "vertebra papers dantuono2023 --case tilt --out tilt.html"
    ),
    presets=("dantuono2023",),
    unstated=(
        "The paper prints no dimension, mass or coefficient of its robot, and no tension: Fig. 2 draws tensions, and"
        " the text says what to see in it. Stated are six joints, which of them move, their angle over time, the time"
        " step of 5 ms, and a vertical wall. All else is assumed. So verdicts rest on what does not depend on the"
        " assumed numbers; where one does, it says so."
    ),
    corrections=(
        "(21) and (29) add the terms of link n+1; they must be taken off, as (17), (18) and Newton's third law have it."
        " (28) and (30) are right, and programme 37 names those, so the slip need not be in the paper's results. With"
        " (29) as printed, weights of neighbouring links cancel: moments of a few links away vanish.",
        "z_0 in (6) and (7) must be (0, 0, 1) of frame n-1, as in the textbook that the paper follows. Read as the axis"
        " of the base, every joint would turn about the same line.",
        "(25) to (30) have no load on a link, although the introduction wants instruments at the tip. The last row of"
        " the table of equations is with 2 N there.",
        "(35) and (36) bound friction by a box. Both parts at their bounds exceed Coulomb's cone by a factor of 1.41;"
        ' `allocate_tensions(cone="true")` keeps to the cone and changes no peak here.',
        "(5) and (11) leave out that contact points of rolling links migrate; the migration table shows how much that"
        " matters.",
    ),
    rows="tensions",
    options=(Option("case", "Only the tensions of one motion: pan, tilt or 3d.", choices=("pan", "tilt", "3d")),),
    cost=2,
    plot=("Tensions at the base", "time (s)", "tension (N)"),
)

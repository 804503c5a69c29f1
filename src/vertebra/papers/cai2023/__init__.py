"""Cai et al. 2023: payload of friction-locked links."""

from vertebra.papers.paper import Paper

PAPER = Paper(
    name="cai2023",
    title="Cai et al. 2023",
    topic="payload",
    source=(
        "Cai, Orehov and Choset 2023, Statics Modeling of Discrete Joint Surgical Probes with Tendon-based Stiffening"
    ),
    question="How much load can friction-locked links carry before one slips?",
    about=(
        "payload of friction-locked links against cable tension, in four shapes.\n\n"
        "The paper prints no payloads, so ours are set beside the ranges that its printed errors imply."
    ),
    presets=("cai2023",),
    unstated=(
        "The paper prints no payload, and of the robot only the number of links, its length, outer diameter, tendon"
        " positions and friction coefficient. All else is assumed: one set of numbers for all shapes and tensions,"
        " fitted to the implied payloads and the gains. So agreement with those shows only that one set of numbers can"
        " do it. Linearity, weakest joints and agreement with the paper's method are not fitted."
    ),
    corrections=(
        "Eq 6 points from link i-1 to link i. That is the pull on link i-1; link i, whose balance it enters, is pulled"
        " the other way. As printed, less T1 would hold less, and straight or S-shaped snakes with 0, 5, 5 N would slip"
        " under their own weight, against section III-C; so the paper's numbers were not made with the printed sign.",
        "Eqs 9 and 10 add up the weights of links 1 to n. Adding the balances of links i to n, as the text says, gives"
        " the weights of links i to n. (The summation index is also that of the tendons.)",
        "Section II-D draws a new guess unless M_c > 0. The torsional moment takes the sign of the load's twist, so"
        " this can only be about its size; likewise F_f, whose sign depends on gamma.",
        "Eq 15 limits M_c, the whole moment; eq 16 and the text around it are about M_t, its part along the normal."
        " Ours limits M_t.",
        "Two things of section II-D are open: how guesses are drawn, and when a search has converged. There is at most"
        " one contact with F_N > 0, so neither affects the result.",
    ),
    rows="payloads",
    plot=("Payload against tension", "tendons 2 and 3 (N)", "payload (N)"),
)

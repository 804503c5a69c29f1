"""How each sensor is mounted on its link, from three short recordings: values, standard deviations, what is missing."""

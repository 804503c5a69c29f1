"""How an answer looks: reports of tables, figures and rows; pages, pictures, scenes. Metres in, millimetres drawn."""

"""How an answer looks: reports of tables, figures and rows; pages, pictures, scenes. Metres come in, millimetres are drawn."""

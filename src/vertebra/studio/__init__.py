"""The studio: one page in a browser where a robot bends, carries, moves and is sensed, by the library's own calls.

`server` opens the page behind a `gate` that decides who is let in; `messages` decides what a window may send.
"""

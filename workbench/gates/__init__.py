"""Gates of two inputs: netlists that are counted and evaluated, and numbers on wires.

Probes count them; circuits add names, registers and Verilog.
"""

"""How many mistakes the tests see: a program is changed in one place, and they are run.

    python -m bench.mutation draw                     40 places of the engine and 40 of the site
    python -m bench.mutation run usual [--at-most 3]  changes each in turn and runs that tier
    python -m bench.mutation run long                 the same, for those that `usual` let through
    python -m bench.mutation report                   the share caught, by ground and by rule

What is drawn and found is kept in `bench/results/mutation.json` after each mutant, so a run that
was stopped goes on where it was. The tests run in a copy of the revision that was drawn from.
"""

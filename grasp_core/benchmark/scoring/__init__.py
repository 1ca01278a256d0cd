"""How good labels are: against gold, each other, people, and by leave-one-out.

Imports `baselines`, `io`, `language_models`, `models_as_raters`, `remarks`, `report`, `statistics` and
`submissions`.
"""

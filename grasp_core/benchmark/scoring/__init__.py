"""How good labels are: against gold, each other, people, and by leave-one-out."""

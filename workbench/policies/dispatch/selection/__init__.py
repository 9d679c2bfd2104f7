"""Which of the waiting groups is dispatched in this round? (spec 3, Em. 1)"""

"""How long is the longest run of free blocks? (spec 3, Em. 4-7)"""

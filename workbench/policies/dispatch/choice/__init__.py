"""Which of the modules with room takes the group? (spec 3, Em. 9 and 10)"""

"""Which waiting group is more urgent? (spec 3, Em. 2)"""

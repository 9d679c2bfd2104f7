"""What becomes of a group that has been stuck for many rounds? (spec 3, Em. 3)"""

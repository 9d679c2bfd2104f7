"""How are a group's waves shared out over the units of a module? (spec 3, Em. 8)"""

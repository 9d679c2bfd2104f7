"""How are workgroups dispatched? (spec 3, Em. 1-3 and 8-10)"""

from hypothesis import settings

settings.register_profile("closedform", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("closedform")

"""Agreement: which metrics rank systems as they should be ranked?"""

"""Frontier: can a quality-diversity pair reflect how well a distribution is fitted?"""

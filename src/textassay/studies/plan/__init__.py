"""Plan: how many texts does a decision need?"""

from generation import generate

"""Packages with the names and signatures of others, made of Venturi: a program switches by changing an import."""

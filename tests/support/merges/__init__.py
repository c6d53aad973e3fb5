"""Updates of edited projects: what people edit, what the update changes, what must come out."""

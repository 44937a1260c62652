"""What mends a finding: one remedy a module, its docstring says what it does not help."""

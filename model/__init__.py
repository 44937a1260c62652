"""Words that every other part uses: unknown values, findings, refusals, version numbers."""

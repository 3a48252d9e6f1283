-- One row: a text that differs after every write of token metadata (and at times after a merge). Reads one narrow column.
SELECT concat(toString(count()), '.', toString(max(version))) AS mark
FROM tokens

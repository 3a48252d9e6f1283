-- One row: a text that changes with every import of a token list. Reads the versions of all imported tokens
-- of one chain, once for each new head.
SELECT concat(toString(max(l.version)), ' ', toString(sum(l.version))) AS mark
FROM listed_tokens AS l FINAL
WHERE l.chain_id = {chain_id:UInt32}
LIMIT 1

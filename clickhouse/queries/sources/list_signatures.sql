-- Each row: an event, function or error with a given selector. An event appears once for each set of indexed
-- parameters. The parameter `selectors` is hex without 0x. Uses the key selector.
SELECT
    s.kind,
    s.selector,
    s.signature,
    s.entry
FROM abi_signatures AS s
WHERE s.selector IN (SELECT unhex(arrayJoin({selectors:Array(String)})))
ORDER BY s.selector, s.kind, s.signature, s.indexed
LIMIT 1 BY s.selector, s.kind, s.signature, s.indexed
LIMIT {limit:UInt32}

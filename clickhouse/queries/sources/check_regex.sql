-- One row: whether `regex` (RE2) matches the empty text. Fails with CANNOT_COMPILE_REGEXP for an invalid
-- expression.
SELECT toBool(match('', {regex:String})) AS matches_nothing
LIMIT 1

-- One row: a token whose symbol or name has `q` (lower case, not empty) in it, or had at some version; RowBinary. Those first that
-- are called so (`exact`: how both begin and end), whose symbol or name begins so (`start`), or a word of it (`word`). Reads the
-- names of all tokens; what ranks is reckoned by whoever asks, since planning it took longer than reading them.
SELECT address, symbol, name, version
FROM tokens
WHERE position(concat('\t ', lowerUTF8(ifNull(symbol, '')), '\n\t ', lowerUTF8(ifNull(name, '')), '\n') AS both, {q:String}) > 0
ORDER BY multiIf(position(both, {exact:String}) > 0, 0, position(both, {start:String}) > 0, 1, position(both, {word:String}) > 0, 2, 3), address
LIMIT {limit:UInt32}

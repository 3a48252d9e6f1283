-- Each row: a final block of one day whose transfers do not match its logs. Compares ERC-20 Transfers of every token
-- (EIP-20: three topics and one word, or one topic and three words), and Deposits and Withdrawals. Those of the wrapped
-- native token always count. `wrapped` is its address in hex without 0x, or empty. Those of other contracts count
-- unless a Transfer of the same contract and transaction explains them: it mints, burns, or moves tokens to or from the
-- contract, and names the holder. Scans transfers and logs of the day by ord.
WITH
    unhex('ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef') AS transfer_topic,
    unhex('e1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c') AS deposit_topic,
    unhex('7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65') AS withdrawal_topic,
    unhex(repeat('00', 12)) AS no_bytes,
    toFixedString('', 20) AS zero_address,
    events AS
    (
        SELECT
            intDiv(ord, 1048576) AS number,
            ord,
            timestamp,
            address AS token,
            tx_index,
            topic0,
            topic_count,
            if(topic_count = 1, substring(data, 1, 32), substring(topic1, 1, 32)) AS word1,
            if(topic_count = 1, substring(data, 33, 32), if(topic_count = 2, data, substring(topic2, 1, 32))) AS word2,
            if(topic_count = 1, substring(data, 65, 32), data) AS word3,
            length(data) AS size
        FROM logs
        WHERE chain_id = {chain:UInt32} AND ord >= {first_ord:UInt64} AND ord <= {last_ord:UInt64}
            AND topic0 IN (transfer_topic, deposit_topic, withdrawal_topic)
    ),
    moves AS
    (
        SELECT
            number,
            ord,
            timestamp,
            token,
            toFixedString(substring(word1, 13, 20), 20) AS sender,
            toFixedString(substring(word2, 13, 20), 20) AS recipient,
            reinterpretAsUInt256(reverse(word3)) AS amount,
            tx_index
        FROM events
        WHERE topic0 = transfer_topic
            AND (topic_count = 3 AND size = 32 OR topic_count = 1 AND size = 96)
            AND substring(word1, 1, 12) = no_bytes
            AND substring(word2, 1, 12) = no_bytes
    ),
    wraps AS
    (
        SELECT
            number,
            ord,
            timestamp,
            token,
            if(topic0 = deposit_topic, 'deposit', 'withdrawal') AS kind,
            toFixedString(substring(word1, 13, 20), 20) AS holder,
            reinterpretAsUInt256(reverse(word2)) AS amount,
            tx_index,
            lower(hex(token)) = {wrapped:String} AS is_native
        FROM events
        WHERE topic0 IN (deposit_topic, withdrawal_topic)
            AND (topic_count = 2 AND size = 32 OR topic_count = 1 AND size = 64 AND NOT is_native)
            AND substring(word1, 1, 12) = no_bytes
    ),
    explained AS
    (
        SELECT number, tx_index, token, 'deposit' AS kind, arrayJoin([sender, recipient]) AS holder
        FROM moves
        WHERE sender = zero_address OR recipient = token
        UNION ALL
        SELECT number, tx_index, token, 'withdrawal' AS kind, arrayJoin([sender, recipient]) AS holder
        FROM moves
        WHERE recipient = zero_address OR sender = token
    )
SELECT
    concat('transfers block ', toString(number)) AS item,
    any(side) AS only_in,
    toString((row_count, digest)) AS value
FROM
(
    SELECT
        'transfers' AS side,
        intDiv(ord, 1048576) AS number,
        count() AS row_count,
        sum(cityHash64(ord, timestamp, token, sender, recipient, amount, toString(kind), tx_index)) AS digest
    FROM transfers
    WHERE ord >= {first_ord:UInt64} AND ord <= {last_ord:UInt64}
    GROUP BY number
    UNION ALL
    SELECT
        'logs' AS side,
        number,
        count() AS row_count,
        sum(cityHash64(ord, timestamp, token, sender, recipient, amount, kind, tx_index)) AS digest
    FROM
    (
        SELECT number, ord, timestamp, token, sender, recipient, amount, 'transfer' AS kind, tx_index
        FROM moves
        UNION ALL
        SELECT
            number,
            ord,
            timestamp,
            token,
            if(kind = 'deposit', zero_address, holder) AS sender,
            if(kind = 'deposit', holder, zero_address) AS recipient,
            amount,
            kind,
            tx_index
        FROM wraps
        WHERE is_native
            OR (number, tx_index, token, kind, holder) NOT IN (SELECT number, tx_index, token, kind, holder FROM explained)
    )
    GROUP BY number
)
GROUP BY number, row_count, digest
HAVING count() = 1
ORDER BY number, only_in
LIMIT 100

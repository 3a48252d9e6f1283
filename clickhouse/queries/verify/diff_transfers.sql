-- Each row: a final block of one day whose transfers do not match its logs. Compares ERC-20 Transfers of every token
-- (EIP-20: three topics, one word) and Deposits and Withdrawals of the wrapped native token. `wrapped` is the
-- address of that token in hex without 0x. If `wrapped` is empty, Deposits and Withdrawals are not compared. Scans
-- transfers and logs of the day by ord.
WITH
    unhex('ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef') AS transfer_topic,
    unhex('e1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c') AS deposit_topic,
    unhex('7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65') AS withdrawal_topic,
    unhex(repeat('00', 12)) AS no_bytes,
    toFixedString('', 20) AS nobody
SELECT
    concat('transfers block ', toString(number)) AS item,
    any(side) AS only_in,
    toString((n, digest)) AS value
FROM
(
    SELECT
        'transfers' AS side,
        intDiv(ord, 1048576) AS number,
        count() AS n,
        sum(cityHash64(ord, timestamp, token, sender, recipient, amount, toString(kind), tx_index)) AS digest
    FROM transfers
    WHERE ord >= {first_ord:UInt64} AND ord <= {last_ord:UInt64}
        AND (kind = 'transfer' OR {wrapped:String} != '')
    GROUP BY number
    UNION ALL
    SELECT
        'logs' AS side,
        intDiv(ord, 1048576) AS number,
        count() AS n,
        sum(cityHash64(ord, timestamp, token, sender, recipient, amount, kind, tx_index)) AS digest
    FROM
    (
        SELECT
            ord,
            timestamp,
            address AS token,
            topic0 = transfer_topic AS plain,
            topic0 = deposit_topic AS deposit,
            toFixedString(substring(topic1, 13, 20), 20) AS first,
            if(plain, first, if(deposit, nobody, first)) AS sender,
            if(plain, toFixedString(substring(topic2, 13, 20), 20), if(deposit, first, nobody)) AS recipient,
            reinterpretAsUInt256(reverse(data)) AS amount,
            multiIf(plain, 'transfer', deposit, 'deposit', 'withdrawal') AS kind,
            tx_index
        FROM logs
        WHERE chain_id = {chain:UInt32} AND ord >= {first_ord:UInt64} AND ord <= {last_ord:UInt64}
            AND length(data) = 32
            AND substring(topic1, 1, 12) = no_bytes
            AND (
                (topic0 = transfer_topic AND topic_count = 3 AND substring(topic2, 1, 12) = no_bytes)
                OR (topic0 IN (deposit_topic, withdrawal_topic) AND topic_count = 2 AND lower(hex(address)) = {wrapped:String})
            )
    )
    GROUP BY number
)
GROUP BY number, n, digest
HAVING count() = 1
ORDER BY number, only_in
LIMIT 100

-- Each row: one view that makes bars of other timeframes than {timeframes:String}, a list such as [60, 300].
SELECT name
FROM system.tables
WHERE database = currentDatabase() AND engine = 'MaterializedView'
    AND position(as_select, 'AS timeframe') > 0 AND position(as_select, concat('arrayJoin(', {timeframes:String}, ')')) = 0
LIMIT 100

-- One row: the `readonly` setting of the user. "0": the user may write.
SELECT toString(getSetting('readonly')) AS readonly
LIMIT 1

-- One row: the setting `readonly` of the user. The value "0" means that the user may write.
SELECT toString(getSetting('readonly')) AS readonly
LIMIT 1

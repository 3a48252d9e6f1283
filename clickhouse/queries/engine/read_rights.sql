-- One row: whether the profile of the user forbids writing; "0": it does not.
SELECT toString(getSetting('readonly')) AS readonly

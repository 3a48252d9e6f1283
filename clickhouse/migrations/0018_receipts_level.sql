-- Two more levels of proof. The numbers are not the order of the levels: with other numbers, every stored row would be
-- rewritten.
ALTER TABLE promotions
    MODIFY COLUMN proof Enum8('bloom' = 1, 'headers' = 2, 'full' = 3, 'receipts' = 4, 'none' = 5) COMMENT 'Weakest level of proof of the blocks of the range, as in the setting PROOF. If a range has several done rows, the weakest level is valid';
ALTER TABLE head_blocks
    MODIFY COLUMN proof Enum8('bloom' = 1, 'headers' = 2, 'full' = 3, 'receipts' = 4, 'none' = 5) COMMENT 'Level of proof of the rows of this block, as in the setting PROOF; bloom if there is no block at this height';

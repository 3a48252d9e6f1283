/** Row that only has the name of a table, column or database. */
import { text } from './columns';
import { rowType } from './rowType';

export const nameRow = rowType({ name: text });

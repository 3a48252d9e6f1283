/** Shapes of values in ClickHouse's JSON output. */
import { z } from 'zod';

import type { Hex } from '../../domain/hex';
import { text } from './columns';
import { rowType } from './rowType';

/** Shape of an integer of 64 bits or more, which arrives as text. */
export const wideIntegerShape = z.string().regex(/^-?\d+$/);
/** Shape of bytes that the statement returns as lower-case 0x-hex. */
export const hexShape = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-f]*$/.test(value));
/** Row that only has the name of a table, column or database. */
export const nameRow = rowType({ name: text });

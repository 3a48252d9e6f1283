/** A snapshot with head `number` and nothing above the cursor, for tests without head rows. */
import type { HeadSnapshot } from '../../../src/query/head/headSnapshot';
import { hexOf } from './worldEvents';

export const finalHead = (number: number): HeadSnapshot => ({
  version: String(number),
  startBlock: 1,
  logsFrom: 1,
  number,
  hash: hexOf('1b', number, 64),
  timestamp: 1_700_000_000,
  finalTo: number,
  finalNumber: number,
  blocks: [],
});

/**
 * Makes wrong node answers that a client can detect from the answer alone: parts are missing, belong to another block,
 * or are marked as removed. A consistent fork of one node is not detectable from its answers alone, so nodeTraits.ts
 * simulates forks.
 */
import type { Random } from '../../support/random';
import type { SimChain } from '../chain/simChain';
import { blockJson, bloomOf, type Json, type LogJson as Log } from './blockJson';

/** Changes the answer. Returns the same result if there is no wrong answer for the method. */
export function lieAbout(random: Random, chain: SimChain, method: string, result: unknown): unknown {
  if (method === 'eth_getBlockReceipts' && Array.isArray(result))
    return lieInReceipts(random, chain, result as Json[]);
  if (method === 'eth_getLogs' && Array.isArray(result)) return lieInLogs(random, chain, result as Log[]);
  if (method === 'eth_getBlockByNumber' && result !== null) return lieInHeader(random, result as Json);
  if (method === 'eth_blockNumber') return random.pick(['latest', null, '0x']);
  return result;
}

function lieInReceipts(random: Random, chain: SimChain, receipts: readonly Json[]): unknown {
  const firstWithLogs = receipts.findIndex((receipt) => (receipt['logs'] as Log[]).length > 0);
  const number = Number(receipts[0]?.['blockNumber'] ?? 0);
  const kind = random.pick(['omit', 'omit', 'orphan', 'removed', 'short', 'malformed'] as const);
  if (kind === 'orphan')
    return orphanOf(random, chain, number, receipts[0]?.['blockHash'])?.receipts ?? receipts;
  if (kind === 'short') return receipts.slice(0, -1);
  if (kind === 'malformed') return random.pick<unknown>([null, {}, 'receipts', [...receipts, null]]);
  if (firstWithLogs === -1) return receipts;
  const otherLogs = receipts.flatMap((receipt, index) =>
    index === firstWithLogs ? [] : (receipt['logs'] as Log[]),
  );
  const logs = receipts[firstWithLogs]!['logs'] as Log[];
  const isLastWithLogs =
    receipts.findLastIndex((receipt) => (receipt['logs'] as Log[]).length > 0) === firstWithLogs;
  const falseLogs =
    kind === 'omit'
      ? leaveOneOut(random, chain, logs, isLastWithLogs ? otherLogs : null)
      : markOneRemoved(random, logs);
  return receipts.map((receipt, index) =>
    index === firstWithLogs ? { ...receipt, logs: falseLogs } : receipt,
  );
}

function lieInLogs(random: Random, chain: SimChain, logs: readonly Log[]): unknown {
  const [first] = logs;
  if (first === undefined) return logs;
  const blockNumber = first['blockNumber'];
  const ownLogs = logs.filter((log) => log['blockNumber'] === blockNumber);
  const otherLogs = logs.filter((log) => log['blockNumber'] !== blockNumber);
  switch (random.pick(['omit', 'omit', 'all', 'orphan', 'removed', 'alien'] as const)) {
    case 'omit':
      return [...leaveOneOut(random, chain, ownLogs, []), ...otherLogs];
    case 'all':
      return otherLogs;
    case 'orphan':
      return [
        ...(orphanOf(random, chain, Number(blockNumber), first['blockHash'])?.logs ?? ownLogs),
        ...otherLogs,
      ];
    case 'removed':
      return [...markOneRemoved(random, ownLogs), ...otherLogs];
    case 'alien':
      return [...logs, { ...first, blockNumber: '0xfffff' }];
  }
}

/**
 * Drops one of the block's logs. If blocks cannot be proven, keeps a last log whose absence changes neither the bloom
 * nor the log order, because a client cannot detect that. `otherLogs` are the block's other logs; null if later logs
 * follow.
 */
function leaveOneOut(
  random: Random,
  { isSealed }: SimChain,
  logs: readonly Log[],
  otherLogs: readonly Log[] | null,
): readonly Log[] {
  const index = random.int(0, logs.length - 1);
  const remainingLogs = logs.filter((_, logIndex) => logIndex !== index);
  if (isSealed || otherLogs === null || index < logs.length - 1) return remainingLogs;
  return bloomOf([...remainingLogs, ...otherLogs]) === bloomOf([...logs, ...otherLogs])
    ? logs
    : remainingLogs;
}

function markOneRemoved(random: Random, logs: readonly Log[]): Json[] {
  const index = random.int(0, logs.length - 1);
  return logs.map((log, logIndex) => (logIndex === index ? { ...log, removed: true } : log));
}

/** Another block at the same height, of an abandoned branch; null if there is none with logs. */
function orphanOf(random: Random, chain: SimChain, number: number, hash: unknown) {
  const otherBlocks = chain.blocksAt(number).filter((block) => block.hash !== hash && block.logs.length > 0);
  return otherBlocks.length === 0 ? null : blockJson(random.pick(otherBlocks));
}

function lieInHeader(random: Random, header: Json): unknown {
  return random.pick<unknown>([
    { ...header, parentHash: `0x${'ab'.repeat(32)}` },
    { ...header, number: '0x1' },
    { ...header, logsBloom: '0x00' },
    { ...header, transactions: null },
    { ...header, timestamp: 'soon' },
    'block',
  ]);
}

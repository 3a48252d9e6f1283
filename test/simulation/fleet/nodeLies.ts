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
  const full = receipts.findIndex((receipt) => (receipt['logs'] as Log[]).length > 0);
  const number = Number(receipts[0]?.['blockNumber'] ?? 0);
  const kind = random.pick(['omit', 'omit', 'orphan', 'removed', 'short', 'malformed'] as const);
  if (kind === 'orphan')
    return orphanOf(random, chain, number, receipts[0]?.['blockHash'])?.receipts ?? receipts;
  if (kind === 'short') return receipts.slice(0, -1);
  if (kind === 'malformed') return random.pick<unknown>([null, {}, 'receipts', [...receipts, null]]);
  if (full === -1) return receipts;
  const others = receipts.flatMap((receipt, index) => (index === full ? [] : (receipt['logs'] as Log[])));
  const logs = receipts[full]!['logs'] as Log[];
  const last = receipts.findLastIndex((receipt) => (receipt['logs'] as Log[]).length > 0) === full;
  const told = kind === 'omit' ? omitOne(random, chain, logs, last ? others : null) : removeOne(random, logs);
  return receipts.map((receipt, index) => (index === full ? { ...receipt, logs: told } : receipt));
}

function lieInLogs(random: Random, chain: SimChain, logs: readonly Log[]): unknown {
  const [first] = logs;
  if (first === undefined) return logs;
  const number = first['blockNumber'];
  const own = logs.filter((log) => log['blockNumber'] === number);
  const rest = logs.filter((log) => log['blockNumber'] !== number);
  switch (random.pick(['omit', 'omit', 'all', 'orphan', 'removed', 'alien'] as const)) {
    case 'omit':
      return [...omitOne(random, chain, own, []), ...rest];
    case 'all':
      return rest;
    case 'orphan':
      return [...(orphanOf(random, chain, Number(number), first['blockHash'])?.logs ?? own), ...rest];
    case 'removed':
      return [...removeOne(random, own), ...rest];
    case 'alien':
      return [...logs, { ...first, blockNumber: '0xfffff' }];
  }
}

/**
 * Drops one of the block's logs. If blocks cannot be proven, keeps a last log whose absence changes neither the bloom nor
 * the log order, because a client cannot detect that. `others` are the block's other logs; null if later logs follow.
 */
function omitOne(
  random: Random,
  { isSealed }: SimChain,
  logs: readonly Log[],
  others: readonly Log[] | null,
): readonly Log[] {
  const index = random.int(0, logs.length - 1);
  const left = logs.filter((_, at) => at !== index);
  if (isSealed || others === null || index < logs.length - 1) return left;
  return bloomOf([...left, ...others]) === bloomOf([...logs, ...others]) ? logs : left;
}

function removeOne(random: Random, logs: readonly Log[]): Json[] {
  const index = random.int(0, logs.length - 1);
  return logs.map((log, at) => (at === index ? { ...log, removed: true } : log));
}

function orphanOf(random: Random, chain: SimChain, number: number, hash: unknown) {
  const others = chain.blocksAt(number).filter((block) => block.hash !== hash && block.logs.length > 0);
  return others.length === 0 ? null : blockJson(random.pick(others));
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

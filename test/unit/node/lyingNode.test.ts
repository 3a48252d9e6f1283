import { numberToHex } from '../../../src/domain/hex';
import { FakeChain, type Json } from '../../support/node/fakeChain';
import type { FakeCall, FakeNode } from '../../support/node/fakeNode';
import { expectedBlock as expected } from './expectedBlock';
import { closeAll, sourceOf, startNode } from './setup';

afterEach(closeAll);

/** A change to the answers of one node: to the receipts of a block, or to its header. */
interface Lie {
  readonly name: string;
  readonly kind: string;
  readonly header?: (header: Json) => Json;
  readonly receipts?: (receipts: Json[]) => unknown;
}

const OTHER_HASH = `0x${'77'.repeat(32)}`;
/** Time of the reader of the blocks, in unix seconds. All honest blocks are older. */
const NOW = 1_800_000_000;

function withLogs(receipts: Json[], change: (logs: Json[]) => Json[]): Json[] {
  const last = receipts.findLastIndex((receipt) => (receipt['logs'] as Json[]).length > 0);
  return receipts.map((receipt, index) =>
    index === last ? { ...receipt, logs: change(receipt['logs'] as Json[]) } : receipt,
  );
}

const withFirstLog = (receipts: Json[], fields: Json): Json[] =>
  withLogs(receipts, ([first, ...rest]) => [{ ...first, ...fields }, ...rest]);

const LIES: Lie[] = [
  {
    name: 'receipts without the last log',
    kind: 'bloom',
    receipts: (all) => withLogs(all, (logs) => logs.slice(0, -1)),
  },
  {
    name: 'receipts without the first log',
    kind: 'log_index',
    receipts: (all) => withLogs(all, (logs) => logs.slice(1)),
  },
  {
    name: 'receipts without logs',
    kind: 'bloom',
    receipts: (all) => all.map((receipt) => ({ ...receipt, logs: [] })),
  },
  {
    name: 'a log twice',
    kind: 'log_index',
    receipts: (all) => withLogs(all, (logs) => [...logs, ...logs.slice(-1)]),
  },
  {
    name: 'a log with a wrong topic',
    kind: 'bloom',
    receipts: (all) => withFirstLog(all, { topics: [OTHER_HASH] }),
  },
  {
    name: 'a log with a wrong address',
    kind: 'bloom',
    receipts: (all) => withFirstLog(all, { address: `0x${'77'.repeat(20)}` }),
  },
  {
    name: 'a log with a wrong block hash',
    kind: 'block_identity',
    receipts: (all) => withFirstLog(all, { blockHash: OTHER_HASH }),
  },
  {
    name: 'a log with a wrong block number',
    kind: 'block_identity',
    receipts: (all) => withFirstLog(all, { blockNumber: '0x1' }),
  },
  {
    name: 'a log with a wrong transaction hash',
    kind: 'transactions',
    receipts: (all) => withFirstLog(all, { transactionHash: OTHER_HASH }),
  },
  {
    name: 'a log with a wrong transaction index',
    kind: 'transactions',
    receipts: (all) => withFirstLog(all, { transactionIndex: '0x63' }),
  },
  { name: 'a removed log', kind: 'removed_log', receipts: (all) => withFirstLog(all, { removed: true }) },
  { name: 'receipts in the wrong order', kind: 'transactions', receipts: (all) => all.toReversed() },
  {
    name: 'a log with five topics',
    kind: 'malformed',
    receipts: (all) => withFirstLog(all, { topics: Array(5).fill(OTHER_HASH) }),
  },
  {
    name: 'data with an odd number of hex digits',
    kind: 'malformed',
    receipts: (all) => withFirstLog(all, { data: '0xabc' }),
  },
  {
    name: 'a log index out of range',
    kind: 'malformed',
    receipts: (all) => withFirstLog(all, { logIndex: '0xffffffffff' }),
  },
  {
    name: 'a log that is a string',
    kind: 'malformed',
    receipts: (all) => withLogs(all, () => ['log' as unknown as Json]),
  },
  { name: 'receipts that are not a list', kind: 'malformed', receipts: () => ({}) },
  {
    name: 'a header with a wrong number',
    kind: 'block_identity',
    header: (header) => ({ ...header, number: '0x3' }),
  },
  {
    name: 'a header with a wrong parent',
    kind: 'parent_link',
    header: (header) => ({ ...header, parentHash: OTHER_HASH }),
  },
  {
    name: 'a header with a short hash',
    kind: 'malformed',
    header: (header) => ({ ...header, hash: '0x1234' }),
  },
  {
    name: 'a header with a timestamp out of range',
    kind: 'malformed',
    header: (header) => ({ ...header, timestamp: '0xffffffffffff' }),
  },
  {
    name: 'a header with a timestamp above 32 bits',
    kind: 'malformed',
    header: (header) => ({ ...header, timestamp: '0x1ffffffff' }),
  },
  {
    name: 'a header with the largest timestamp of 32 bits',
    kind: 'timestamp',
    header: (header) => ({ ...header, timestamp: '0xffffffff' }),
  },
  {
    name: 'a header 16 minutes in the future',
    kind: 'timestamp',
    header: (header) => ({ ...header, timestamp: numberToHex(NOW + 960) }),
  },
  {
    name: 'a header that is older than its parent',
    kind: 'timestamp',
    header: (header) => ({ ...header, timestamp: '0x1' }),
  },
  {
    name: 'a header without transactions',
    kind: 'malformed',
    header: ({ transactions: _, ...header }) => header,
  },
  {
    name: 'a header with one transaction too few',
    kind: 'transactions',
    header: (header) => ({ ...header, transactions: (header['transactions'] as []).slice(1) }),
  },
  {
    name: 'a header with a short bloom',
    kind: 'malformed',
    header: (header) => ({ ...header, logsBloom: '0x00' }),
  },
];

/** The node gives false answers about this block, which has several transactions with logs. */
const TARGET = 5;

function lyingChain(): FakeChain {
  const chain = new FakeChain(21);
  chain.mineMany(TARGET - 1, 5);
  chain.mine(8);
  chain.mineMany(3, 5);
  return chain;
}

function tell(node: FakeNode, lie: Lie): void {
  node.onCall = (call: FakeCall) => {
    if (Number(call.params[0]) !== TARGET) return undefined;
    const answer = node.perform(call);
    if (!('result' in answer)) return undefined;
    if (call.method === 'eth_getBlockByNumber' && lie.header !== undefined) {
      return { result: lie.header(answer.result as Json) };
    }
    if (call.method === 'eth_getBlockReceipts' && lie.receipts !== undefined) {
      return { result: lie.receipts(answer.result as Json[]) };
    }
    return undefined;
  };
}

test.each(LIES)(
  'a node that sends $name is not used for a while because of $kind, and the block comes from another node',
  async (lie) => {
    const chain = lyingChain();
    const [liar, honest] = [await startNode(chain), await startNode(chain)];
    tell(liar, lie);
    const { source, pool } = sourceOf([liar, honest], {}, { timeOfDay: () => NOW });
    expect(await source.fetchRange(TARGET - 1, TARGET + 1)).toEqual(
      chain.blocks.slice(TARGET - 1, TARGET + 2).map(expected),
    );
    const { endpoints, mismatches } = pool.health();
    expect(endpoints[0]).toMatchObject({ state: 'benched' });
    expect(endpoints[0]?.lastError).toContain(lie.kind);
    expect(mismatches).toMatchObject({ [lie.kind]: expect.any(Number) });
    expect(Object.values(mismatches).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  },
);

test('if a block is read by eth_getLogs, missing logs are detected', async () => {
  const chain = lyingChain();
  const [liar, honest] = [await startNode(chain), await startNode(chain)];
  liar.hasReceipts = false;
  const left = chain.at(TARGET).logs.length - 1;
  liar.onCall = (call) => {
    const answer = liar.perform(call);
    if (call.method !== 'eth_getLogs' || !('result' in answer)) return undefined;
    const isLast = (log: Json): boolean =>
      Number(log['blockNumber']) === TARGET && Number(log['logIndex']) === left;
    return { result: (answer.result as Json[]).filter((log) => !isLast(log)) };
  };
  const { source, pool } = sourceOf([liar, honest]);
  expect(await source.fetchRange(1, 8)).toEqual(chain.blocks.slice(1).map(expected));
  // The false block is detected in two attempts that still return earlier blocks, and in one that returns none.
  expect(pool.health()).toMatchObject({
    endpoints: [{ state: 'benched' }, { state: 'ok' }],
    mismatches: { bloom: 2 + 1 },
  });
});

test('when every endpoint answers wrongly, fetching a block fails with a retryable error', async () => {
  const chain = lyingChain();
  const nodes = [await startNode(chain), await startNode(chain)];
  const [lie] = LIES;
  for (const node of nodes) {
    if (lie !== undefined) tell(node, lie);
    const tellReceipts = node.onCall;
    node.onCall = (call) => {
      if (call.method === 'eth_getTransactionReceipt')
        return { error: { code: -32601, message: 'no such method' } };
      return call.method === 'eth_getLogs'
        ? { result: chain.at(TARGET).logs.slice(0, -1) }
        : tellReceipts(call);
    };
  }
  const { source } = sourceOf(nodes, { roundsMax: 2 });
  await expect(source.fetchRange(TARGET, TARGET)).rejects.toMatchObject({
    code: 'node_failed',
    retryable: true,
    kind: 'bloom',
  });
});

/**
 * Checks that other indexers read the same data from the benchmark chain as Candlehouse. Otherwise the benchmarks would
 * compare different work.
 */
import { startStubChain, STUB_V2_FACTORY, type StubChain } from '../../support/stub/stubChain';

interface Log {
  readonly address: string;
  readonly topics: readonly string[];
  readonly blockNumber: string;
}

const SWAP = '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822';
const SYNC = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1';

let chain: StubChain;
let all: Log[];

beforeAll(async () => {
  chain = await startStubChain({ blocks: 12, logsPerBlock: 30, pairs: 8, forIndexers: true });
  all = chain.logBodies.flatMap((body) => JSON.parse(body.toString()) as Log[]);
});

afterAll(() => chain.close());

async function call<T>(method: string, ...params: unknown[]): Promise<T> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(chain.url, { method: 'POST', body });
  return ((await response.json()) as { result: T }).result;
}

test('without a filter for addresses or topics eth_getLogs returns all logs of the range', async () => {
  const found = await call<Log[]>('eth_getLogs', { fromBlock: '0x3', toBlock: '0x7' });
  const wanted = all.filter((log) => Number(log.blockNumber) >= 3 && Number(log.blockNumber) <= 7);
  expect(wanted.length).toBeGreaterThan(100);
  expect(found).toEqual(wanted);
});

test('eth_getLogs filters by addresses and by topics at each position', async () => {
  const range = { fromBlock: '0x0', toBlock: '0xc' };
  const pools = [...new Set(all.filter((log) => log.topics[0] === SWAP).map((log) => log.address))].slice(
    0,
    2,
  );
  const trader = all.find((log) => log.topics[0] === SWAP)?.topics[1] ?? '';
  const cases: [object, (log: Log) => boolean][] = [
    [{ address: STUB_V2_FACTORY }, (log) => log.address === STUB_V2_FACTORY],
    [{ topics: [[SWAP, SYNC]] }, ({ topics }) => [SWAP, SYNC].includes(topics[0] ?? '')],
    [{ address: pools, topics: [SWAP] }, (log) => pools.includes(log.address) && log.topics[0] === SWAP],
    [{ topics: [null, trader] }, (log) => log.topics[1] === trader],
    [{ topics: [SYNC, trader] }, () => false],
  ];
  for (const [filter, passes] of cases) {
    const wanted = all.filter(passes);
    if (filter !== cases.at(-1)?.[0]) expect(wanted.length).toBeGreaterThan(0);
    expect(await call('eth_getLogs', { ...range, ...filter })).toEqual(wanted);
  }
});

test('a full block has the same transactions as its header and its receipts', async () => {
  const header = await call<{ transactions: string[]; hash: string }>('eth_getBlockByNumber', '0x5', false);
  const full = await call<{ transactions: { hash: string; blockHash: string }[] }>(
    'eth_getBlockByNumber',
    '0x5',
    true,
  );
  const receipts = await call<{ transactionHash: string }[]>('eth_getBlockReceipts', '0x5');
  expect(header.transactions.length).toBeGreaterThan(1);
  expect(full).toEqual({ ...header, transactions: full.transactions });
  expect(full.transactions.map(({ hash }) => hash)).toEqual(header.transactions);
  expect(receipts.map(({ transactionHash }) => transactionHash)).toEqual(header.transactions);
  expect(new Set(full.transactions.map(({ blockHash }) => blockHash))).toEqual(new Set([header.hash]));
});

test('a chain with only V2 pools has a Sync before each Swap and no other logs', async () => {
  const options = { blocks: 3, logsPerBlock: 10, pairs: 8, onlyV2: true };
  const v2 = await startStubChain(options);
  const logs = v2.logBodies.slice(2).flatMap((body) => JSON.parse(body.toString()) as Log[]);
  await v2.close();
  expect(v2.swaps).toBe(10);
  expect(logs.map((log) => log.topics[0])).toEqual(Array.from({ length: 10 }, () => [SYNC, SWAP]).flat());
});

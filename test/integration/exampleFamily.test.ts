/** A family that only the registry knows: its logs become pools, swaps and prices, and its pool is listed. */
import { Interface } from 'ethers';

import { tokensTable } from '../../src/clickhouse/schema/tables';
import { insertRows } from '../../src/clickhouse/rows/inserter';
import { RowWriter } from '../../src/clickhouse/rows/rowWriter';
import type { ChainBlock } from '../../src/domain/block';
import type { ChainDescription } from '../../src/domain/chainDescription';
import { ZERO_HASH, type Hex } from '../../src/domain/hex';
import { decodeBlock } from '../../src/ingest/decode/decodeBlock';
import { BlockPricer } from '../../src/ingest/price/blockPricer';
import { TABLE_ENCODERS } from '../../src/ingest/rows/encodeBlocks';
import { createDecodeContext } from '../../src/ingest/session/runIngest';
import { newIngestStatus } from '../../src/ingest/session/status';
import { createLog } from '../../src/log';
import { PROTOCOLS } from '../../src/protocols/registry';
import { ALL_ACTIVITY, listNewestEvents } from '../../src/query/activity/activity';
import { createPairTables } from '../../src/query/pairs/pairTable';
import { createTokenPrices } from '../../src/query/prices/tokenPrices';
import { openTestStore, type TestStore } from '../support/engine/testStore';
import { exampleSwap } from '../support/exampleSwap';
import { finalHead } from '../support/worlds/finalHead';

const ABI = new Interface([
  'event PoolAdded(address indexed token0, address indexed token1, address pool, uint24 feePips)',
  'event Traded(address indexed sender, int256 amount0, int256 amount1)',
  'event Provided(address indexed owner, uint256 amount0, uint256 amount1)',
]);
const address = (digit: string): Hex => `0x${digit.repeat(40)}`;
const [POOL, TOKEN, USD, USER, FACTORY] = ['1', '2', '3', '4', '5'].map(address) as [Hex, Hex, Hex, Hex, Hex];
const WHOLE = 10n ** 18n;
const CHAIN: ChainDescription = {
  ...{ chainId: 369, name: 'Example', nativeSymbol: 'EX', wrappedNative: null, majors: [], burn: null },
  ...{ confirmations: 20, startBlock: null, rpcUrls: [] },
  anchors: [{ address: USD, symbol: 'USD', priceUsd: 1 }],
  dexes: [{ name: 'example', displayName: 'Example', protocol: 'example_swap', factory: FACTORY }],
};
/** The pool sells 100 of its 10,000 tokens. Its 20,000 USD become 20,203. */
const EVENTS: readonly (readonly [Hex, string, readonly unknown[]])[] = [
  [FACTORY, 'PoolAdded', [TOKEN, USD, POOL, 500]],
  [POOL, 'Provided', [USER, 10_000n * WHOLE, 20_000n * WHOLE]],
  [POOL, 'Traded', [USER, -100n * WHOLE, 203n * WHOLE]],
];
const BLOCK: ChainBlock = {
  ...{ number: 100, hash: ZERO_HASH, parentHash: ZERO_HASH, timestamp: 1_699_999_990, baseFeePerGas: null },
  ...{ transactionCount: 1, transactions: [] },
  logs: EVENTS.map(([emitter, name, values], logIndex) => {
    const { topics, data } = ABI.encodeEventLog(name, values);
    const place = { transactionHash: ZERO_HASH, transactionIndex: 0, logIndex };
    return { address: emitter, topics: topics as Hex[], data: data as Hex, ...place };
  }),
};

let store: TestStore;

beforeAll(async () => {
  PROTOCOLS.set(exampleSwap.name, exampleSwap);
  const decode = createDecodeContext({
    chain: CHAIN,
    status: newIngestStatus(),
    log: createLog('silent', false),
  });
  const facts = decodeBlock(decode, BLOCK, [], false);
  const rows = new BlockPricer(CHAIN, () => 18).price(facts, false);
  store = await openTestStore(async ({ db }) => {
    for (const encoder of TABLE_ENCODERS) {
      const writer = new RowWriter();
      encoder.write(writer, rows, null);
      if (rows[encoder.name].length > 0) await db.insert(encoder.name, encoder.columns, writer.view());
    }
    const token = (symbol: string, of: Hex) => ({
      address: of,
      symbol,
      name: symbol,
      decimals: 18,
      version: 1,
    });
    await insertRows(db, tokensTable, [token('TOY', TOKEN), token('USD', USD)]);
  });
});

afterAll(async () => {
  PROTOCOLS.delete(exampleSwap.name);
  await store?.close();
});

test('the pool of a new family is listed with its price, fee and TVL', async () => {
  const head = finalHead(BLOCK.number);
  const prices = createTokenPrices(store.runner, CHAIN.chainId, CHAIN);
  const { entries } = await createPairTables(store.runner, CHAIN.chainId, prices, CHAIN.dexes).at(head);
  expect(entries.map(({ item }) => item)).toMatchObject([
    { address: POOL, dex_name: 'example', pool_type: 2, fee_bps: 5, liquidity_usd: 2 * 20_203 },
  ]);
  expect(Number(entries[0]?.item.price)).toBeCloseTo(20_203 / 9_900, 12);
});

test('a swap of a new family is an event of /activity with its price', async () => {
  const [swap] = await listNewestEvents(store.runner, finalHead(BLOCK.number), ALL_ACTIVITY, {
    beforeOrd: null,
    skip: 0,
    limit: 1,
  });
  expect(swap?.item).toMatchObject({ event_type: 'swap', side: 'buy', amount_usd: 203, sender: USER });
});

/**
 * A token whose symbol(), name() and decimals() revert, or answer 0 and nothing, until some blocks after its first trade.
 * Its prices begin once the metadata is known, and are in whole tokens from the first one on.
 */
import { RpcError } from '../../../src/node/rpc/rpcError';
import type { Database } from '../../../src/clickhouse/client/database';
import type { Hex } from '../../../src/domain/hex';
import type { EthCalls } from '../../../src/node/calls/askContracts';
import { SimChain } from '../../simulation/chain/simChain';
import { headerOf } from '../../simulation/chain/simNode';
import { simDecimals } from '../../simulation/chain/simTokens';
import { calmCalls } from '../../simulation/compare/straightRun';
import { openCalmSession } from '../../simulation/harness';
import { askRows } from '../../support/engine/askRows';
import { openTestStore } from '../../support/engine/testStore';

const [BLOCKS, LATE] = [160, 20];
const DECIMALS = '0x313ce567';

const chain = new SimChain(7);
chain.mine(BLOCKS);
const plain = calmCalls(chain, (at) => (at === 'latest' ? chain.head : chain.at(Number(at)))?.hash);

/** The metadata of the token is right only from block LATE on. */
function lateCalls(token: Hex, early: (data: string) => Hex | null): EthCalls {
  return {
    async batchOutcomes(calls, parse, options) {
      const outcomes = await plain.batchOutcomes(calls, parse, options);
      return outcomes.map((outcome, index) => {
        const [call, at] = (calls[index]?.params ?? []) as [{ to: Hex; data: Hex }, { blockHash?: Hex }];
        const number = chain.block(at.blockHash ?? chain.head.hash)?.number ?? 0;
        if (call.to !== token || number >= LATE) return outcome;
        const answer = early(call.data);
        if (answer === null) return { error: new RpcError('revert', 'execution reverted') };
        return { value: parse(answer, index) };
      });
    },
  };
}

interface Swap {
  readonly ord: string;
  readonly usd: number;
}

async function ingest(database: Database, rpc: EthCalls): Promise<void> {
  const options = { depth: 5, rpc, base: chain.at(0)! };
  const session = await openCalmSession(chain, database, { ...options, commitSeed: 1 });
  for (let number = 1; number <= BLOCKS - 20; number += 1)
    await session.advanceTo(headerOf(chain.at(number)!));
  await session.promoted();
  await session.close();
  // A restart in between must change nothing.
  const again = await openCalmSession(chain, database, { ...options, commitSeed: 2 });
  await again.advanceTo(headerOf(chain.head));
  await again.promoted();
  await again.close();
}

/** USD prices of a token after each of its final swaps. */
function listPrices(database: Database, token: Hex): Promise<Swap[]> {
  const address = `unhex('${token.slice(2)}')`;
  return askRows<Swap>(
    database,
    `SELECT toString(ord) AS ord, if((token0 = ${address}) = base_is_token0, price_usd, quote_price_usd) AS usd
     FROM swaps WHERE token0 = ${address} OR token1 = ${address} ORDER BY ord`,
  );
}

async function withDatabase<T>(run: (database: Database) => Promise<T>): Promise<T> {
  const store = await openTestStore();
  try {
    return await run(store.db);
  } finally {
    await store.close();
  }
}

let token: Hex;
let right: ReadonlyMap<string, number>;

beforeAll(() =>
  withDatabase(async (database) => {
    await ingest(database, plain);
    const rows = await askRows<{ token: Hex }>(
      database,
      `SELECT concat('0x', lower(hex(token))) AS token FROM token_prices
       WHERE price_usd > 0 AND hop_confidence < 1 GROUP BY token ORDER BY count() DESC`,
    );
    token = rows.map((row) => row.token).find((address) => simDecimals(address) === 18)!;
    right = new Map((await listPrices(database, token)).map(({ ord, usd }) => [ord, usd]));
  }),
);

test.each<[string, (data: string) => Hex | null]>([
  ['revert', () => null],
  ['answer 0 and nothing', (data) => (data === DECIMALS ? `0x${'0'.repeat(64)}` : '0x')],
])(
  'a token whose calls %s at first has no price until its metadata is known, and then right ones',
  async (_, early) =>
    withDatabase(async (database) => {
      await ingest(database, lateCalls(token, early));
      const prices = await listPrices(database, token);
      expect(prices.map(({ ord }) => ord)).toEqual([...right.keys()]);
      const blockOf = (ord: string): number => Number(BigInt(ord) >> 20n);
      const priced = prices.filter(({ usd }) => usd > 0);
      expect(priced.filter(({ ord }) => blockOf(ord) <= LATE)).toEqual([]);
      expect(priced.length).toBeGreaterThan(5);
      for (const { ord, usd } of priced) {
        const ratio = usd / (right.get(ord) ?? 0);
        expect(ratio).toBeGreaterThan(0.1);
        expect(ratio).toBeLessThan(10);
      }
    }),
);

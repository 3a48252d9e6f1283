import type { ChainBlock } from '../../../../src/domain/block';
import type { Hex } from '../../../../src/domain/hex';
import { EMPTY_STATE } from '../../../../src/domain/pool';
import { PoolDiscovery } from '../../../../src/ingest/pools/discoverPools';
import { PoolRegistry } from '../../../../src/ingest/pools/poolRegistry';
import { createLog } from '../../../../src/log';
import { uniswapV3 } from '../../../../src/protocols/uniswapV3/uniswapV3';
import { answeringCalls, malformedAnswer } from '../../../support/node/vaultSetup';
import { dataOf as words, digest } from '../../../support/plainLogs';

const [POOL, TOKEN0, TOKEN1, FACTORY] = ['pool', 'token0', 'token1', 'factory'].map((name) =>
  digest(name, 20),
);
const [EVENT = '0x'] = uniswapV3.eventTopics;

function blockOf(number: number): ChainBlock {
  const log = { address: POOL!, topics: [EVENT], data: '0x' as const };
  return {
    number,
    hash: digest(`block ${number}`, 32),
    parentHash: digest(`block ${number - 1}`, 32),
    timestamp: 1_700_000_000 + number,
    baseFeePerGas: null,
    transactionCount: 1,
    transactions: [],
    logs: [{ ...log, transactionHash: digest(`tx ${number}`, 32), transactionIndex: 0, logIndex: 0 }],
  };
}

/** A node with one V3 pool. `odd` is the selector of the call that every endpoint answers malformed. */
function setUp() {
  const state = { odd: '', asked: 0 };
  const answers: Record<string, Hex> = {
    '0x0dfe1681': words(TOKEN0!),
    '0xd21220a7': words(TOKEN1!),
    '0xddca3f43': words(3000n),
    '0xd0c93a7c': words(60n),
    '0x1698ee82': words(POOL!),
    '0x70a08231': words(10n ** 18n),
    '0x3850c7bd': words(2n ** 96n, 0n),
    '0x1a686502': words(10n ** 18n),
  };
  const rpc = answeringCalls(({ data }) => {
    state.asked += 1;
    const selector = data.slice(0, 10);
    return selector === state.odd ? malformedAnswer : (answers[selector] ?? null);
  });
  const dex = { name: 'v3', displayName: 'V3', protocol: 'uniswap_v3', factory: FACTORY! } as const;
  const discovery = new PoolDiscovery({
    rpc,
    dexes: [{ dex, protocol: uniswapV3 }],
    eventTopics: uniswapV3.eventTopics,
    creationTopics: uniswapV3.creationTopics,
    baseIsToken0: () => true,
    log: createLog('silent', false),
  });
  const registry = new PoolRegistry();
  return { state, discover: (number: number) => discovery.discover([blockOf(number)], registry) };
}

const facts = { address: POOL, token0: TOKEN0, token1: TOKEN1, feePips: 3000, tickSpacing: 60 };

describe('a pool older than the first block, behind malformed answers', () => {
  it.each([
    ['token0', '0x0dfe1681'],
    ['token1', '0xd21220a7'],
    ['fee', '0xddca3f43'],
    ['tickSpacing', '0xd0c93a7c'],
    ['getPool', '0x1698ee82'],
  ])(
    'is no pool while every endpoint gives a malformed %s, and is asked about again later',
    async (_, odd) => {
      const { state, discover } = setUp();
      state.odd = odd;
      expect(await discover(100)).toEqual([]);
      const before = state.asked;
      expect(await discover(115)).toEqual([]);
      expect(state.asked).toBe(before);
      expect(await discover(116)).toEqual([]);
      expect(state.asked).toBeGreaterThan(before);
      state.odd = '';
      expect(await discover(147)).toEqual([]);
      expect(await discover(148)).toMatchObject([{ pool: facts, state: { liquidity: 10n ** 18n } }]);
    },
  );

  it.each([
    ['balanceOf', '0x70a08231'],
    ['slot0', '0x3850c7bd'],
    ['liquidity', '0x1a686502'],
  ])('gets no state if every endpoint gives a malformed %s', async (_, odd) => {
    const { state, discover } = setUp();
    state.odd = odd;
    expect(await discover(100)).toMatchObject([{ pool: facts, state: EMPTY_STATE }]);
  });
});

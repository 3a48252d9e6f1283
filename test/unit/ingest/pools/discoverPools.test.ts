import { AbiCoder, id, keccak256 } from 'ethers';

import type { ChainBlock } from '../../../../src/domain/block';
import type { ContractCall } from '../../../../src/domain/contractCall';
import { addressOfWord, ZERO_ADDRESS, type Hex } from '../../../../src/domain/hex';
import { EMPTY_STATE } from '../../../../src/domain/pool';
import { PoolDiscovery } from '../../../../src/ingest/pools/discoverPools';
import { PoolRegistry } from '../../../../src/ingest/pools/poolRegistry';
import { createLog } from '../../../../src/log';
import { uniswapV3 } from '../../../../src/protocols/uniswapV3/uniswapV3';
import { uniswapV4 } from '../../../../src/protocols/uniswapV4/uniswapV4';
import { answeringCalls, malformedAnswer } from '../../../support/node/vaultSetup';
import { dataOf as words, digest } from '../../../simulation/chain/simLogs';

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

const POOL_KEY = [ZERO_ADDRESS, TOKEN1!, 3_000, 60, ZERO_ADDRESS] as const;
const encode = (types: string[], values: readonly unknown[]): Hex =>
  AbiCoder.defaultAbiCoder().encode(types, values) as Hex;
const hash = (types: string[], ...values: unknown[]): Hex => keccak256(encode(types, values)) as Hex;
const KEY_TYPES = ['address', 'address', 'uint24', 'int24', 'address'];
const ID = keccak256(encode(KEY_TYPES, POOL_KEY)) as Hex;
const LIQUIDITY = 10n ** 12n;

/** The storage of a PoolManager with one pool at price 1, and one position from tick -60 to 60. */
function makeStorage(): Map<bigint, bigint> {
  const pool = BigInt(hash(['bytes32', 'uint256'], ID, 6));
  const inMap = (type: string, key: number, place: bigint) =>
    BigInt(hash([type, 'uint256'], key, pool + place));
  return new Map([
    [pool, 2n ** 96n],
    [pool + 3n, LIQUIDITY],
    [inMap('int24', -60, 4n), LIQUIDITY + (LIQUIDITY << 128n)],
    [inMap('int24', 60, 4n), LIQUIDITY + (BigInt.asUintN(128, -LIQUIDITY) << 128n)],
    [inMap('int16', -1, 5n), 1n << 255n],
    [inMap('int16', 0, 5n), 1n << 1n],
  ]);
}

/** Discovers pools in a block with one Swap of the id. `described` is the key that the position manager answers. */
function setUpIds(described: { key: Hex }, positionManager: Hex | null = POOL!) {
  const storage = makeStorage();
  const rpc = answeringCalls(({ data }) => {
    if (data.startsWith('0x86b6be7d')) return described.key;
    const [slots] = AbiCoder.defaultAbiCoder().decode(['bytes32[]'], `0x${data.slice(10)}`) as unknown as [
      Hex[],
    ];
    return encode(['uint256[]'], [[...slots].map((slot) => storage.get(BigInt(slot)) ?? 0n)]);
  });
  const dex = { name: 'v4', displayName: 'V4', protocol: 'uniswap_v4', factory: FACTORY! } as const;
  const discovery = new PoolDiscovery({
    rpc,
    dexes: [
      { dex: { ...dex, ...(positionManager === null ? {} : { positionManager }) }, protocol: uniswapV4 },
    ],
    eventTopics: uniswapV4.eventTopics,
    creationTopics: uniswapV4.creationTopics,
    baseIsToken0: () => true,
    log: createLog('silent', false),
  });
  const [topic = '0x'] = uniswapV4.eventTopics;
  return (number: number) => {
    const block = blockOf(number);
    const logs = block.logs.map((log) => ({ ...log, address: FACTORY!, topics: [topic, ID] }));
    return discovery.discover([{ ...block, logs }], new PoolRegistry());
  };
}

describe('an id of Uniswap V4 whose creation is older than the first block', () => {
  it('becomes a pool by the key of the position manager, with the balances that its ticks hold', async () => {
    const [found] = await setUpIds({ key: encode(KEY_TYPES, POOL_KEY) })(100);
    const pool = { address: addressOfWord(ID), id: ID, token0: ZERO_ADDRESS, token1: TOKEN1, hooks: null };
    expect(found).toMatchObject({ pool: { ...pool, feePips: 3_000, tickSpacing: 60 } });
    // 10^12 · (1 − 1.0001^-30), rounded up.
    const held = BigInt(Math.ceil(1e12 * (1 - 1.0001 ** -30)));
    expect(found!.state).toEqual({
      ...{ sqrtPriceX96: 2n ** 96n, tick: 0, liquidity: LIQUIDITY, reserve0: held, reserve1: held },
    });
  });

  it('is asked about again after a pause if the answer is not its key, and never without a position manager', async () => {
    const described = { key: encode(KEY_TYPES, [ZERO_ADDRESS, TOKEN1, 500, 10, ZERO_ADDRESS]) };
    const discover = setUpIds(described);
    expect(await discover(100)).toEqual([]);
    described.key = encode(KEY_TYPES, POOL_KEY);
    expect(await discover(115)).toEqual([]);
    expect(await discover(116)).toHaveLength(1);
    expect(await setUpIds(described, null)(100)).toEqual([]);
  });

  it('has the ticks that the storage of the manager tells, one word for each question', () => {
    const storage = makeStorage();
    const { tickCall, readTick, bitmapCall, netCall, readNet } = uniswapV4.tickQuestions;
    const pool = { address: addressOfWord(ID), factory: FACTORY!, pool_id: ID };
    const answerOf = ({ to, data }: ContractCall): Hex => {
      expect([to, data.slice(0, 10)]).toEqual([FACTORY, id('extsload(bytes32)').slice(0, 10)]);
      return words(storage.get(BigInt(`0x${data.slice(10)}`)) ?? 0n);
    };
    expect(readTick(answerOf(tickCall(pool)))).toBe(0n);
    expect([-1, 0, 1].map((word) => BigInt(answerOf(bitmapCall(pool, word))))).toEqual([1n << 255n, 2n, 0n]);
    expect([-60, 0, 60].map((tick) => readNet(answerOf(netCall(pool, tick))))).toEqual([
      ...[LIQUIDITY, 0n, -LIQUIDITY],
    ]);
  });
});

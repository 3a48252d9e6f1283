import { RpcError } from '../../../../src/node/rpc/rpcError';
import type { ChainBlock } from '../../../../src/domain/block';
import type { Hex } from '../../../../src/domain/hex';
import { toOrd } from '../../../../src/domain/ord';
import { decodeBlock } from '../../../../src/ingest/decode/decodeBlock';
import { ManyTokenDiscovery } from '../../../../src/ingest/pools/discoverManyTokenPools';
import { PoolRegistry } from '../../../../src/ingest/pools/poolRegistry';
import { createLog } from '../../../../src/log';
import { Random } from '../../../support/random';
import { digest, type Draft } from '../../../simulation/chain/simLogs';
import { followedScales } from '../../../simulation/chain/simStable';
import {
  answerOfPool,
  answerOfVault,
  createVaultPool,
  VAULT,
  vaultEvent,
  type SimVaultPool,
} from '../../../simulation/chain/simVault';
import { answeringCalls, contextOf, malformedAnswer, type Asked } from '../../../support/node/vaultSetup';

const token = (index: number): Hex => digest(`token ${index}`, 20);

/** A block with one transaction. The parent hash derives from the block number, so blocks of one branch
 * link. */
function blockOf(number: number, drafts: readonly Draft[], branch = ''): ChainBlock {
  const hashOf = (at: number): Hex => digest(`block ${at} ${branch}`, 32);
  const transactionHash = digest(`tx ${number} ${branch}`, 32);
  return {
    number,
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    timestamp: 1_700_000_000 + number,
    baseFeePerGas: null,
    transactionCount: 1,
    transactions: [],
    logs: drafts.map((draft, logIndex) => ({ ...draft, transactionHash, transactionIndex: 0, logIndex })),
  };
}

/** A simulated pool of this kind without constant rates, with some events: its state and logs after each event. */
function poolHistory(nature: SimVaultPool['nature'], events: number, tokenCount?: number) {
  for (let seed = 1; ; seed += 1) {
    const random = new Random(seed);
    const { drafts, pool } = createVaultPool(random, digest(`pool ${nature} ${seed}`, 20), token);
    if (followedScales(pool) !== null) continue;
    if (pool.nature !== nature || pool.tokens.length !== (tokenCount ?? pool.tokens.length)) continue;
    const steps = [{ drafts, pool }];
    while (steps.length <= events) {
      const { drafts: next, after } = vaultEvent(random, steps.at(-1)!.pool);
      // Leaves out events that only the pool's own contract emits, such as a change of the fee.
      if (next.every(({ address }) => address === VAULT)) steps.push({ drafts: next, pool: after });
    }
    return steps;
  }
}

/** A node whose block 100 + n has the pool's state after step n. */
function nodeOf(steps: ReturnType<typeof poolHistory>, missing: (asked: Asked) => boolean = () => false) {
  const asked: Asked[] = [];
  const state = { failing: false, isOdd: (_: Asked): boolean => false };
  const rpc = answeringCalls((call) => {
    asked.push(call);
    if (state.failing) return new RpcError('network', 'no answer');
    if (state.isOdd(call)) return malformedAnswer;
    if (missing(call)) return new RpcError('unknown_block', 'missing trie node');
    const number = typeof call.at === 'string' && call.at !== 'latest' ? Number(call.at) : Infinity;
    const { pool } = steps[Math.min(number - 100, steps.length - 1)]!;
    return call.to === VAULT ? answerOfVault(pool, call.data) : answerOfPool(pool, call.data.slice(0, 10));
  });
  const registry = new PoolRegistry();
  const context = contextOf(registry);
  const discovery = new ManyTokenDiscovery({
    rpc,
    dexes: [{ name: 'phux', displayName: 'PHUX', protocol: 'balancer_v2', factory: VAULT }],
    baseIsToken0: context.baseIsToken0,
    quoteRank: () => Infinity,
    log: createLog('silent', false),
  });
  const read = async (block: ChainBlock, reversible = false) => {
    const findings = await discovery.discover([block], registry, reversible);
    return decodeBlock(context, block, findings, reversible);
  };
  return { asked, state, registry, discovery, read };
}

describe('vault discovery finds the pools of a vault', () => {
  it('vault discovery asks the node once for a registered pool and lists the pool with its creation', async () => {
    const steps = poolHistory('plain', 3);
    const { asked, read, registry } = nodeOf(steps);
    const rows = await read(blockOf(100, steps[0]!.drafts));
    const { pool } = steps[0]!;
    expect(rows.pools).toHaveLength(1);
    expect(rows.pools[0]).toMatchObject({
      ord: toOrd(100, 1),
      address: pool.address,
      pool_type: 4,
      factory: VAULT,
      tokens: pool.tokens,
      weights: pool.weights,
      created_block: 100,
      fee_pips: Number((pool.fee * 2n + 10n ** 12n) / (2n * 10n ** 12n)),
    });
    const { hash: blockHash } = blockOf(100, []);
    expect(new Set(asked.map(({ at }) => JSON.stringify(at)))).toEqual(
      new Set([JSON.stringify({ blockHash })]),
    );
    const count = asked.length;
    for (const [index, step] of steps.slice(1).entries()) await read(blockOf(101 + index, step.drafts));
    expect(asked).toHaveLength(count);
    expect(registry.findManyTokenPool(pool.address)?.state.balances).toEqual(steps.at(-1)!.pool.balances);
  });

  it.each([
    ['getNormalizedWeights', '0xf89f27ed'],
    ['getSwapFeePercentage', '0x55c67628'],
    ['getAmplificationParameter', '0x6daccffa'],
    ['getGradualWeightUpdateParams', '0x7beed220'],
    ['getPoolTokens', '0xf94d4668'],
    ['getPoolTokenInfo', '0xb05f8e48'],
  ])(
    'a pool is no pool while every endpoint gives a malformed answer to %s, and is asked about again later',
    async (name, selector) => {
      const steps = poolHistory('plain', 40);
      const { asked, read, registry, state } = nodeOf(steps);
      const { address, weights } = steps[0]!.pool;
      state.isOdd = ({ data }) => data.startsWith(selector);
      const isBooks = name === 'getPoolTokenInfo';
      // The pool is older than the first block, so its tokens and balances are read too.
      await read(blockOf(101, steps[1]!.drafts));
      expect(registry.findManyTokenPool(address)?.state.balances).toEqual(isBooks ? [] : undefined);
      const before = asked.length;
      for (let at = 2; at < 16; at += 1) await read(blockOf(100 + at, steps[at]!.drafts));
      expect(asked).toHaveLength(before);
      state.isOdd = () => false;
      for (let at = 16; at < 18; at += 1) await read(blockOf(100 + at, steps[at]!.drafts));
      expect(registry.findManyTokenPool(address)).toMatchObject({
        pool: { poolType: 4 },
        state: { weights },
      });
      expect(registry.findManyTokenPool(address)?.state.balances).toEqual(steps[17]!.pool.balances);
    },
  );

  it('vault discovery keeps the stored leg of a pool, even if today’s rule would choose another leg', async () => {
    const steps = poolHistory('plain', 6, 3);
    const { read, registry } = nodeOf(steps);
    await read(blockOf(100, steps[0]!.drafts));
    const { address, tokens } = steps[0]!.pool;
    const { pool, state } = registry.findManyTokenPool(address)!;
    const stored = tokens.filter((one) => one !== pool.token0);
    const [token0, token1] = [stored[0]!, stored[1]!];
    registry.setManyTokenPool({ pool: { ...pool, token0, token1 }, state });
    for (const [index, step] of steps.slice(1).entries()) {
      const rows = await read(blockOf(101 + index, step.drafts));
      const balanceOf = (one: Hex): bigint => step.pool.balances[tokens.indexOf(one)]!;
      for (const row of rows.pool_states)
        expect(row).toMatchObject({
          token0,
          token1,
          reserve0: balanceOf(token0),
          reserve1: balanceOf(token1),
        });
    }
  });

  it('vault discovery asks the node by the hash of the block while the block is not final', async () => {
    const steps = poolHistory('plain', 0);
    const { asked, read } = nodeOf(steps);
    const block = blockOf(100, steps[0]!.drafts);
    await read(block, true);
    expect(asked.every(({ at }) => typeof at === 'object' && at.blockHash === block.hash)).toBe(true);
  });

  it('vault discovery forgets a pool that a reorg removes, and finds the pool again on another branch', async () => {
    const steps = poolHistory('plain', 1);
    const { read, registry } = nodeOf(steps);
    const { address } = steps[0]!.pool;
    await read(blockOf(100, steps[0]!.drafts), true);
    await read(blockOf(101, steps[1]!.drafts), true);
    registry.rewindTo(100);
    expect(registry.findManyTokenPool(address)?.state.balances).toEqual(steps[0]!.pool.balances);
    registry.rewindTo(99);
    expect(registry.findManyTokenPool(address)).toBeUndefined();
    const again = await read(blockOf(100, steps[0]!.drafts, 'other'), true);
    expect(again.pools).toHaveLength(1);
  });

  it('vault discovery does not list a contract that is neither a weighted nor a stable pool, and asks about it once', async () => {
    const steps = poolHistory('other', 3);
    const { asked, read, registry } = nodeOf(steps);
    const rows = await read(blockOf(101, steps[1]!.drafts));
    expect(rows.pools).toEqual([]);
    expect(rows.pool_states).toEqual([]);
    const count = asked.length;
    await read(blockOf(102, steps[2]!.drafts));
    expect(asked).toHaveLength(count);
    expect(registry.size).toBe(0);
  });

  it.each([
    ['stable', 5],
    ['moving', 4],
  ] as const)(
    'vault discovery lists a %s pool as type %i without weights and without prices',
    async (nature, type) => {
      const steps = poolHistory(nature, 12);
      const { read } = nodeOf(steps);
      const all = await Promise.all([read(blockOf(100, steps[0]!.drafts))]);
      for (const [index, step] of steps.slice(1).entries())
        all.push(await read(blockOf(101 + index, step.drafts)));
      expect(all[0]!.pools[0]).toMatchObject({ pool_type: type, weights: [] });
      const prices = all.flatMap((rows) => [...rows.swaps, ...rows.pool_states]).map(({ price }) => price);
      expect(prices.length).toBeGreaterThan(12);
      expect(new Set(prices)).toEqual(new Set([0]));
    },
  );

  it('vault discovery fails while the node fails, and finds the pool when the node answers again', async () => {
    const steps = poolHistory('plain', 1);
    const { state, read, registry } = nodeOf(steps);
    state.failing = true;
    await expect(read(blockOf(100, steps[0]!.drafts))).rejects.toThrow('no answer');
    await expect(read(blockOf(101, steps[1]!.drafts))).rejects.toThrow('no answer');
    expect(registry.size).toBe(0);
    state.failing = false;
    expect((await read(blockOf(100, steps[0]!.drafts))).pools).toHaveLength(1);
  });

  it('vault discovery reads the balances at the block before the first event, for a pool older than the history', async () => {
    const steps = poolHistory('plain', 6);
    const { asked, read, registry } = nodeOf(steps);
    const rows = await read(blockOf(104, steps[4]!.drafts));
    expect(rows.pools).toMatchObject([{ ord: toOrd(104, 0), created_block: null, created_tx: null }]);
    // The tokens, the fee, and the cash of each token.
    const { length: tokenCount } = steps[4]!.pool.tokens;
    expect(asked.filter(({ at }) => at === '0x67').length).toBe(2 + tokenCount);
    expect(registry.findManyTokenPool(steps[4]!.pool.address)?.state.balances).toEqual(
      steps[4]!.pool.balances,
    );
  });

  it('vault discovery lists a pool without balances if the node has pruned its state, and adds the balances later', async () => {
    const steps = poolHistory('plain', 8);
    const { read, registry } = nodeOf(steps, ({ at }) => at !== 'latest' && Number(at) < 105);
    const { address } = steps[0]!.pool;
    const early = await read(blockOf(103, steps[3]!.drafts));
    expect(early.pools).toHaveLength(1);
    expect(early.pools[0]!.weights).toEqual(steps[0]!.pool.weights);
    expect(early.pool_states).toMatchObject([{ balances: [], price: 0, reserve0: 0n }]);
    await read(blockOf(104, steps[4]!.drafts));
    expect(registry.findManyTokenPool(address)?.state).toMatchObject({ balances: [], swapFee: 0n });
    await read(blockOf(105, steps[5]!.drafts));
    const late = await read(blockOf(106, steps[6]!.drafts));
    expect(late.pools).toEqual([]);
    const { balances, fee } = steps[6]!.pool;
    expect(registry.findManyTokenPool(address)?.state).toMatchObject({ balances, swapFee: fee });
    expect(late.pool_states[0]!.balances).toEqual(balances);
  });

  it('vault discovery sends no request for a block without vault events, or for a chain without a vault', async () => {
    const steps = poolHistory('plain', 1);
    const { asked, discovery, registry } = nodeOf(steps);
    const foreign = steps[1]!.drafts.map((draft) => ({ ...draft, address: token(1) }));
    expect(await discovery.discover([blockOf(100, foreign)], registry, false)).toEqual([]);
    const none = new ManyTokenDiscovery({
      rpc: answeringCalls(() => new RpcError('network', 'asked')),
      dexes: [],
      baseIsToken0: () => true,
      quoteRank: () => Infinity,
      log: createLog('silent', false),
    });
    expect(await none.discover([blockOf(100, steps[0]!.drafts)], registry, false)).toEqual([]);
    expect(asked).toEqual([]);
  });
});

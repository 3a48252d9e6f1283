/** Prices of wrappers by the buffers of a Balancer V3 vault, and attacks with wrappers of one's own. */
import type { Hex } from '../../../src/domain/hex';
import { decodeBlock } from '../../../src/ingest/decode/decodeBlock';
import { ManyTokenDiscovery } from '../../../src/ingest/pools/discoverManyTokenPools';
import { PoolRegistry } from '../../../src/ingest/pools/poolRegistry';
import { BlockPricer } from '../../../src/ingest/price/blockPricer';
import type { BlockRows } from '../../../src/ingest/rows/blockRows';
import { createLog } from '../../../src/log';
import { balancerV3 } from '../../../src/protocols/balancerV3/balancerV3';
import { BUFFER_TOPIC, bufferOf } from '../../support/oracle/oracleBuffers';
import { dataOf, topicOf, type Draft } from '../../support/plainLogs';
import { answeringCalls, contextOf } from '../../support/node/vaultSetup';
import { ANCHORS, DAI, NATIVE, token } from '../../support/worlds/pools';
import { blockOf, VAULT } from '../../simulation/chain/vaultWorld';

const WRAPPER = token(77);
const E18 = 10n ** 18n;
const whole = (amount: number): bigint => BigInt(Math.round(amount * 1e6)) * 10n ** 12n;
/** Blocks after which a buffer with exchanges of two makers can be trusted. */
const MATURE = 140;

/** A vault whose only buffer exchanges DAI and a wrapper at a rate of the wrapper's choice. */
class BufferWorld {
  private readonly registry = new PoolRegistry();
  private readonly context = {
    ...contextOf(this.registry),
    manyTokens: { topics: balancerV3.factoryTopics, protocols: [balancerV3] },
  };
  private readonly pricer = new BlockPricer({ anchors: ANCHORS, wrappedNative: NATIVE }, () => 18);
  private readonly discovery = new ManyTokenDiscovery({
    rpc: answeringCalls(({ data }) =>
      data.endsWith(WRAPPER.slice(2)) ? (`0x${DAI.slice(2).padStart(64, '0')}` as Hex) : null,
    ),
    dexes: [{ name: 'balancer', displayName: 'Balancer', protocol: 'balancer_v3', factory: VAULT }],
    baseIsToken0: this.context.baseIsToken0,
    quoteRank: () => Infinity,
    log: createLog('silent', false),
  });
  private number = 0;
  price = { usd: 0, confidence: 0, cap: 0 };

  private async mine(logs: readonly Draft[] = []): Promise<BlockRows> {
    this.number += 1;
    const block = blockOf(this.number, [logs]);
    const findings = await this.discovery.discover([block], this.registry, true);
    const rows = this.pricer.price(decodeBlock(this.context, block, findings, true), true);
    for (const row of rows.token_prices)
      if (row.token === WRAPPER)
        this.price = { usd: row.price_usd, confidence: row.confidence, cap: row.hop_cap };
    return rows;
  }

  async wait(blocks: number): Promise<void> {
    for (let i = 0; i < blocks; i += 1) await this.mine();
  }

  private log(kind: keyof typeof BUFFER_TOPIC, amounts: readonly bigint[], after: readonly bigint[]): Draft {
    const topics = [BUFFER_TOPIC[kind] as Hex, topicOf(WRAPPER)];
    return { address: VAULT, topics, data: dataOf(...amounts, (after[1]! << 128n) | after[0]!) };
  }

  /** Puts in this many DAI and wrappers. */
  open(dai: number, rate: number, wrappers = dai / rate): Promise<BlockRows> {
    const amounts = [whole(dai), whole(wrappers)];
    return this.mine([this.log('added', amounts, amounts)]);
  }

  /** One exchange at each of these rates, in one block, which leave the buffer with this many DAI. The sender is the next one. */
  exchange(dai: number, ...rates: readonly number[]): Promise<BlockRows> {
    return this.mine(rates.map((rate) => this.wrap(rate, [whole(dai), whole(dai / rate)])));
  }

  private wrap(rate: number, after: readonly bigint[]): Draft {
    const amount = 10n * E18;
    return this.log('wrap', [amount, (amount * E18) / whole(rate)], after);
  }

  /** A buffer that may set a trusted price. */
  async grow(dai: number, rate: number, wrappers = dai / rate): Promise<void> {
    await this.open(dai, rate, wrappers);
    for (let i = 0; i < 2; i += 1) await this.mine([this.wrap(rate, [whole(dai), whole(wrappers)])]);
    await this.wait(MATURE);
  }
}

test('a wrapper has the price of its asset times the rate, by a buffer that makes no swaps', async () => {
  const world = new BufferWorld();
  await world.open(40_000, 1.25);
  const rows = await world.exchange(40_000, 1.25);
  expect([rows.swaps, rows.pool_states.map(({ pair, kind }) => [pair, kind])]).toEqual([
    [],
    [[bufferOf(WRAPPER), 'collect']],
  ]);
  await world.exchange(40_000, 1.25);
  await world.wait(MATURE);
  expect(world.price.usd).toBeCloseTo(1.25, 12);
  expect(world.price.confidence).toBeCloseTo(0.8, 2);
});

test('interest shows at once', async () => {
  const world = new BufferWorld();
  await world.grow(40_000, 1.25);
  await world.exchange(40_000, 1.250_01);
  expect(world.price.usd).toBeCloseTo(1.250_01, 12);
});

test('an invented rate is trusted only as far as the buffer holds the asset', async () => {
  for (const [dai, isTrusted] of [
    [9_000, false],
    [12_000, true],
  ] as const) {
    const world = new BufferWorld();
    await world.grow(dai, 1_000);
    expect([dai, world.price.confidence >= 0.5]).toEqual([dai, isTrusted]);
    // A cap is rounded down by up to 4.3 %, and 0 means none.
    expect(world.price.cap / dai).toBeGreaterThan(0.95);
    expect(world.price.cap).toBeLessThanOrEqual(dai);
  }
});

test('wrappers that cost their maker nothing back no price', async () => {
  const world = new BufferWorld();
  await world.grow(100, 1_000, 1e6);
  expect(world.price.confidence).toBeLessThan(0.1);
  expect(world.price.cap).toBeGreaterThan(95);
  expect(world.price.cap).toBeLessThanOrEqual(100);
});

test('a buffer without wrappers, or without the asset, backs no price', async () => {
  const world = new BufferWorld();
  await world.grow(40_000, 1.25);
  await world.exchange(0, 1.25);
  expect(world.price.confidence).toBeLessThan(0.5);
});

test('a rate that jumps moves the price only as fast as the 30-minute mean', async () => {
  const world = new BufferWorld();
  await world.grow(40_000, 1.25);
  await world.exchange(40_000, 1.45);
  expect(world.price.usd).toBeLessThan(1.26);
  await world.wait(20);
  expect(world.price.usd).toBeLessThan(1.3);
});

test('a donation to all holders is held from 0.01 % on, even if exchanges share the rise', async () => {
  const world = new BufferWorld();
  await world.grow(40_000, 1.25);
  await world.exchange(40_000, 1.25 * 1.000_2);
  expect(world.price.usd).toBeCloseTo(1.25, 5);
  const stepped = new BufferWorld();
  await stepped.grow(40_000, 1.25);
  // Each step is less than 0.01 %. In 300 seconds, the mean follows 15 % of a rise at once, and less of a slow one.
  for (let i = 1; i <= 30; i += 1) await stepped.exchange(40_000, 1.25 * 1.000_09 ** i);
  expect(Math.log(stepped.price.usd / 1.25) / (30 * 9e-5)).toBeLessThan(0.2);
});

test('a rate that moves within a block counts by the block as a whole', async () => {
  const world = new BufferWorld();
  await world.grow(40_000, 1.25);
  await world.exchange(40_000, 2.5, 1.25);
  await world.wait(32);
  expect(world.price.usd).toBeCloseTo(1.25, 12);
  await world.exchange(40_000, 1.25, 1.3, 1.45);
  expect(world.price.usd).toBeLessThan(1.26);
});

test('a jump by more than a fifth waits for the mean, because exchanges confirm no price', async () => {
  const world = new BufferWorld();
  await world.grow(40_000, 1.25);
  const traded: number[] = [];
  for (let i = 0; i < 60; i += 1) {
    const { pool_epochs: epochs } = await world.exchange(40_000, 2.5);
    traded.push(...epochs.map((epoch) => epoch.traded));
  }
  expect(world.price.usd).toBeLessThan(1.7);
  // The sums that could confirm a move.
  expect(traded).toEqual([0, 0]);
});

test('a new buffer sets no trusted price, and neither does one with a single maker', async () => {
  const world = new BufferWorld();
  await world.open(40_000, 1.25);
  await world.exchange(40_000, 1.25);
  await world.exchange(40_000, 1.25);
  await world.wait(120);
  expect([world.price.usd, world.price.confidence <= 0.4]).toEqual([expect.closeTo(1.25, 12), true]);
  const lonely = new BufferWorld();
  await lonely.open(40_000, 1.25);
  await lonely.exchange(40_000, 1.25);
  await lonely.wait(2 * MATURE);
  expect(lonely.price.confidence).toBeLessThanOrEqual(0.4);
});
